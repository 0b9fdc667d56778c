"""Planted secrets: nothing private reaches records, messages, warnings, representations or output."""

import dataclasses
import logging
import re

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import AffineMasks, agent_keys
from tacit.report import page_of
from tacit.solving.solve import NotPrivateWarning
from tacit.solving.telling.count import Telling

SECRET = 48611.73152


def planted(n=6):
    """Return a problem with a recognisable number in every private place."""
    rng = np.random.default_rng(0)
    costs = [tacit.LeastSquares(rng.standard_normal((4, 2)), rng.standard_normal(4), l2=0.1) for _ in range(n - 1)]
    costs.append(tacit.Quadratic(np.eye(2), [SECRET, -SECRET]))
    return tacit.Problem(nx.circulant_graph(n, [1, 2]), costs)


def assert_clean(text):
    """Look for the secret's first seven digits, and its double's, wherever the decimal point stands.

    Fewer digits would turn up by chance among the many of a record. How long a run took is left out: its digits are
    another every time, and one in a million would be the secret's.
    """
    digits = re.sub(r'"seconds": ?[\d.e+-]+|seconds=[\d.e+-]+', "", text).replace(".", "")
    for form in ("4861173", "9722346"):
        assert form not in digits, f"a private number is in: {text[:300]}"


@pytest.mark.parametrize("runtime", ["stacked", "agents"])  # peers take no seed, and JAX is an extra
def test_records_and_answers_hold_no_secret(runtime, caplog, capsys):
    problem = planted()
    with caplog.at_level(logging.DEBUG):
        answer = tacit.solve(problem, privacy=AffineMasks(1e3, seed=5), runtime=runtime)
    assert answer.converged
    shown = [answer.record.to_json(), repr(answer), repr(answer.record), repr(answer.certificate({0}))]
    shown += [repr(problem), repr(problem.stack), *map(repr, problem.costs), caplog.text, *capsys.readouterr()]
    for text in shown:
        assert_clean(text.replace(f"{answer.x[0]}", "x").replace(f"{answer.x[1]}", "x"))


def test_a_record_has_no_place_for_a_secret():
    """Every number that depends on costs is the answer itself, or a size relative to it."""
    answer = tacit.solve(planted(), privacy=AffineMasks(1e3))
    names = set(re.findall(r'"(\w+)":', answer.record.to_json()))
    assert names == {
        "tacit", "agents", "links", "families", "unknowns", "runtime", "private", "stamps", "phase1", "mechanism", "sigma",
        "bound", "step", "words", "sum_error", "pairing", "sums", "link_scales", "hides", "hide", "coverage", "kind", "parts", "hidden", "open", "phase2", "algorithm", "settings", "step_size", "warmup",
        "weights", "reason", "exact", "rounds", "exchanges", "messages", "bytes", "status", "sentence", "converged",
        "x", "names", "disagreement", "error", "history", "seconds", "warnings", "doubt", "tells",
        "answer", "noise", "errors",  # what is promised of the answer, and deviations that follow from noisy sums
        "left_out",  # a total, from a secret sum
        *(field.name for field in msgspec.structs.fields(Telling)),  # counts, from shapes alone
    }  # fmt: skip


def test_errors_do_not_show_private_numbers():
    attempts = [
        lambda: tacit.solve(planted(), privacy=AffineMasks(1e3, bound=10.0)),
        lambda: tacit.Quadratic(np.eye(3), [SECRET, 1.0]),
        lambda: tacit.Quadratic([[1.0, SECRET], [0.0, 1.0]], [1.0, 1.0]),
        lambda: tacit.LeastSquares([[SECRET, np.nan]], [1.0]),
        lambda: tacit.Logistic([[1.0]], [SECRET]),
        lambda: tacit.Poisson([[1.0]], [-SECRET]),
        lambda: tacit.LeastSquares([[str(SECRET), "x"]], [1.0]),
        lambda: tacit.AbsoluteValue([SECRET, np.inf]),
        lambda: tacit.Problem(nx.path_graph(2), [tacit.Affine([SECRET]), tacit.Affine([SECRET])]),
    ]
    for attempt in attempts:
        with pytest.raises(tacit.TacitError) as caught:
            attempt()
        assert_clean(str(caught.value))
        assert_clean(repr(caught.value))


def test_a_seeded_run_is_stamped_not_private_everywhere():
    with pytest.warns(NotPrivateWarning, match="NOT PRIVATE"):
        answer = tacit.solve(planted(), privacy=AffineMasks(1e3, seed=1))
    assert not answer.record.private
    assert [stamp.reason for stamp in answer.record.stamps] == ["seed"]
    assert "NOT PRIVATE" in repr(answer)


def test_an_unmasked_run_is_not_called_private():
    answer = tacit.solve(planted())
    assert not answer.record.private
    with pytest.raises(tacit.TacitError, match="no masks"):
        answer.certificate({0})


@pytest.mark.fresh
def test_masks_differ_from_run_to_run():
    """Without a seed nothing can be reproduced: two runs share no key, but once in 2²⁴⁰."""
    first, second = agent_keys(50), agent_keys(50)
    assert not set(first) & set(second)


def test_settings_of_masks_hold_no_randomness():
    """What a user writes down (and a manifest will hash) is σ, the bound and the seed: no mask, no key."""
    assert {f.name for f in dataclasses.fields(AffineMasks)} == {
        "sigma",
        "bound",
        "seed",
        "link_scales",
        "pairing",
        "answer",
    }


def test_two_agents_are_warned_that_nothing_is_hidden():
    pair = tacit.Problem(nx.path_graph(2), [tacit.Quadratic.distance([1.0]), tacit.Quadratic.distance([3.0])])
    with pytest.warns(NotPrivateWarning, match="each learns the other"):
        tacit.solve(pair, privacy=AffineMasks(10.0))


def test_the_search_for_secrets_finds_one():
    """A search that cannot fail proves nothing."""
    for planted_text in (f"q = {SECRET}", f"{SECRET:.7e}", f"{2 * SECRET!r}"):
        with pytest.raises(AssertionError, match="private number"):
            assert_clean(planted_text)


def test_reports_hold_no_secret(tmp_path):
    """The public ones: of runs, their certificates, and a notebook's cells."""
    answer = tacit.solve(planted(), privacy=AffineMasks(1e3, seed=5))
    answer = tacit.Answer(msgspec.structs.replace(answer.record, seconds=1.0, x=[1.0, 1.0]), answer.network)
    for result in (answer, answer.certificate(any=1), answer.certificate({0})):
        assert_clean(result._repr_html_())
        page = page_of(result)
        for figure in (figure for section in page.sections for figure in section.figures):
            assert_clean(figure.to_json())
        assert_clean(repr(page.statement) + repr([section.tables for section in page.sections]))
