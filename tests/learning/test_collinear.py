"""Columns that are nearly or exactly alike, rare, huge or constant: solved, or named with a bound."""

import warnings

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression

import tacit
from tacit.errors import DataError
from tacit.learning import (
    PrivateImputer,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateOneHotEncoder,
    PrivatePoissonRegressor,
    PrivateStandardScaler,
)
from tacit.masks import SumMasks
from tacit.solving.solve import CollinearWarning, NotPrivateWarning

PARTIES = np.arange(200) % 4


def alike(distance, seed=0):
    """Return two columns alike to *distance*, a third, and labels that hang on what sets the two apart."""
    rng = np.random.default_rng(seed)
    a, apart = rng.standard_normal((2, 200))
    X = np.column_stack([a, a + distance * apart, rng.standard_normal(200)])
    return X, a + 10.0 * apart + rng.standard_normal(200), a + 2.0 * apart


@pytest.mark.parametrize("distance", [1e-3, 5e-6, 1e-6, 1e-7, 1e-8, 1e-9])
def test_columns_nearly_alike_are_fitted_as_scikit_learn_fits_them(distance):
    X, y, _ = alike(distance)
    model = PrivateLinearRegression().fit(X, y, groups=PARTIES)
    theirs = LinearRegression(tol=1e-15).fit(X, y)
    assert model.answer_.converged
    assert model.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-7)
    assert dict(model.summary_.facts)["R²"] == pytest.approx(model.score(X, y), abs=1e-7)
    assert np.isfinite(model.standard_errors_).all()


@pytest.mark.parametrize("name", ["direct", "newton"])
@pytest.mark.parametrize("masks", [None, SumMasks(bound=2.0**60, words=2)], ids=["no masks", "sums"])
def test_columns_alike_to_a_millionth_reach_the_least_residual(name, masks):
    X, y, _ = alike(1e-6)
    costs = [tacit.LeastSquares(X[k == PARTIES], y[k == PARTIES]) for k in range(4)]
    answer = tacit.solve(tacit.Problem(nx.complete_graph(4), costs), algorithm=name, privacy=masks)
    least = np.linalg.norm(y - X @ np.linalg.lstsq(X, y)[0])
    assert answer.converged
    assert np.linalg.norm(y - X @ answer.x) == pytest.approx(least, rel=1e-9)


def test_likelihoods_of_columns_nearly_alike_are_the_largest():
    """Against the same models with the difference itself as a column, which span the same."""
    X, _, signal = alike(1e-6)
    rng = np.random.default_rng(1)
    well = np.column_stack([X[:, 0], (X[:, 1] - X[:, 0]) / 1e-6, X[:, 2]])
    for model, y in (
        (PrivateLogisticRegression(C=np.inf), rng.random(200) < 1 / (1 + np.exp(-signal))),
        (PrivatePoissonRegressor(alpha=0.0), rng.poisson(np.exp(np.clip(signal, -2, 2)))),
    ):
        near, apart = (dict(model.fit(rows, y, groups=PARTIES).summary_.facts) for rows in (X, well))
        assert near["log-likelihood"] == pytest.approx(apart["log-likelihood"], abs=1e-6)


def test_standard_errors_of_columns_nearly_alike_are_right():
    """se(x₀ column) follows from the same model in other coordinates: w = T v, cov(w) = T cov(v) Tᵀ."""
    X, y, _ = alike(1e-7)
    well = np.column_stack([X[:, 0], (X[:, 1] - X[:, 0]) / 1e-7, X[:, 2]])
    near, apart = (PrivateLinearRegression().fit(rows, y, groups=PARTIES) for rows in (X, well))
    # y = v₀ a + v₁ (b − a)/d:  w_b = v₁/d
    assert near.standard_errors_[1] == pytest.approx(apart.standard_errors_[1] / 1e-7, rel=1e-6)
    assert near.standard_errors_[2] == pytest.approx(apart.standard_errors_[2], rel=1e-6)


@pytest.mark.parametrize("distance", [1e-15, 0.0])
def test_what_no_digit_tells_apart_is_named_with_a_bound(distance):
    X, y, _ = alike(distance)
    with pytest.warns(CollinearWarning, match="x0 and x1 are not told apart"):
        model = PrivateLinearRegression().fit(X, y, groups=PARTIES)
    assert model.answer_.record.doubt.share > 0
    assert model.coef_[0] == pytest.approx(model.coef_[1], rel=1e-9)  # the shortest
    assert np.isnan(model.standard_errors_[:2]).all()
    assert np.isfinite(model.standard_errors_[2])


@pytest.mark.parametrize("trial", range(12))
def test_a_lasso_of_one_hot_columns_is_that_of_scikit_learn(trial):
    rng = np.random.default_rng(trial)
    n, k = 120, (3, 5, 8)[trial % 3]
    factors = [np.eye(k)[rng.integers(0, k, n)] for _ in range(1 + trial // 6)]
    X = np.column_stack([*factors, rng.standard_normal((n, 2))])
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(n)
    alpha = (1e-3, 1e-2, 0.1, 1.0)[trial % 4]

    def objective(model):
        return ((y - model.predict(X)) ** 2).sum() / (2 * n) + alpha * np.abs(model.coef_).sum()

    mine = PrivateLasso(alpha=alpha).fit(X, y, groups=np.arange(n) % 4)
    assert mine.answer_.converged
    assert objective(mine) <= objective(Lasso(alpha=alpha, tol=1e-12, max_iter=100_000).fit(X, y)) + 1e-10


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_an_l1_penalty_on_sparse_binary_columns_meets_its_optimality_conditions(share):
    rng = np.random.default_rng(0)
    X = (rng.random((150, 30)) < share).astype(float)
    X = X[:, X.std(axis=0) > 0]
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(150) > 0
    model = PrivateLogisticRegression(C=1.0, l1_ratio=1.0).fit(X, y, groups=np.arange(150) % 4)
    assert model.answer_.converged
    slope = X.T @ (model.predict_proba(X)[:, 1] - y)
    w = model.coef_[0]
    assert np.abs(slope[w == 0]).max(initial=0.0) <= 1 + 1e-6
    np.testing.assert_allclose(slope[w != 0], -np.sign(w[w != 0]), atol=1e-6)


@pytest.mark.parametrize("size", [5e8, 1e12])
def test_units_need_no_care(size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = X @ [1.0, 2.0] + rng.standard_normal(200)
    small = PrivateLinearRegression().fit(X, y, groups=PARTIES)
    for wide in (X * [size, 1.0], X * [size, 1.0] + [size, 0.0]):
        large = PrivateLinearRegression().fit(wide, y, groups=PARTIES)
        np.testing.assert_allclose(large.coef_ * [size, 1.0], small.coef_, rtol=1e-9)
        assert large.score(wide, y) == pytest.approx(small.score(X, y), rel=1e-9)
    scaled = PrivateStandardScaler().fit(X * [size, 1.0], groups=PARTIES)
    np.testing.assert_allclose(scaled.scale_, X.std(axis=0) * [size, 1.0], rtol=1e-12)


def test_labels_that_differ_in_nothing_but_case_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.array(["yes", "no"] * 15, dtype=object)
    groups = np.repeat(["north", "south", "west"], 10)
    y[(groups == "west") & (y == "yes")] = "Yes "
    with pytest.raises(DataError, match="party north has the label 'yes' and party west has 'Yes '"):
        PrivateLogisticRegression().fit(X, y, groups=groups)
    three = PrivateLogisticRegression(classes=["Yes ", "no", "yes"]).fit(X, y, groups=groups)
    assert len(three.classes_) == 3


def test_parties_that_do_not_exist_are_no_privacy():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    with pytest.warns(NotPrivateWarning, match="parties that do not exist"):
        model = PrivateLinearRegression().fit(X, y)
    assert not model.certificate_.is_private
    assert not model.answer_.record.private
    assert [stamp.reason for stamp in model.certificate_.stamps] == ["made-up parties"]
    with pytest.warns(NotPrivateWarning, match="parties that do not exist"):
        assert not PrivateStandardScaler().fit(X).certificate_.is_private


def test_gaps_are_filled_by_means_of_what_all_parties_have():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + np.array([0.0, 5.0, -3.0])
    X[rng.random(X.shape) < 0.2] = np.nan
    imputer = PrivateImputer().fit(X, groups=np.arange(60) % 3)
    np.testing.assert_allclose(imputer.statistics_, np.nanmean(X, axis=0), rtol=1e-12)
    filled = imputer.transform(X)
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert not np.isnan(filled).any()
    assert imputer.certificate_.is_private
    X[:, 1] = np.nan
    with pytest.raises(DataError, match="column 'x1': no party has a value"):
        PrivateImputer().fit(X, groups=np.arange(60) % 3)


def test_levels_are_declared_and_not_looked_for():
    X = np.array([["a", "x"], ["b", "x"], ["a", "y"], ["b", "y"]], dtype=object)
    groups = ["north", "south", "west", "west"]
    levels = [["a", "b", "c"], ["x", "y"]]
    declared = PrivateOneHotEncoder(levels, drop="first").fit(X, groups=groups)
    assert declared.get_feature_names_out().tolist() == ["x0_b", "x0_c", "x1_y"]
    assert declared.transform(X).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]
    present = PrivateOneHotEncoder(levels, keep="present").fit(X, groups=groups)
    assert [level.tolist() for level in present.categories_] == [["a", "b"], ["x", "y"]]
    with pytest.raises(DataError, match="party south, column 'x0': has a level") as raised:
        PrivateOneHotEncoder([["a"], ["x", "y"]]).fit(X, groups=groups)
    assert "'b'" not in str(raised.value)
    with pytest.raises(tacit.TacitError, match="levels must be given"):
        PrivateOneHotEncoder().fit(X, groups=groups)


def test_gossip_that_stands_still_far_from_the_optimum_is_not_called_converged():
    X, y, _ = alike(1e-10)
    costs = [tacit.LeastSquares(X[k == PARTIES], y[k == PARTIES]) for k in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    for name in ("nids", "extra", "lbfgs"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = tacit.solve(problem, algorithm=name, max_rounds=500)
        assert not answer.converged, name
