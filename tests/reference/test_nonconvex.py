"""Single costs that are not convex, with a convex sum: the paper's own case, on networks that mix badly."""

import networkx as nx
import numpy as np
import pytest

import tacit

pytestmark = pytest.mark.filterwarnings("ignore::tacit.solving.solve.NotPrivateWarning")

GRAPHS = {
    "Florentine families": nx.convert_node_labels_to_integers(nx.florentine_families_graph()),
    "path": nx.path_graph(30),
    "long path": nx.path_graph(80),
    "tree": nx.balanced_tree(2, 4),
    "barbell": nx.barbell_graph(8, 4),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6)),
    "star": nx.star_graph(15),
    "ring": nx.cycle_graph(40),
}


def bent(n, *, m=4, condition=10.0, seed=1):
    """Return quadratics that bend either way, whose average has curvatures from 1 to *condition*; and the optimum."""
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n, m, m))
    P = 1.5 * (S + np.swapaxes(S, 1, 2))
    Q = np.linalg.qr(rng.standard_normal((m, m)))[0]
    P += (Q * np.geomspace(1.0, condition, m)) @ Q.T - P.mean(axis=0)
    P = (P + np.swapaxes(P, 1, 2)) / 2
    q = 5.0 * rng.standard_normal((n, m))
    assert (np.linalg.eigvalsh(P)[:, 0] < 0).any()
    return [tacit.Quadratic(p, b) for p, b in zip(P, q, strict=True)], np.linalg.solve(P.sum(0), -q.sum(0))


@pytest.mark.parametrize("sigma", [None, 10.0, 1e6])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_they_converge_by_default_on_every_network(graph, sigma):
    """Gradient tracking did not within 100 000 rounds; following the average takes a few hundred."""
    costs, best = bent(len(graph))
    answer = tacit.solve(
        tacit.Problem(graph, costs), privacy=None if sigma is None else tacit.AffineMasks(sigma, seed=3)
    )
    assert answer.converged, answer.sentence
    assert answer.record.phase2.algorithm == "MultiConsensus"
    assert "not convex" in answer.record.phase2.reason
    assert answer.record.phase2.rounds <= 150
    np.testing.assert_allclose(answer.x, best, atol=1e-7 * np.abs(best).max())


def test_masks_of_a_million_do_not_hide_the_last_changes_of_a_gradient():
    """An average of condition 1000: beside σ = 10⁶ a float64 gradient has no room for the end of the run."""
    costs, best = bent(36, condition=1e3)
    answer = tacit.solve(tacit.Problem(GRAPHS["grid"], costs), privacy=tacit.AffineMasks(1e6, seed=3))
    assert answer.converged, answer.sentence
    np.testing.assert_allclose(answer.x, best, atol=1e-6 * np.abs(best).max())


def test_an_average_that_is_not_known_to_curve_is_added_up_where_nothing_is_to_be_hidden():
    """One double well among bowls: its own constant is negative, and so is the bound of the average."""
    wells = [
        tacit.CallableCost(
            2,
            value=lambda x, c=c: float((x**4).sum() / 4 + (x**2).sum() - c * x.sum()),
            grad=lambda x, c=c: x**3 + 2 * x - c,
            hess=lambda x: np.diag(3 * x**2 + 2),
            strong_convexity=-1.0,
        )
        for c in (1.0, 2.0, 3.0)
    ]
    problem = tacit.Problem(nx.complete_graph(3), wells)
    answer = tacit.solve(problem)
    assert answer.converged
    assert answer.record.phase2.algorithm == "Newton"
    assert "not known to be strictly so" in answer.record.phase2.reason
    np.testing.assert_allclose(answer.x**3 + 2 * answer.x, 2.0, atol=1e-8)
