"""Coefficients are those of the centralised scikit-learn estimator, whatever the parties' sizes.

scikit-learn stops early by default: its tolerances are tightened here, so that what is compared is the optimum.
"""

import numpy as np
import pytest
from scipy import optimize
from sklearn import linear_model as pooled
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import _huber
from sklearn.preprocessing import StandardScaler

from tacit.learning import (
    PrivateElasticNet,
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
    PrivateStandardScaler,
)

TIGHT = {"tol": 1e-13, "max_iter": 1_000_000}
LINEAR = {
    "least squares": (PrivateLinearRegression(), pooled.LinearRegression()),
    "no intercept": (PrivateLinearRegression(fit_intercept=False), pooled.LinearRegression(fit_intercept=False)),
    "ridge": (PrivateRidge(alpha=0.3), pooled.Ridge(alpha=0.3)),
    "ridge, no intercept": (
        PrivateRidge(alpha=2.0, fit_intercept=False),
        pooled.Ridge(alpha=2.0, fit_intercept=False),
    ),
    "lasso": (PrivateLasso(alpha=0.3), pooled.Lasso(alpha=0.3, **TIGHT)),
    "strong lasso": (PrivateLasso(alpha=2.0), pooled.Lasso(alpha=2.0, **TIGHT)),
    "elastic net": (
        PrivateElasticNet(alpha=0.02, l1_ratio=0.7),
        pooled.ElasticNet(alpha=0.02, l1_ratio=0.7, **TIGHT),
    ),
    "elastic net, no intercept": (
        PrivateElasticNet(alpha=0.02, fit_intercept=False),
        pooled.ElasticNet(alpha=0.02, fit_intercept=False, **TIGHT),
    ),
}


def assert_equal(mine, theirs, X):
    for name in ("coef_", "intercept_"):
        ours, reference = np.asarray(getattr(mine, name)), np.asarray(getattr(theirs, name))
        assert ours.shape == reference.shape
        np.testing.assert_allclose(ours, reference, rtol=1e-6, atol=1e-6 * np.abs(reference).max(), err_msg=name)
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_on_diabetes(name, unequal):
    mine, theirs = LINEAR[name]
    X, y = load_diabetes(return_X_y=True)
    mine.fit(X, y, groups=unequal(y))
    theirs.fit(X, y)
    assert_equal(mine, theirs, X)
    assert ((mine.coef_ == 0) == (theirs.coef_ == 0)).all(), "a lasso drops the same columns"


def test_linear_models_in_awkward_units(unequal):
    """Columns in millions and in millionths, and a target far from zero: nobody has to scale anything."""
    X, y = load_diabetes(return_X_y=True)
    X = X * 10.0 ** np.linspace(-6, 7, X.shape[1]) + 1e3
    y = 1e6 + 1e-2 * y
    mine = PrivateLinearRegression().fit(X, y, groups=unequal(y))
    center = X.mean(axis=0)
    theirs = np.linalg.lstsq((X - center) / X.std(axis=0), y - y.mean())[0] / X.std(axis=0)
    np.testing.assert_allclose(mine.coef_, theirs, rtol=1e-4)
    np.testing.assert_allclose(mine.predict(X), y.mean() + (X - center) @ theirs, rtol=1e-9)


def test_least_squares_with_more_columns_than_records_are_the_shortest():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 20)) * np.linspace(0.1, 9.0, 20), rng.standard_normal(12)
    mine = PrivateLinearRegression().fit(X, y, groups=np.arange(12) % 4)
    theirs = pooled.LinearRegression().fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, atol=1e-8)


@pytest.mark.parametrize("C", [1.0, 0.01, 50.0])
def test_logistic_regression_on_breast_cancer(C, unequal):
    X, y = load_breast_cancer(return_X_y=True)
    mine = PrivateLogisticRegression(C=C).fit(X, y, groups=unequal(y, classes=True))
    theirs = pooled.LogisticRegression(C=C, solver="newton-cholesky", **TIGHT).fit(X, y)
    assert_equal(mine, theirs, X)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_multinomial_regression_on_wine(fit_intercept, unequal):
    X, y = load_wine(return_X_y=True)
    settings = {"C": 0.7, "fit_intercept": fit_intercept}
    mine = PrivateLogisticRegression(**settings).fit(X, y, groups=unequal(y, classes=True))
    theirs = pooled.LogisticRegression(**settings, solver="newton-cholesky", **TIGHT).fit(X, y)
    assert_equal(mine, theirs, X)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(mine.predict_log_proba(X), np.log(theirs.predict_proba(X)), atol=1e-6)


@pytest.mark.large
def test_logistic_regression_with_an_l1_penalty(unequal):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :8]
    mine = PrivateLogisticRegression(C=0.1, l1_ratio=1.0).fit(X, y, groups=unequal(y, classes=True))
    theirs = pooled.LogisticRegression(C=0.1, l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-6)
    assert (mine.coef_ == 0).any()


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_poisson_regression_on_counts(alpha, counts, unequal):
    X, y = counts
    mine = PrivatePoissonRegressor(alpha=alpha).fit(X, y, groups=unequal(y))
    theirs = pooled.PoissonRegressor(alpha=alpha, solver="newton-cholesky", **TIGHT).fit(X, y)
    assert_equal(mine, theirs, X)
    assert mine.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-9)


@pytest.mark.parametrize("settings", [{}, {"epsilon": 1.1, "alpha": 0.05}, {"fit_intercept": False}], ids=str)
def test_huber_regression_on_diabetes(settings, unequal, monkeypatch):
    """Scale and all. HuberRegressor lets L-BFGS stop at a relative decrease of 2e-9: here it may not."""
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    patient = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 0.0, "gtol": 1e-9, "maxcor": 50}
    minimize = optimize.minimize
    monkeypatch.setattr(
        _huber.optimize, "minimize", lambda *given, **more: minimize(*given, **{**more, "options": patient})
    )
    theirs = pooled.HuberRegressor(**settings).fit(X, y)
    mine = PrivateHuberRegressor(**settings).fit(X, y, groups=unequal(y))
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-6, atol=1e-6 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose([mine.intercept_, mine.scale_], [theirs.intercept_, theirs.scale_], rtol=1e-6)
    assert np.mean(np.abs(y - theirs.predict(X)) > theirs.epsilon * theirs.scale_) > 0.02, "some are outliers"


@pytest.mark.parametrize("settings", [{}, {"with_mean": False}, {"with_std": False}], ids=str)
def test_standardising(settings, unequal):
    X, y = load_wine(return_X_y=True)
    X = X + 1e5  # far from zero: squares of raw values would lose half of the digits
    mine = PrivateStandardScaler(**settings).fit(X, groups=unequal(y))
    theirs = StandardScaler(**settings).fit(X)
    np.testing.assert_allclose(mine.transform(X), theirs.transform(X), atol=1e-8)
    np.testing.assert_allclose(mine.inverse_transform(mine.transform(X)), X, rtol=1e-12)
    assert mine.n_samples_seen_ == len(X)


def test_the_parties_do_not_matter(unequal):
    """The same records dealt out in another way: the same model, to rounding."""
    X, y = load_wine(return_X_y=True)
    one = PrivateLogisticRegression().fit(X, y)
    other = PrivateLogisticRegression().fit(X, y, groups=unequal(y, classes=True))
    each = PrivateLogisticRegression().fit(X, y, groups=np.arange(len(y)) % 40)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-10)
    np.testing.assert_allclose(one.coef_, each.coef_, atol=1e-10)
    assert len(one.parties_) == 5
    assert len(each.parties_) == 40
