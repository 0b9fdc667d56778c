"""The site holds every page, its links move along, and its own checks notice what they are for.

`make docs` builds it; here is what can be seen without Sphinx.
"""

import importlib
import re
import sys
import tomllib
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
MODULES = ("api", "check", "docstrings", "gather", "sections")


@pytest.fixture
def site(monkeypatch):
    """Return the site's modules by name; they import each other as scripts in one folder do."""
    monkeypatch.syspath_prepend(str(SITE))
    loaded = {name: importlib.import_module(name) for name in MODULES}
    yield loaded
    for name in MODULES:
        sys.modules.pop(name, None)


def test_every_page_stands_in_one_section(site):
    listed = [page for section in site["sections"].SECTIONS for page, _ in section.pages]
    placed = set(site["gather"].pages().values()) - {"index.md"}
    assert len(listed) == len(set(listed))
    assert {page for page in listed if not page.startswith("api/")} == {re.sub(r"\.\w+$", "", p) for p in placed}


def test_every_section_is_on_the_first_page(site):
    shown = re.search(r"\{toctree\}\n:hidden:\n\n(.*?)\n:::", (SITE / "index.md").read_text(), flags=re.DOTALL)[1]
    assert shown.split() == [section.name for section in site["sections"].SECTIONS]


def test_links_move_along_with_their_page(site, tmp_path):
    text = "[a](../README.md) [b](../CONTRIBUTING.md#tests) [c](../deploy/compose.yaml) [d](https://x.org)\n```sh\n](../a)\n```\n"
    moved = site["gather"].moved(text, ROOT / "docs" / "x.md", "x.md", site["gather"].pages(), tmp_path)
    assert moved == (
        "[a](index.md) [b](contributing.md#tests) [c](files/deploy/compose.yaml) [d](https://x.org)\n```sh\n](../a)\n```\n"
    )
    assert (tmp_path / "files" / "deploy" / "compose.yaml").exists()


def test_a_dead_link_a_missing_heading_and_a_fetch_from_outside_are_noticed(site, tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html"></a><a href="#top"></a><a href="#bottom"></a>'
    )
    (tmp_path / "c.html").write_text('<script src="https://x.org/y.js"></script><a href="https://x.org">fine</a>')
    (tmp_path / "d.css").write_text("@font-face { src: url(//x.org/font.woff2) }")
    assert list(site["check"].faults(tmp_path)) == [
        "a.html links to b.html, which is not there",
        "a.html links to #bottom, and there is no such heading",
        "c.html fetches https://x.org/y.js from outside",
        "d.css fetches //x.org/font.woff2 from outside",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["Return |x|."], ["Return \\|x\\|."]),
        (["`a|b` of *this*"], ["`a|b` of *this*"]),
        (["f", "", "    x = y", "    z = x"], ["f", "", "::", "", "    x = y", "    z = x"]),
        ([">>> 1 | 2", "3"], [">>> 1 | 2", "3"]),
    ],
)
def test_formulas_in_docstrings_stay_as_they_are(site, written, meant):
    assert site["docstrings"].restructured(written) == meant


def test_every_public_package_is_in_the_reference(site):
    packages = {f"tacit.{path.parent.name}" for path in (ROOT / "src" / "tacit").glob("*/__init__.py")}
    assert packages - set(site["api"].PACKAGES) == site["api"].FOR_READERS_OF_THE_CODE


@pytest.mark.parametrize("project", ["python", "numpy", "scipy", "networkx", "sklearn"])
def test_the_inventories_can_be_read_without_a_network(project):
    head, _, rows = (SITE / "inventories" / f"{project}.inv").read_bytes().partition(b"zlib\n")
    assert head.startswith(b"# Sphinx inventory version 2\n")
    assert all(
        re.fullmatch(r"[\w.]+ py:(?:class|function) 1 \S+ -", row)
        for row in zlib.decompress(rows).decode().splitlines()
    )


def test_whoever_develops_can_build_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {re.split(r"[>\[]", line)[0] for line in extras["docs"]} >= {"sphinx", "pydata-sphinx-theme", "myst-nb"}
    assert "step make docs\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
