"""The trade-off: closed forms against tables, sampling, and Google's dp-accounting."""

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tacit.certificates import TradeOff

TABLE = {  # μ: (AUC, total variation), to three digits
    0.1: (0.528, 0.040), 0.25: (0.570, 0.100), 0.5: (0.638, 0.197), 1.0: (0.760, 0.383), 2.0: (0.921, 0.683), 3.0: (0.983, 0.866)
}  # fmt: skip


@pytest.mark.parametrize("mu", TABLE)
def test_known_values(mu):
    tradeoff = TradeOff(mu)
    assert tradeoff.auc == pytest.approx(TABLE[mu][0], abs=6e-4)
    assert tradeoff.total_variation == pytest.approx(TABLE[mu][1], abs=6e-4)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_delta_equals_dp_accounting(mu, epsilon):
    reference = privacy_loss_distribution.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=1e-4)
    expected = reference.get_delta_for_epsilon(epsilon)
    assert TradeOff(mu).delta(epsilon) == pytest.approx(expected, rel=1e-3, abs=1e-12)
    assert TradeOff(mu).delta(epsilon) <= expected * (1 + 1e-9) + 1e-15


def test_sampled_tests_achieve_the_trade_off():
    rng, mu, size = np.random.default_rng(0), 1.3, 200_000
    here, there = rng.standard_normal(size), mu + rng.standard_normal(size)
    tradeoff = TradeOff(mu)
    for alarms in (0.01, 0.1, 0.5):
        threshold = np.quantile(here, 1 - alarms)
        assert (there < threshold).mean() == pytest.approx(tradeoff.false_negatives(alarms), abs=0.01)
    assert (there > here).mean() == pytest.approx(tradeoff.auc, abs=0.005)
    right = ((here < mu / 2).mean() + (there >= mu / 2).mean()) / 2
    assert right == pytest.approx(tradeoff.guess, abs=0.005)
    assert tradeoff.bayes_error == pytest.approx(1 - tradeoff.guess)


def test_renyi_is_the_gaussian_integral():
    mu, order = 0.8, 2.5
    x = np.linspace(-30, 30, 400_001)
    integral = np.trapezoid(norm.pdf(x, mu) ** order * norm.pdf(x) ** (1 - order), x)
    assert TradeOff(mu).renyi(order) == pytest.approx(math.log(integral) / (order - 1), rel=1e-8)
    assert TradeOff.at(0.32).mu == pytest.approx(0.8)


@given(mu=st.floats(0.01, 5), epsilon=st.floats(0.01, 3))
def test_targets_are_inverted(mu, epsilon):
    tradeoff = TradeOff(mu)
    assert TradeOff.of_guess(tradeoff.guess).mu == pytest.approx(mu, rel=1e-6)
    delta = tradeoff.delta(epsilon)
    if delta > 1e-200:
        assert TradeOff.of_epsilon_delta(epsilon, delta).mu == pytest.approx(mu, rel=1e-6)


def test_extremes():
    assert TradeOff(0.0).delta(1.0) == 0.0
    assert TradeOff(math.inf).delta(1.0) == 1.0
    assert TradeOff(0.0).guess == 0.5
    assert TradeOff(math.inf).guess == 1.0
