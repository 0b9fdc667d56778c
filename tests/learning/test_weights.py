"""Weights, classes' weights and offsets: what scikit-learn and statsmodels have on the pooled records."""

import json
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)

from tacit.costs import Huber, LeastSquares, Logistic, Multinomial, Poisson, stack
from tacit.errors import CostError, DataError, InputError
from tacit.learning import (
    PrivateElasticNet,
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
)

RNG = np.random.default_rng(23)
N = 150
X = np.column_stack([RNG.normal(60, 10, N), RNG.normal(2, 1, N), RNG.integers(0, 2, N)])
ETA = 0.05 * (X[:, 0] - 60) - 0.6 * (X[:, 1] - 2) + 0.4 * X[:, 2]
PARTY = np.array(["north", "south", "west", "east"])[RNG.integers(0, 4, N)]
W = RNG.choice([0.0, 0.5, 1.0, 2.0, 3.5], N)
OFFSET = RNG.normal(0, 0.5, N)
AMOUNT = 5 + ETA + RNG.normal(size=N)
COUNT = RNG.poisson(np.exp(0.5 + 0.4 * ETA + OFFSET)).astype(float)
BINARY = (RNG.random(N) < 1 / (1 + np.exp(-ETA - OFFSET))).astype(int)
THREE = RNG.integers(0, 3, N)


@pytest.mark.parametrize(
    ("mine", "theirs", "y"),
    [
        (PrivateLinearRegression(), LinearRegression(), AMOUNT),
        (PrivateRidge(3.0), Ridge(3.0, tol=1e-12), AMOUNT),
        (PrivateLasso(0.1), Lasso(0.1, tol=1e-12, max_iter=100_000), AMOUNT),
        (PrivateElasticNet(0.1), ElasticNet(0.1, tol=1e-12, max_iter=100_000), AMOUNT),
        (
            PrivatePoissonRegressor(alpha=0.1),
            PoissonRegressor(alpha=0.1, tol=1e-12, solver="newton-cholesky"),
            COUNT,
        ),
        (PrivateLogisticRegression(C=0.7), LogisticRegression(C=0.7, tol=1e-12, solver="newton-cholesky"), BINARY),
        (PrivateLogisticRegression(C=0.7), LogisticRegression(C=0.7, tol=1e-12, solver="newton-cholesky"), THREE),
        (
            PrivateLogisticRegression(class_weight="balanced"),
            LogisticRegression(class_weight="balanced", tol=1e-12, solver="newton-cholesky"),
            BINARY,
        ),
        (
            PrivateLogisticRegression(class_weight={0: 3.0}),
            LogisticRegression(class_weight={0: 3.0}, tol=1e-12, solver="newton-cholesky"),
            THREE,
        ),
        (PrivateHuberRegressor(), HuberRegressor(tol=1e-10, max_iter=10_000), AMOUNT),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_weighted_fits_are_those_of_scikit_learn(mine, theirs, y):
    weights = None if getattr(mine, "class_weight", None) == "balanced" else W
    mine.fit(X, y, groups=PARTY, sample_weight=weights)
    theirs.fit(X, y, sample_weight=weights)
    rough = 2e-3 if isinstance(theirs, HuberRegressor) else 1e-6
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=rough, atol=1e-8)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=rough, atol=1e-6)


def test_standard_errors_with_weights_are_those_of_statsmodels():
    A = np.column_stack([X, np.ones(N)])
    model = PrivateLinearRegression().fit(X, AMOUNT, groups=PARTY, sample_weight=W)
    reference = sm.WLS(AMOUNT, A, weights=W).fit()
    np.testing.assert_allclose(model.standard_errors_, reference.bse[:3], rtol=1e-8)
    assert dict(model.summary_.facts)["R²"] == pytest.approx(reference.rsquared, rel=1e-8)
    kept = W > 0
    model = PrivateLogisticRegression(C=np.inf).fit(X, BINARY, groups=PARTY, sample_weight=W)
    reference = sm.GLM(BINARY[kept], A[kept], family=sm.families.Binomial(), freq_weights=W[kept]).fit(tol=1e-12)
    np.testing.assert_allclose(model.coef_[0], reference.params[:3], rtol=1e-6)
    np.testing.assert_allclose(model.standard_errors_[0], reference.bse[:3], rtol=1e-6)
    assert dict(model.summary_.facts)["log-likelihood"] == pytest.approx(reference.llf, rel=1e-8)


def test_offsets_and_exposures_are_those_of_statsmodels():
    A = np.column_stack([X, np.ones(N)])
    model = PrivatePoissonRegressor(alpha=0.0).fit(X, COUNT, groups=PARTY, offset=OFFSET)
    reference = sm.GLM(COUNT, A, family=sm.families.Poisson(), offset=OFFSET).fit(tol=1e-12)
    np.testing.assert_allclose(model.coef_, reference.params[:3], rtol=1e-6)
    np.testing.assert_allclose(model.standard_errors_, reference.bse[:3], rtol=1e-6)
    assert dict(model.summary_.facts)["deviance"] == pytest.approx(reference.deviance, rel=1e-8)
    model = PrivateLogisticRegression(C=np.inf).fit(X, BINARY, groups=PARTY, offset=OFFSET, sample_weight=W + 0.5)
    reference = sm.GLM(
        BINARY, A, family=sm.families.Binomial(), offset=OFFSET, freq_weights=W + 0.5
    ).fit(tol=1e-12)  # fmt: skip
    np.testing.assert_allclose(model.coef_[0], reference.params[:3], rtol=1e-6)
    model = PrivateRidge(2.0).fit(X, AMOUNT, groups=PARTY, offset=OFFSET)
    np.testing.assert_allclose(model.coef_, Ridge(2.0, tol=1e-12).fit(X, AMOUNT - OFFSET).coef_, rtol=1e-8)


@pytest.mark.parametrize("family", [Logistic, Poisson, LeastSquares, Multinomial])
def test_a_whole_weight_is_as_many_records(family):
    """Values, gradients and Hessians; a stack of agents with other numbers of rows; a gradient by differences."""
    more = {"classes": 3} if family is Multinomial else {}
    y = {Logistic: BINARY, Poisson: COUNT, LeastSquares: AMOUNT, Multinomial: THREE}[family]
    Z, times = (X - X.mean(axis=0)) / X.std(axis=0), RNG.integers(0, 4, N)
    once = family(Z, y, weight=times.astype(float), intercept=True, l2=0.1, **more)
    often = family(np.repeat(Z, times, axis=0), np.repeat(y, times), intercept=True, l2=0.1, **more)
    x = 0.3 * RNG.normal(size=once.dim)
    np.testing.assert_allclose(once.value(x), often.value(x), rtol=1e-10)
    np.testing.assert_allclose(once.grad(x), often.grad(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(once.hess(x), often.hess(x), rtol=1e-9, atol=1e-9)
    B = RNG.normal(size=(once.dim, 2))
    np.testing.assert_allclose(once.grad_along(x, B), once.grad(x) @ B, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(once.hess_along(x, B), B.T @ once.hess(x) @ B, rtol=1e-8, atol=1e-8)
    assert once.lowest <= once.value(x)
    part = family(Z[:140], y[:140], weight=times[:140].astype(float), intercept=True, l2=0.1, **more)
    together = stack([once, part])
    np.testing.assert_allclose(together.grad(x), [once.grad(x), part.grad(x)], rtol=1e-12)


def test_what_makes_no_sense_is_refused():
    model = PrivateRidge()
    for bad in (np.ones(N - 1), -np.ones(N), np.full(N, np.nan), np.ones((N, 2)), ["x"] * N):
        with pytest.raises(DataError, match="sample_weight"):
            model.fit(X, AMOUNT, groups=PARTY, sample_weight=bad)
    with pytest.raises(DataError, match="the weight zero"):
        model.fit(X, AMOUNT, groups=PARTY, sample_weight=np.zeros(N))
    with pytest.raises(InputError, match="offset is for two classes"):
        PrivateLogisticRegression().fit(X, THREE, groups=PARTY, offset=OFFSET)
    with pytest.raises(InputError, match="neither 'balanced'"):
        PrivateLogisticRegression(class_weight="even").fit(X, BINARY, groups=PARTY)
    with pytest.raises(InputError, match="names 7"):
        PrivateLogisticRegression(class_weight={7: 1.0}).fit(X, BINARY, groups=PARTY)
    with pytest.raises(CostError, match="weight needs a number"):
        Logistic(X, BINARY, weight=[1.0])
    with pytest.raises(TypeError):
        Huber(X, AMOUNT, weight=W)


def test_weights_and_exposures_of_files(tmp_path, monkeypatch, capsys):
    from tacit.cli import main

    monkeypatch.chdir(tmp_path)
    exposure = np.exp(OFFSET).round(4)
    for name in np.unique(PARTY):
        rows = np.column_stack([X, W, exposure, COUNT])[name == PARTY]
        np.savetxt(f"{name}.csv", rows, delimiter=",", header="age,dose,sex,w,days,n", comments="", fmt="%.17g")
    files = sorted(str(path) for path in Path().glob("*.csv"))
    words = ["fit", *files, "--target", "n", "--model", "poisson", "--weight", "w", "--exposure", "days", "--json"]
    monkeypatch.setattr("sys.argv", ["tacit", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told = json.loads(capsys.readouterr().out)
    kept = W > 0
    reference = sm.GLM(
        COUNT[kept], np.column_stack([X, np.ones(N)])[kept], family=sm.families.Poisson(),
        offset=np.log(exposure[kept]), freq_weights=W[kept],
    ).fit(tol=1e-12)  # fmt: skip
    assert [row["name"] for row in told["coefficients"]] == ["age", "dose", "sex", "(intercept)"]
    np.testing.assert_allclose([row["coef"] for row in told["coefficients"]], reference.params, rtol=1e-6)
    np.testing.assert_allclose([row["std_err"] for row in told["coefficients"]], reference.bse, rtol=1e-6)
