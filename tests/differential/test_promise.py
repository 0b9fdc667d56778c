"""The promise: (ε, δ) and μ, against Google's dp-accounting, and what cannot be promised."""

import math

import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant, privacy_loss_distribution

import tacit


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_mu_is_the_largest_that_keeps_epsilon_and_delta_by_dp_accounting(epsilon, delta):
    mu = tacit.DifferentialPrivacy(epsilon=epsilon, delta=delta, clip=1.0).mu
    law = privacy_loss_distribution.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=1e-4)
    assert law.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-3, abs=1e-6 * delta + 1e-12)
    assert law.get_epsilon_for_delta(delta) == pytest.approx(epsilon, abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_delta_equals_dp_accounting_to_a_millionth(epsilon):
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    mu = tacit.DifferentialPrivacy(epsilon=epsilon, delta=1e-6, clip=1.0).mu
    exact = GaussianPrivacyLoss(standard_deviation=1.0 / mu).get_delta_for_epsilon(epsilon)
    assert exact == pytest.approx(1e-6, rel=1e-6)


def test_sums_add_up_in_squares_of_mu_as_dp_accounting_composes_them():
    promise, sums = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0), 9
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(math.sqrt(sums) / promise.mu), sums)
    assert accountant.get_epsilon(1e-6) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"clip": None}, "clip is missing"),
        ({"clip": 0.0}, "clip"),
        ({"delta": 1e-2, "records": 100}, "1/100"),
        ({"any": -1}, "any"),
        ({"any": 1.5}, "any"),
        ({"labels": -1.0}, "labels"),
        ({"sums": 0}, "sums"),
    ],
)
def test_what_cannot_be_promised_is_refused_in_one_sentence(settings, word):
    with pytest.raises(tacit.TacitError, match=word) as refused:
        tacit.DifferentialPrivacy(**{"epsilon": 1.0, "delta": 1e-6, "clip": 1.0} | settings)
    assert str(refused.value).count(". ") == 0


def test_coalitions_that_leave_fewer_than_two_agents_are_refused():
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=3)
    promise.refuse_few(5)
    with pytest.raises(tacit.TacitError, match="at least two honest agents"):
        promise.refuse_few(4)
