"""Several runs together: what adds up, and whom subtraction exposes."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.certificates import Release, exposures
from tacit.certificates.composition import exposures_to_any

GRAPH = nx.circulant_graph(8, [1, 2, 3])


def release(run, graph=GRAPH, *, sigma=10.0, **more):
    return Release.of(run, graph, sigma=sigma, **more)


def without(*agents):
    graph = GRAPH.copy()
    graph.remove_nodes_from(agents)
    return graph


def test_averaging_beats_fresh_masks_as_the_sum_says():
    """T equal runs leave masks of σ/√T: the sum of ε equals ε at that σ."""
    epsilon = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
    assert 25 * epsilon == pytest.approx(tacit.certify(GRAPH, any=1, sigma=10.0 / 5).epsilon)


def test_subtraction_may_take_three_runs():
    runs = [release("a", without(0, 1)), release("b", without(1, 2)), release("c", without(0, 2))]
    assert exposures(runs) == ()
    runs.append(release("d"))
    exposed = exposures(runs)
    assert {e.agent for e in exposed} == {"0", "1", "2"}
    assert all("by adding and subtracting" in str(e) for e in exposed)


def test_a_coalition_sees_its_own_components():
    """Agents 1 and 7 with 2 and 6 corrupted: what is left of the ring falls apart."""
    ring = nx.cycle_graph(8)
    assert exposures([release("a", ring)]) == ()
    exposed = exposures([release("a", ring)], coalition=("1", "7"))
    assert [str(e) for e in exposed] == ["exposed: agent 0 to 1, 7, alone in its component in run a"]


def test_a_new_cost_version_is_a_new_unknown_of_its_owner():
    before, after = release("a", cost_version="1"), release("b", without(4), cost_version="2")
    assert [e.agent for e in exposures([before, after], owner="4")] == ["4"]
    assert exposures([before, after], owner="3") == ()
    assert [e.agent for e in exposures([before, after])] == ["4"], "without an owner everybody counts as unchanged"


@given(seed=st.integers(0, 10_000))
def test_the_rank_test_equals_solving_for_the_coefficients(seed):
    """Exposed means: the coefficient is the same in every solution of the linear system of sums."""
    rng = np.random.default_rng(seed)
    runs = []
    for k in range(int(rng.integers(1, 6))):
        kept = rng.choice(6, size=int(rng.integers(2, 7)), replace=False).tolist()
        runs.append(release(str(k), nx.complete_graph(sorted(kept))))
    agents = sorted({a for run in runs for a in run.participants})
    rows = np.array([[a in run.participants for a in agents] for run in runs], dtype=float)
    null = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]
    fixed = {a for a, column in zip(agents, null.T, strict=True) if np.abs(column).max(initial=0.0) < 1e-9}
    assert {e.agent for e in exposures(runs)} == fixed


def test_link_scales_count():
    graph = nx.complete_graph(5)
    scales = {(0, 1): 0.5, (0, 2): 0.5}
    assert release("a", graph, link_scales=scales) != release("a", graph)
    expected = tacit.certify(graph, any=1, sigma=10.0, link_scales=scales).epsilon
    from tacit.certificates.ledger import _epsilon

    assert _epsilon(release("a", graph, link_scales=scales), 1) == pytest.approx(expected)


@given(seed=st.integers(0, 10_000), t=st.integers(0, 2))
def test_exposure_to_any_coalition_equals_trying_them_all(seed, t):
    """On complete graphs no coalition cuts anything: the classes of agents find what enumeration finds."""
    rng = np.random.default_rng(seed)
    runs = []
    for k in range(int(rng.integers(1, 5))):
        kept = rng.choice(7, size=int(rng.integers(t + 3, 8)), replace=False).tolist()
        runs.append(release(str(k), nx.complete_graph(sorted(kept))))
    agents = sorted({a for run in runs for a in run.participants})
    expected = set()
    for size in range(t + 1):
        for coalition in combinations(agents, size):
            expected |= {e.agent for e in exposures(runs, coalition=coalition)}
    assert {e.agent for e in exposures_to_any(runs, t)} == expected


@pytest.mark.parametrize("coalition", [(), (2,), (0, 6)])
def test_both_views_of_those_who_stay_are_the_view_of_the_graph_without_the_leaver(coalition):
    """The joint law of all effective costs, before and after agent 4 has left, against the formula for the later ones.

    c = b + D z and c' = b + D' z, with one difference z_e of variance 2σ² a link and D' without the leaver's links.
    """
    sigma, links, left = 10.0, list(GRAPH.edges), 4
    stay = [a for a in GRAPH if a not in (left, *coalition)]
    unknown = [k for k, (a, b) in enumerate(links) if a not in coalition and b not in coalition]
    D = np.zeros((8, len(links)))
    for k, (a, b) in enumerate(links):
        D[a, k], D[b, k] = 1.0, -1.0
    after = D * np.array([left not in link for link in links])
    M = np.vstack([D[[*stay, left]], after[stay]])[:, unknown]
    inverse = np.linalg.pinv(2.0 * sigma**2 * M @ M.T, rcond=1e-10)
    shift = np.vstack([np.eye(len(stay)), np.zeros((1, len(stay))), np.eye(len(stay))])  # of b over those who stay
    kept = np.eye(len(stay)) - 1.0 / len(stay)  # changes that keep the sum
    worst = np.linalg.eigvalsh(kept @ shift.T @ inverse @ shift @ kept)[-1] / 2.0
    assert worst == pytest.approx(tacit.certify(without(left), coalition, sigma=sigma).epsilon)
