"""Two worlds that differ in one record: nothing refuses, warns, counts or ends differently, and rows stay bounded."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.algorithms import NoisyDirect, NoisyNewton
from tacit.costs.sensitivity import RecordLimits
from tacit.masks import limits_of

PROMISE = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.5, labels=2.0, any=1)
GRAPH = nx.complete_graph(5)
OUTLIERS = [
    np.zeros(3),
    np.full(3, 1e-9),
    np.full(3, 1e9),
    np.array([1e99, -1e99, 1e99]),
    np.array([0.0, 0.0, 7e5]),
]
MASKS = {
    "sums": tacit.SumMasks(answer=PROMISE),
    "narrow sums": tacit.SumMasks(bound=100.0, answer=PROMISE),
    "quadratic": tacit.QuadraticMasks(sigma=1e4, answer=PROMISE),
}


def world(kind, outlier, label):
    """Return five agents with the same records, one of which is the outlier."""
    rng, costs = np.random.default_rng(3), []
    for agent in range(5):
        A = rng.normal(size=(30, 3))
        b = A @ np.array([1.0, -1.0, 0.5])
        if agent == 2:
            A[0], b[0] = outlier, label
        costs.append(tacit.Logistic(A, b > 0) if kind == "logistic" else tacit.LeastSquares(A, b))
    return tacit.Problem(GRAPH, costs)


@pytest.mark.parametrize("label", [0.0, 1e9])
@pytest.mark.parametrize("outlier", OUTLIERS, ids=range(len(OUTLIERS)))
@pytest.mark.parametrize(
    ("kind", "masks"),
    [("least squares", name) for name in MASKS] + [("logistic", "sums"), ("logistic", "narrow sums")],
)
def test_nothing_but_the_noisy_answer_differs_between_two_worlds(kind, masks, outlier, label):
    """A complaint about the bound was a bit without noise, and told two worlds apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = tacit.solve(world(kind, outlier, label), privacy=MASKS[masks])
        plain = tacit.solve(world(kind, OUTLIERS[0], 0.0), privacy=MASKS[masks])
    for told in ("status", "converged", "stamps", "warnings", "tells", "doubt", "left_out", "phase1", "families"):
        assert getattr(answer.record, told) == getattr(plain.record, told), told
    for told in ("algorithm", "settings", "weights", "reason", "rounds", "exchanges", "messages", "bytes"):
        assert getattr(answer.record.phase2, told) == getattr(plain.record.phase2, told), told
    assert np.isfinite(answer.x).all()


@pytest.mark.parametrize("label", [0.0, 2.0, 1e9])
def test_labels_under_affine_masks_change_nothing_but_the_noisy_answer(label):
    features = np.array([0.3, -0.2, 0.1])
    masks = tacit.AffineMasks(sigma=1e4, answer=PROMISE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = tacit.solve(world("least squares", features, label), privacy=masks, algorithm="nids")
        other = tacit.solve(world("least squares", features, -1.0), privacy=masks, algorithm="nids")
    for told in ("stamps", "warnings", "tells", "doubt", "phase1"):
        assert getattr(one.record, told) == getattr(other.record, told), told
    assert one.record.phase2.settings == other.record.phase2.settings


class Listening:
    """Peers that keep what an agent hands in, and answer with a positive sum."""

    resolution = 0.0

    def __init__(self):
        self.heard = []

    def sum(self, v, add=np.add):
        self.heard.append(np.array(v))
        return np.ones(np.shape(v)[-1])


rows = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).map(np.array)


@settings(max_examples=30)
@given(rows, st.floats(-1e6, 1e6), st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_one_record_moves_a_noisy_sum_of_least_squares_by_one_at_most(row, label, clip, labels):
    limits = RecordLimits(clip, labels)
    sensitivity = tacit.LeastSquares(np.eye(3), np.zeros(3)).sensitivity(limits)
    algorithm = NoisyDirect(slope=sensitivity.slope, bend=sensitivity.bend, noise=1.0)
    peers = Listening()
    for A, b in [(row[None], [label]), (np.zeros((1, 3)), [0.0])]:
        cost = tacit.LeastSquares(A, b).clipped(limits)
        algorithm.step(algorithm.init(np.zeros(3), cost), peers, cost)
    assert np.linalg.norm(peers.heard[0] - peers.heard[1]) <= 1.0 + 1e-9


@settings(max_examples=30)
@given(rows, st.booleans(), st.floats(0.1, 10.0), rows)
def test_one_record_spends_no_more_than_the_promise_over_all_sums_of_newton(row, label, clip, point):
    """Squares of what one record moves, added up over two Hessians and K gradients, stay within 1."""
    limits = RecordLimits(clip)
    sensitivity = tacit.Logistic(np.eye(3), np.zeros(3)).sensitivity(limits)
    algorithm = NoisyNewton(slope=sensitivity.slope, bend=sensitivity.bend, noise=1.0, gradients=5)
    cost = tacit.Logistic(row[None], [float(label)]).clipped(limits)
    none = tacit.Logistic(np.zeros((1, 3)), [0.0]).clipped(limits)
    spent = 0.0
    state = algorithm.init(point, cost)
    peers = [Listening(), Listening()]
    for _ in range(7):
        after = algorithm.step(state, peers[0], cost)
        algorithm.step(state, peers[1], none)
        state = after
    for one, other in zip(peers[0].heard, peers[1].heard, strict=True):
        spent += float(((one - other) ** 2).sum())
    assert spent <= 1.0 + 1e-9


@settings(max_examples=30)
@given(rows, st.floats(0.1, 10.0))
def test_one_label_moves_the_affine_part_by_no_more_than_it_may(row, clip):
    odds = [tacit.Logistic(row[None], [y]).clipped(RecordLimits(clip)) for y in (0.0, 1.0)]
    assert np.linalg.norm(odds[0].affine - odds[1].affine) <= odds[0].sensitivity(RecordLimits(clip)).label * (
        1 + 1e-9
    )
    limits = RecordLimits(clip, 2.0)
    squares = [tacit.LeastSquares(row[None], [b]).clipped(limits) for b in (-1e3, 1e3)]
    assert np.linalg.norm(squares[0].affine - squares[1].affine) <= squares[0].sensitivity(limits).label * (
        1 + 1e-9
    )


def test_costs_that_nobody_clipped_are_not_hidden_under_a_promise():
    problem = world("least squares", OUTLIERS[0], 0.0)
    for masks in MASKS.values():
        with pytest.raises(tacit.TacitError, match="clipped"):
            masks.hide(problem.stack, None, None, network=problem.network) if masks.kind == "quadratic" else (
                _hide(masks, problem)
            )


def _hide(masks, problem):
    from tacit.masks import Keystreams, agent_keys
    from tacit.runtimes.stacked import Stacked

    peers = Stacked(problem.network)
    return masks.hide(
        problem.stack, peers, Keystreams(agent_keys(5), problem.network.degrees), network=problem.network
    )


def test_more_sums_than_promised_are_refused():
    problem = world("least squares", OUTLIERS[0], 0.0)
    clipped = tacit.Problem(GRAPH, [cost.clipped(limits_of(PROMISE)) for cost in problem.costs])
    peers = _hide(MASKS["sums"], clipped).peers
    for _ in range(2 + PROMISE.sums):
        peers.sum(np.zeros((5, 2)))
    with pytest.raises(tacit.TacitError, match="promised have been taken"):
        peers.sum(np.zeros((5, 2)))


def test_a_cost_that_is_no_longer_of_its_records_is_neither_clipped_nor_taken_for_clipped():
    """An effective cost keeps no label, and another unit makes rows longer."""
    for cost in (tacit.LeastSquares(np.eye(3), np.ones(3)), tacit.Logistic(np.eye(3), np.ones(3))):
        kept = cost.clipped(limits_of(PROMISE))
        other = kept.with_affine(np.full(3, 1e6))
        assert kept.kept == limits_of(PROMISE)
        assert other.kept is None
        assert not {"_marks", "_table"} & set(vars(other))
        with pytest.raises(tacit.TacitError, match="than its records"):
            other.clipped(limits_of(PROMISE))
