"""Counts, means, variances and histograms with noise: how near they are, what they promise, and what is refused."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import chi2

import tacit
from tacit.differential import AnswerBudget
from tacit.learning import PrivateLogisticRegression, PrivateStandardScaler, describe, histogram

LIMITS = [(0.0, 10.0), (-1.0, 3.0)]


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.uniform(1.0, 9.0, 6000), rng.normal(1.0, 0.5, 6000).clip(-1.0, 3.0)])
    return X, np.arange(6000) % 6


def noisy(X, groups, **settings):
    return describe(X, groups, **{"limits": LIMITS, "epsilon": 1.0, "delta": 1e-6, "any": 2} | settings)


def test_moments_are_as_near_as_their_errors_say(records):
    """Squared errors over their stated variances, summed over 12 runs, lie where χ² of as many degrees does."""
    X, groups = records
    for settings in ({}, {"records": 6000}):
        count = mean = variance = 0.0
        for _ in range(12):
            found = noisy(X, groups, **settings)
            count += ((found.count - 6000) / found.count_error) ** 2 if found.count_error else 0.0
            mean += (((found.mean - X.mean(axis=0)) / found.mean_errors) ** 2).sum()
            variance += (((found.variance - X.var(axis=0)) / found.variance_errors) ** 2).sum()
        low, high = chi2.ppf([1e-7, 1 - 1e-7], 24)
        assert low < mean < high
        assert low < variance < high
        assert (count == 0.0) if settings else (chi2.ppf(1e-7, 12) < count < chi2.ppf(1 - 1e-7, 12))


def test_one_noisy_sum_is_all_that_is_told_and_it_costs_what_it_says(records):
    X, groups = records
    found = noisy(X, groups)
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2)
    assert found.guarantee.mu == pytest.approx(promise.mu)
    assert found.guarantee.unit == "record"
    assert found.count_error == pytest.approx(math.sqrt(3.5 * 6 / 4) / promise.mu, rel=1e-6)


def test_a_histogram_counts_with_noise_of_one_record(records):
    _, groups = records
    values = np.where(np.arange(6000) % 3 > 0, "yes", "no")
    found = histogram(values, groups, classes=["no", "yes", "maybe"], epsilon=1.0, delta=1e-6, any=2)
    np.testing.assert_allclose(found.counts, [2000, 4000, 0], atol=8 * found.error)
    assert found.error == pytest.approx(math.sqrt(6 / 4) / found.guarantee.mu, rel=1e-6)
    between = histogram(np.arange(6000.0), groups, edges=[0, 1000, 5000], epsilon=1.0, delta=1e-6, any=2)
    np.testing.assert_allclose(between.counts, [1000, 5000], atol=8 * between.error)


@pytest.mark.parametrize("unusual", [np.nan, np.inf, -1e300, 5.0])
def test_no_value_of_a_record_is_refused_warned_about_or_counted(records, unusual):
    X, groups = records
    X = X.copy()
    X[3, 0] = unusual
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(noisy(X, groups).mean).all()
        assert np.isfinite(histogram(X[:, 0], groups, edges=[0, 5, 10], epsilon=1.0, delta=1e-6).counts).all()
        PrivateStandardScaler(epsilon=1.0, delta=1e-6, limits=LIMITS).fit(X, groups=groups)
        model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, clip=2.0, classes=[0, 1])
        labels = np.where(np.arange(6000) == 9, np.nan, X[:, 1] > 1.0)
        assert np.isfinite(model.fit(X, labels, groups=groups).coef_).all()


def test_a_scaler_with_noise_is_near_that_without_and_a_pipeline_adds_up_in_squares_of_mu(records):
    X, groups = records
    scaler = PrivateStandardScaler(epsilon=0.7, delta=1e-6, limits=LIMITS, any=2).fit(X, groups=groups)
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0), atol=0.2)
    np.testing.assert_allclose(scaler.scale_, X.std(axis=0), rtol=0.2)
    Z = scaler.transform(X)
    model = PrivateLogisticRegression(
        epsilon=0.7, delta=1e-6, clip=2.0, classes=[False, True], any=2, records=6000
    ).fit(Z, Z @ [1.0, 1.0] > 0, groups=groups)
    assert model.summary_.observations == 6000
    budget = AnswerBudget(epsilon=1.0, delta=1e-6).after(scaler.guarantee_).after(model.guarantee_)
    assert budget.mu_left**2 == pytest.approx(max(budget.mu**2 - 2 * scaler.guarantee_.mu**2, 0.0))


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"limits": None}, "limits is missing"),
        ({"limits": [(0.0, 1.0)]}, r"each of the 2 column"),
        ({"limits": [(0.0, 1.0), (2.0, 2.0)]}, "below the largest"),
        ({"limits": {"x0": (0.0, 1.0)}}, "no range for column 'x1'"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": 1e-3, "records": 6000}, "1/6000"),
        ({"any": 5}, "at least two honest agents"),
    ],
)
def test_what_cannot_be_promised_is_refused_in_one_sentence(records, settings, word):
    X, groups = records
    with pytest.raises(tacit.TacitError, match=word) as refused:
        noisy(X, groups, **settings)
    assert str(refused.value).count(". ") == 0


def test_parties_classes_and_edges_must_be_declared(records):
    X, groups = records
    with pytest.raises(tacit.TacitError, match="name the party"):
        noisy(X, None)
    for settings in ({}, {"classes": [1], "edges": [0, 1]}, {"classes": [1, 1]}, {"edges": [1, 0]}):
        with pytest.raises(tacit.TacitError, match=r"classes|edges"):
            histogram(X[:, 0], groups, epsilon=1.0, delta=1e-6, **settings)
    with pytest.raises(tacit.TacitError, match="needs delta"):
        PrivateStandardScaler(epsilon=1.0, limits=LIMITS).fit(X, groups=groups)
    with pytest.raises(tacit.TacitError, match="noisy answers of models only"):
        PrivateStandardScaler(epsilon=1.0, delta=1e-6, limits=LIMITS, ledger="north").fit(X, groups=groups)
