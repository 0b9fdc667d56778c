"""Every result becomes one page that fetches nothing, says its statement first, and cannot be broken by names."""

import html as entities
import os
import re
import stat

import networkx as nx
import pytest

import tacit
from tacit.report import html, page_of

MEGABYTE = 1e6
KINDS = (
    "answer", "answer of processes", "answer by sums", "answer without masks", "certificate", "certificate of a cut",
    "certificate of sums", "design", "augmentation", "audit", "dispatch", "dispatch with a full line", "day", "model",
    "member", "comparison", "race", "summary",
)  # fmt: skip


def without_plotly(text):
    from plotly.offline import get_plotlyjs

    return text.replace(get_plotlyjs(), "")


def test_every_kind_is_looked_at(results):
    assert sorted(results) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_one_file_that_fetches_nothing(kind, results, tmp_path):
    result, context = results[kind]
    path = result.report(tmp_path / "r.html", **context)
    text = path.read_text("utf-8")
    assert len(text.encode()) <= 6 * MEGABYTE
    own = without_plotly(text)
    assert not re.search(r"""(src|href)\s*=(?!["']data:)""", own), "an address in the page"
    assert not re.search(r"https?://|@import|url\(", own)
    assert "default-src 'none'" in own, "nothing may be fetched, whatever is in the page"
    page = page_of(result, **context)
    shown = entities.unescape(own)
    for sentence in page.statement:
        assert sentence in shown
    assert own.index("statement") < own.index("<h2>")
    if any(section.figures for section in page.sections):
        assert text.count("plotly.js v") == 1, "plotly is in it once"
    for figure in (figure for section in page.sections for figure in section.figures):
        assert figure.layout.title.text, "a picture has a sentence as title"
        assert figure.layout.meta["says"], "and says the same to whoever cannot see it"


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_every_result(kind, results):
    result, context = results[kind]
    shown = entities.unescape(result._repr_html_())
    page = page_of(result, **context)
    assert page.verdict in shown
    assert all(sentence in shown for sentence in page.statement)
    assert "<script" not in shown


def test_what_the_page_calls_private_is_what_the_result_calls_private(results):
    for kind in ("certificate", "certificate of a cut", "certificate of sums"):
        result, context = results[kind]
        assert page_of(result, **context).good == result.is_private
        assert ("NOT PRIVATE" in page_of(result, **context).verdict) == (not result.is_private)
    assert not page_of(results["answer without masks"][0]).good
    assert "NOT PRIVATE" in page_of(results["answer without masks"][0]).verdict


HOSTILE = "</script><img src=x onerror=alert(1)>"


def test_names_are_text_wherever_they_stand(tmp_path):
    graph = nx.relabel_nodes(nx.complete_graph(4), {0: HOSTILE})
    certificate = tacit.certify(graph, {1}, sigma=1.0)
    own = without_plotly(certificate.report(tmp_path / "r.html", network=graph).read_text("utf-8"))
    assert HOSTILE not in own
    assert "<img" not in own
    assert "<img" not in certificate._repr_html_()


def test_nothing_is_overwritten(answer, tmp_path):
    path = tmp_path / "r.html"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(tacit.TacitError, match="already there"):
        answer.report(path)
    assert path.read_text("utf-8") == "mine"
    with pytest.raises(tacit.TacitError, match="cannot be written"):
        answer.report(tmp_path / "nowhere" / "r.html")


def test_a_page_with_a_simulations_truth_says_so_and_is_its_owners_alone(results, tmp_path):
    before = os.umask(0)
    try:
        paths = {kind: results[kind][0].report(tmp_path / f"{kind}.html") for kind in ("audit", "day", "answer")}
    finally:
        os.umask(before)
    assert stat.S_IMODE(paths["audit"].stat().st_mode) == stat.S_IMODE(paths["day"].stat().st_mode) == 0o600
    assert "For whoever simulates" in paths["audit"].read_text("utf-8")
    assert "For whoever simulates" not in paths["answer"].read_text("utf-8")


def test_without_the_extra_a_report_is_refused_in_one_sentence(answer, monkeypatch, tmp_path):
    from tacit import showing

    def missing():
        raise ModuleNotFoundError("No module named 'plotly'", name="plotly")

    monkeypatch.setattr(showing, "_registered", [missing])
    with pytest.raises(tacit.TacitError, match=r"reports need plotly: pip install 'tacit\[report\]'\."):
        answer.report(tmp_path / "r.html")
    assert answer._repr_html_() is None
    assert not list(tmp_path.iterdir())


def test_scripts_cannot_be_ended_from_inside():
    assert "<" not in html._script({"a": "</script>"})
