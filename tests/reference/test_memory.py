"""Many agents and many unknowns in one process: no array of n Hessians is ever made."""

import importlib
import tracemalloc

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import trial
from tacit.costs import pack, stack
from tacit.costs.pieces import Pieces, hessian_in_pieces

AGENTS, UNKNOWNS, RECORDS = 200, 160, 2


def problem(family, *, n=AGENTS, m=UNKNOWNS, rough=False):
    rng = np.random.default_rng(1)
    costs = []
    for _ in range(n):
        A, b = rng.standard_normal((RECORDS, m)), rng.standard_normal(RECORDS)
        cost = tacit.LeastSquares(A, b, l2=0.1) if family == "squares" else tacit.Logistic(A, b > 0, l2=0.1)
        costs.append(cost + tacit.L1(0.01) if rough else cost)
    return tacit.Problem(nx.random_regular_graph(4, n, seed=1), costs)


@pytest.mark.parametrize(
    ("family", "privacy"),
    [
        ("squares", tacit.SumMasks()),
        ("squares", tacit.SumMasks(words=2)),
        ("logistic", tacit.SumMasks()),
        ("logistic", tacit.AffineMasks(10.0)),
        ("logistic", None),
    ],
)
def test_no_array_of_all_hessians_is_made(family, privacy, monkeypatch):
    """n·m² numbers are 41 MB here, and 4 GB for 500 agents with 1000 unknowns."""
    monkeypatch.setattr(
        importlib.import_module("tacit.solving.solve"), "telling", lambda *_: (None, [])
    )  # it invents agents of its own
    tracemalloc.start()
    try:
        made = problem(family)
        tacit.solve(made, privacy=privacy, max_rounds=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 0.8 * 8 * AGENTS * UNKNOWNS**2


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces so small that a quick problem has many."""
    monkeypatch.setattr(trial, "_PIECE", 200)


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("family", ["squares", "logistic"])
def test_pieces_change_nothing(family, rough, words, request):
    """The same answer and the same traffic as in one piece."""
    made = problem(family, n=6, m=12, rough=rough)
    whole = tacit.solve(made, privacy=tacit.SumMasks(words=words))
    request.getfixturevalue("small_pieces")
    pieces = tacit.solve(made, privacy=tacit.SumMasks(words=words))
    assert pieces.record.phase2.bytes == whole.record.phase2.bytes
    assert pieces.record.phase2.exchanges == whole.record.phase2.exchanges
    np.testing.assert_allclose(pieces.x, whole.x, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("small_pieces")
def test_a_number_beyond_the_bound_is_refused_in_pieces_too():
    """One agent's Hessian does not fit: everybody hears that, and nothing else."""
    made = problem("squares", n=6, m=12)
    with pytest.raises(tacit.TacitError, match=r"[1-6] agent\(s\) hold a number beyond the public bound"):
        tacit.solve(made, privacy=tacit.SumMasks(bound=2.0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("family", ["squares", "logistic"])
def test_rows_of_hessians_are_those_of_the_whole(family, weighted):
    rng = np.random.default_rng(4)
    kind = tacit.LeastSquares if family == "squares" else tacit.Logistic
    weight = rng.uniform(0.5, 2.0, 3) if weighted else None
    costs = [kind(rng.standard_normal((3, 7)), [0, 1, 1], l2=0.1, weight=weight) for _ in range(5)]
    together = stack(costs)
    x = np.random.default_rng(2).standard_normal((5, 7))
    whole = np.broadcast_to(together.hess(x), (5, 7, 7))
    np.testing.assert_allclose(together.hess_rows(x, 2, 5), whole[:, 2:5], atol=1e-12)
    np.testing.assert_allclose(together.total_hess(x), whole.sum(axis=0), atol=1e-12)
    told = hessian_in_pieces(x, together, most=40)
    np.testing.assert_allclose(told, pack(whole), atol=1e-12)


def test_a_told_sum_is_an_array_to_numpy():
    told = hessian_in_pieces(np.zeros(3), stack(problem("squares", n=5, m=3).costs), most=1)
    joined = np.concatenate([np.ones((5, 2)), told, np.zeros((5, 1))], axis=-1)
    assert isinstance(joined, Pieces)
    assert joined.shape == (5, 9) == np.asarray(joined).shape
    assert joined.nbytes == np.asarray(joined).nbytes
    np.testing.assert_array_equal(joined[:, :2], 1.0)
    np.testing.assert_allclose(np.sum(joined, axis=0), np.asarray(joined).sum(axis=0))


def test_stacked_costs_share_their_numbers_with_the_stack():
    """The data exist once in a problem, whoever looks at them."""
    made = problem("logistic", n=6, m=5)
    assert all(np.shares_memory(cost.A, made.stack.A) for cost in made.costs)
