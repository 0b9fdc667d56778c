"""The audit goes red for every planted bug, and stays green for what is shipped."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.audit import audit

pytestmark = pytest.mark.filterwarnings("ignore")
GRAPH = nx.random_regular_graph(4, 10, seed=2)
POINTS = np.random.default_rng(0).normal(size=(10, 2))


def problem(cost=tacit.Quadratic.distance):
    return tacit.Problem(GRAPH, [cost(point) for point in POINTS])


def verdicts(masks, cost=tacit.Quadratic.distance):
    report = audit(problem(cost), [3], privacy=masks, games=4000, seed=11)
    assert all(not verdict.is_red for verdict in report.without_masks)
    return report, {verdict.attack: verdict.status for verdict in report.with_masks}


@pytest.mark.parametrize(
    ("masks", "attack", "status"),
    [
        ("ReusedMasks", "mask reuse", "beaten"),
        ("ShortSeed", "seed enumeration", "beaten"),
        ("ShortSeedEach", "seed enumeration", "beaten"),
        ("FloatMasks", "low-order bits", "beaten"),
        ("ForgottenLink", "law of the masks", "beaten"),
        ("HalfSigma", "law of the masks", "beaten"),
        ("DoubleSigma", "law of the masks", "weak"),
        ("NotZeroSum", "law of the masks", "weak"),
        ("HessiansInClear", "law of the masks", "beaten"),
        ("ReusedWords", "two sums", "beaten"),
    ],
)
def test_a_broken_mechanism_turns_the_audit_red(masks, attack, status, mutants):
    kind = getattr(mutants, masks)
    report, found = verdicts(kind() if issubclass(kind, tacit.SumMasks) else kind(100.0))
    assert not report.passed
    assert report.sentence().startswith("RED")
    assert found[attack] == status, report.red


def test_constants_in_effective_costs_turn_the_audit_red(mutants):
    report, found = verdicts(tacit.AffineMasks(100.0), mutants.WithConstant.around)
    assert found["constants"] == "beaten"
    assert [verdict.attack for verdict in report.red] == ["constants"]


def test_half_the_sigma_also_loses_the_game(mutants):
    _, found = verdicts(mutants.HalfSigma(100.0))
    assert found["distinguishing game"] == "beaten"


@pytest.mark.parametrize(
    "masks",
    [
        tacit.AffineMasks(100.0),
        tacit.AffineMasks(1e-3),
        tacit.AffineMasks(100.0, link_scales={tuple(edge): 2.0 for edge in list(GRAPH.edges)[:6]}),
        tacit.QuadraticMasks(100.0),
        tacit.SumMasks(),
    ],
    ids=repr,
)
def test_what_is_shipped_stays_green(masks):
    report, found = verdicts(masks)
    assert report.passed, report.red
    assert "beaten" not in found.values()
    assert list(found.values()).count("within") >= 4


def test_the_audit_without_a_seed_is_green_too():
    """Fresh masks from the system: a false alarm has a chance of 0.1 %."""
    report = audit(problem(), any=1, privacy=tacit.AffineMasks(100.0), games=4000)
    assert report.passed, report.red
    assert report.private


def test_where_no_coalition_is_worse_than_another_the_best_placed_one_attacks():
    """No single agent cuts this network, so secret sums are as safe from any of them."""
    report = audit(problem(), any=1, privacy=tacit.SumMasks(), games=2000, seed=1)
    assert len(report.coalition) == 1
    assert report.passed
    plain = audit(problem(), any=1, masks=False)
    assert (len(plain.coalition), plain.mechanism, plain.private) == (1, "none", False)
    assert plain.certificate is None
