"""Objective perturbation: the bound against all admissible responses, real records, and the published bound."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit

import tacit
from tacit.differential import PerturbedObjective, TradeOff
from tacit.differential.objective import charge


def phi(v):
    return np.exp(-0.5 * np.square(v)) / math.sqrt(2.0 * math.pi)


def worst_response(epsilon, reach, kappa, *, step):
    """Return the largest excess over all responses s(v): falling, within [0, S], by at most κ a unit.

    A dynamic programme from right to left, over levels of s: in every cell of v a response stays, or falls by one
    level at the steepest slope that is allowed there. The excess is convex in the slope, so that no other counts.
    """
    levels = max(round(reach / (kappa * step)), 1)
    s = np.linspace(0.0, reach, levels + 1)
    middle = (s[1:] + s[:-1]) / 2.0
    fall = reach / levels / step
    best = np.zeros(levels + 1)
    for v in np.arange(-8.0, 12.0, step)[::-1] + step / 2.0:
        stay = best + step * np.maximum(phi(v - s) - math.exp(epsilon) * phi(v), 0.0)
        fallen = best[:-1] + step * np.maximum((1.0 + fall) * phi(v - middle) - math.exp(epsilon) * phi(v), 0.0)
        best = stay
        best[1:] = np.maximum(stay[1:], fallen)
    return float(best.max())


@pytest.mark.parametrize(
    ("epsilon", "reach", "kappa", "tight"),
    [
        (1.0, 0.24, 0.2, 1e-3),
        (1.0, 0.24, 1.0, 2e-3),
        (2.0, 1.0, 1.0, 2e-3),
        (0.1, 0.3, 0.05, 1e-2),
        (1.0, 1.0, 0.5, 3e-2),
    ],
)
def test_no_admissible_response_exceeds_the_bound_and_some_nearly_reach_it(epsilon, reach, kappa, tight):
    bound = PerturbedObjective(reach, kappa).delta(epsilon)
    reached = worst_response(epsilon, reach, kappa, step=0.01)
    assert (1.0 - tight) * bound <= reached <= (1.0 + 1e-4) * bound


@pytest.mark.parametrize(("epsilon", "reach", "kappa"), [(0.5, 1.5, 2.0), (0.1, 0.5, 1.0), (0.2, 2.0, 0.3)])
def test_the_bound_holds_where_it_is_not_reached(epsilon, reach, kappa):
    assert worst_response(epsilon, reach, kappa, step=0.01) <= PerturbedObjective(reach, kappa).delta(epsilon)


def test_with_hardly_any_bend_it_is_the_gaussian_mechanism():
    for epsilon in (0.1, 1.0, 3.0):
        assert PerturbedObjective(0.5, 1e-9).delta(epsilon) == pytest.approx(TradeOff(0.5).delta(epsilon), rel=1e-4)


@pytest.mark.parametrize(("epsilon", "s", "kappa"), [(1.0, 0.1, 0.3), (1.0, 0.02, 2.0), (0.2, 0.15, 0.9)])
def test_the_charge_of_a_level_is_a_maximum_over_a_fine_grid(epsilon, s, kappa):
    v = np.linspace(-10.0, epsilon / s + s / 2.0, 2_000_001)
    largest = ((1.0 + kappa) * phi(v - s) - math.exp(epsilon) * phi(v)).max() / kappa
    assert charge(s, kappa, epsilon) == pytest.approx(largest, rel=1e-6)


@pytest.mark.parametrize(("ridge", "epsilon"), [(1.25, 1.0), (0.3, 1.0), (5.0, 0.2)])
@pytest.mark.parametrize("others", [0.0, 3.0])
def test_real_logistic_records_stay_within_the_bound_in_both_directions(ridge, epsilon, others):
    """One unknown: the densities of x* in both worlds in closed form, and δ by integrating their excess."""
    noise, S = 2.0, 0.5

    def slope(x):  # of everybody else, with so many records of either label, and the ridge
        return ridge * x + others * (2.0 * expit(x) - 1.0)

    def bend(x):
        return ridge + 2.0 * others * expit(x) * expit(-x)

    def density(x, there):
        extra = np.array([expit(x), expit(x) * expit(-x)]) * there
        return phi((slope(x) + extra[0]) / noise) * (bend(x) + extra[1]) / noise

    far = brentq(lambda x: slope(x) - 12.0 * noise, 0.0, 200.0)
    bound = PerturbedObjective(S, 0.25 / ridge, "logistic").delta(epsilon)
    for there in (1.0, 0.0):
        excess = quad(
            lambda x, t=there: max(density(x, t) - math.exp(epsilon) * density(x, 1.0 - t), 0.0),
            -far, far, limit=500, epsabs=1e-13,
        )[0]  # fmt: skip
        assert excess <= bound
        assert excess >= 0.0


def test_two_signs_cost_two_tails_or_both_sides():
    one, both = (PerturbedObjective(0.3, 0.4, sign) for sign in ("one sign", "two signs"))
    assert both.delta(2.0) == pytest.approx(max(one.delta(2.0), 2.0 * TradeOff(0.3).delta(2.0)))
    assert both.delta(0.1) == pytest.approx(2.0 * one.delta(0.1))  # 1 + κ > e^ε


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_noise_beside_the_gaussian_mechanism_and_beside_the_published_bound(epsilon):
    """At λ = 5β/ε: a fraction of a per cent for logistic costs, 5 to 7 for others, 29 to 35 by the published bound."""
    delta, kappa = 1e-6, epsilon / 5.0
    ideal = TradeOff.of_epsilon_delta(epsilon, delta).mu

    def more_noise(bound):
        return ideal / brentq(lambda reach: bound(reach) / delta - 1.0, 0.5 * ideal, 1.001 * ideal) - 1.0

    logistic = more_noise(lambda S: PerturbedObjective(S, kappa, "logistic").delta(epsilon))
    one_sign = more_noise(lambda S: PerturbedObjective(S, kappa).delta(epsilon))
    published = more_noise(lambda S: PerturbedObjective(S, kappa).published_delta(epsilon))
    assert 0.001 < logistic < 0.0035
    assert 0.05 < one_sign < 0.075
    assert 0.28 < published < 0.36


def test_epsilon_inverts_delta_and_is_below_the_published_one():
    profile = PerturbedObjective(0.2367, 0.2, "logistic")
    assert profile.delta(profile.epsilon(1e-6)) == pytest.approx(1e-6, rel=1e-5)
    assert profile.epsilon(1e-6) < 1.01 < 1.2 < profile.published_epsilon(1e-6)
    assert math.isinf(PerturbedObjective(0.2367, 2.0).published_epsilon(1e-6))


@pytest.mark.parametrize(("reach", "kappa"), [(0.0, 0.1), (math.inf, 0.1), (0.1, math.inf), (0.1, -1.0)])
def test_no_noise_and_no_ridge_are_refused(reach, kappa):
    with pytest.raises(tacit.TacitError, match="noise and a ridge"):
        PerturbedObjective(reach, kappa)
