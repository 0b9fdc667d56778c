"""Standard errors, tests and intervals are those of statsmodels on the pooled records."""

import json

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import tacit.learning.model
from tacit.learning import (
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
)
from tacit.solving.solve import CollinearWarning


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def assert_summary(summary, reference):
    columns = {
        "params": summary.coefficients, "bse": summary.standard_errors, "tvalues": summary.statistic,
        "pvalues": summary.p_values,
    }  # fmt: skip
    for name, ours in columns.items():
        theirs = np.asarray(getattr(reference, name)).T.ravel()
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-12, err_msg=name)
    interval = np.asarray(reference.conf_int()).reshape(-1, 2)
    np.testing.assert_allclose(summary.intervals(), interval, rtol=1e-5, atol=1e-5 * np.abs(interval).max())


def test_least_squares(unequal):
    X, y = load_diabetes(return_X_y=True)
    model = PrivateLinearRegression().fit(X, y, groups=unequal(y))
    reference = sm.OLS(y, with_ones(X)).fit()
    assert_summary(model.summary_, reference)
    facts = dict(model.summary_.facts)
    assert facts["R²"] == pytest.approx(reference.rsquared, abs=1e-10)
    assert facts["residual std err"] == pytest.approx(np.sqrt(reference.scale), rel=1e-10)
    np.testing.assert_array_equal(model.standard_errors_, model.summary_.standard_errors[:-1])
    assert model.intercept_standard_error_ == model.summary_.standard_errors[-1]


def test_least_squares_without_an_intercept(unequal):
    X, y = load_diabetes(return_X_y=True)
    model = PrivateLinearRegression(fit_intercept=False).fit(X, y, groups=unequal(y))
    assert_summary(model.summary_, sm.OLS(y, X).fit())


def test_logistic(unequal):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [0, 1, 4]]
    model = PrivateLogisticRegression(C=np.inf).fit(X, y, groups=unequal(y, classes=True))
    reference = sm.Logit(y, with_ones(X)).fit(disp=0, tol=1e-12, maxiter=100)
    assert_summary(model.summary_, reference)
    facts = dict(model.summary_.facts)
    assert facts["log-likelihood"] == pytest.approx(reference.llf, abs=1e-7)
    assert facts["pseudo R²"] == pytest.approx(reference.prsquared, abs=1e-7)


def test_multinomial(unequal):
    """Against the first class, as MNLogit has it."""
    X, y = load_wine(return_X_y=True)
    X = X[:, [0, 2, 4]]
    model = PrivateLogisticRegression(C=np.inf).fit(X, y, groups=unequal(y, classes=True))
    reference = sm.MNLogit(y, with_ones(X)).fit(disp=0, method="newton", tol=1e-12, maxiter=200)
    assert_summary(model.summary_, reference)
    assert model.standard_errors_.shape == model.coef_.shape
    np.testing.assert_allclose(model.coef_[1:] - model.coef_[0], reference.params[:-1].T, rtol=1e-6)


def test_poisson(counts, unequal):
    X, y = counts
    model = PrivatePoissonRegressor(alpha=0.0).fit(X, y, groups=unequal(y))
    reference = sm.GLM(y, with_ones(X), family=sm.families.Poisson()).fit(tol=1e-12)
    assert_summary(model.summary_, reference)
    facts = dict(model.summary_.facts)
    assert facts["log-likelihood"] == pytest.approx(reference.llf, rel=1e-9)
    assert facts["deviance"] == pytest.approx(reference.deviance, rel=1e-9)


def test_a_ridge_has_the_variance_of_its_linear_map(unequal):
    """w = (X'X + α)⁻¹X'y: its covariance is σ² A⁻¹ X'X A⁻¹."""
    X, y = load_diabetes(return_X_y=True)
    model = PrivateRidge(alpha=0.5).fit(X, y, groups=unequal(y))
    A = with_ones(X)
    inverse = np.linalg.inv(A.T @ A + np.diag([*[0.5] * 10, 0.0]))
    residual = y - model.predict(X)
    variance = residual @ residual / (len(y) - np.trace(inverse @ A.T @ A))
    expected = np.sqrt(np.diag(variance * inverse @ A.T @ A @ inverse))
    np.testing.assert_allclose(model.summary_.standard_errors, expected, rtol=1e-8)


@pytest.mark.parametrize("model", [PrivateLasso(alpha=0.1), PrivateHuberRegressor()], ids=repr)
def test_models_without_standard_errors_say_nothing(model):
    X, y = load_diabetes(return_X_y=True)
    summary = model.fit(X, y).summary_
    assert not summary.has_errors
    assert "std err" not in str(summary)
    assert all(row["std_err"] is None for row in summary.to_dict()["coefficients"])


def test_collinear_columns_have_no_standard_errors_and_are_named():
    """The others keep theirs, as in the model without the column too many; the answer is the shortest."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 2))
    y = X @ [1.0, 2.0] + rng.standard_normal(40)
    with pytest.warns(CollinearWarning, match="column\\(s\\) x0 and x2 are not told apart"):
        model = PrivateLinearRegression().fit(np.column_stack([X, X[:, 0]]), y)
    fewer = PrivateLinearRegression().fit(X, y)
    assert np.isnan(model.standard_errors_).tolist() == [True, False, True]
    assert model.coef_[0] == pytest.approx(model.coef_[2], rel=1e-12)
    np.testing.assert_allclose(model.coef_[0] + model.coef_[2], fewer.coef_[0], rtol=1e-10)
    np.testing.assert_allclose(model.standard_errors_[1], fewer.standard_errors_[1], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_standard_error_, fewer.intercept_standard_error_, rtol=1e-9)
    printed = str(model.summary_)
    assert "x0 and x2 are not told apart" in printed
    assert "no standard error for x0, x2" in printed
    assert model.summary_.to_dict()["notes"]


def test_very_many_columns_have_coefficients_and_no_standard_errors(monkeypatch):
    """Hessians of thousands of unknowns are not added up once more; here the limit is lower."""
    monkeypatch.setattr(tacit.learning.model, "ONCE", 100)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 160))
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    ridge = PrivateRidge(alpha=300.0).fit(X, y)
    center = X - X.mean(axis=0)
    expected = center.T @ np.linalg.solve(center @ center.T + 300.0 * np.eye(60), y - y.mean())
    np.testing.assert_allclose(ridge.coef_, expected, atol=1e-8)
    logistic = PrivateLogisticRegression(C=0.001).fit(X, y > 0)
    for model in (ridge, logistic):
        assert np.isnan(model.standard_errors_).all()
        assert not model.summary_.has_errors


def test_a_summary_prints_and_survives_json(counts):
    X, y = counts
    summary = PrivatePoissonRegressor(alpha=0.0).fit(X, y).summary_
    text = str(summary)
    assert "std err" in text
    assert "(intercept)" in text
    assert "P>|z|" in text
    assert json.loads(json.dumps(summary.to_dict(), allow_nan=False))["observations"] == 300
