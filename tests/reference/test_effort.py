"""Which algorithm by sums is taken: by what the whole run takes, and by what it tells."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_digits

import tacit
from tacit.costs import Multinomial
from tacit.solving.effort import NEWTON, with_gradients, with_hessians, worth_hessians

AGENTS = 5


def softmax(columns):
    """Return ten digits with these pixels, standardised, dealt out to agents."""
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 1.0]
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:, :columns]
    parts = [(X[i::AGENTS], y[i::AGENTS]) for i in range(AGENTS)]
    costs = [Multinomial(A, b, classes=10, l2=1e-3, intercept=True) for A, b in parts]
    return tacit.Problem(nx.complete_graph(AGENTS), costs)


@pytest.mark.parametrize("columns", [36, pytest.param(64, marks=pytest.mark.large)])
def test_softmax_of_many_unknowns_converges_at_defaults(columns):
    """Badly conditioned, and beyond 300 unknowns: L-BFGS was taken, and a thousand rounds were not enough."""
    problem = softmax(columns)
    assert problem.dim > 300
    answer = tacit.solve(problem, protect="whole", max_rounds=1000)
    assert answer.converged, answer.sentence
    assert answer.record.phase2.algorithm == "Newton"
    assert answer.record.phase2.rounds <= 25
    slope, bend = problem.stack.grad(answer.x).sum(axis=0), problem.stack.hess(answer.x).sum(axis=0)
    assert np.abs(np.linalg.solve(bend, slope)).max() <= 1e-8 * max(np.abs(answer.x).max(), 1.0)


def test_a_hessian_of_650_unknowns_is_211575_numbers_a_sum():
    assert with_hessians(650).numbers == NEWTON * (211_575 + 650 + 1)
    assert with_gradients(650).numbers == 1000 * 651


@pytest.mark.parametrize("rough", [False, True])
def test_hessians_are_worth_it_up_to_one_number_of_unknowns(rough):
    """Both runs grow with the unknowns, the one with Hessians faster: there is one place where they meet."""
    worth = [worth_hessians(m, rough=rough) for m in range(1, 3000, 7)]
    assert worth[0]
    assert not worth[-1]
    assert sum(a != b for a, b in pairwise(worth)) == 1
    assert worth_hessians(650)
