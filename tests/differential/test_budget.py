"""Several answers about the same records: squares of μ add up, and too much is refused before it is told."""

import math

import networkx as nx
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

import tacit
from tacit.differential import AnswerBudget, TradeOff
from tacit.errors import RefusedError


def promise(epsilon):
    return tacit.DifferentialPrivacy(epsilon=epsilon, delta=1e-6, clip=1.0, labels=1.0)


@pytest.fixture
def guarantee():
    costs = [tacit.LeastSquares([[1.0], [0.5]], [0.3, 0.2]) for _ in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    return tacit.solve(problem, privacy=tacit.SumMasks(answer=promise(0.5))).guarantee


def test_runs_add_up_as_dp_accounting_composes_them(guarantee):
    budget = AnswerBudget(epsilon=2.0, delta=1e-6)
    for _ in range(4):
        budget = budget.after(guarantee)
    spent = math.sqrt(budget.mu**2 - budget.mu_left**2)
    assert spent == pytest.approx(2.0 * guarantee.mu)
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(1.0 / guarantee.mu), 4)
    together = accountant.get_epsilon(1e-6)
    assert TradeOff(spent).delta(together) == pytest.approx(1e-6, rel=1e-2)


def test_a_run_that_would_exceed_the_budget_is_refused_before_it_begins(guarantee):
    budget = AnswerBudget(epsilon=1.0, delta=1e-6).after(guarantee)
    budget.refuse(promise(0.5))
    with pytest.raises(RefusedError, match="smaller epsilon"):
        budget.refuse(promise(1.0))
    with pytest.raises(tacit.TacitError, match="no budget covers"):
        budget.after(None)
    with pytest.raises(tacit.TacitError, match="epsilon"):
        AnswerBudget(epsilon=0.0, delta=1e-6)
    whole = AnswerBudget(epsilon=0.5, delta=1e-6)
    whole.refuse(promise(0.5))
    assert np.isclose(whole.after(guarantee).mu_left, 0.0, atol=1e-8)


def test_kinds_of_runs_add_up_for_what_both_protect(guarantee):
    """Replacing a label is taking a record out and putting another in; labels alone protect no record."""
    import msgspec

    label = msgspec.structs.replace(guarantee, unit="label")
    budget = AnswerBudget(epsilon=2.0, delta=1e-6, unit="label").after(guarantee).after(label)
    assert budget.mu_spent == pytest.approx(guarantee.mu * math.sqrt(5.0))
    assert math.isinf(AnswerBudget(epsilon=2.0, delta=1e-6).after(label).mu_spent)


@pytest.mark.parametrize("mu", [0.05, 0.2367, 1.0, 3.0])
def test_epsilon_of_mu_inverts_mu_of_epsilon(mu):
    epsilon = TradeOff(mu).epsilon(1e-6)
    assert TradeOff.of_epsilon_delta(epsilon, 1e-6).mu == pytest.approx(mu, rel=1e-8)
    assert TradeOff(0.0).epsilon(1e-6) == 0.0
