"""The estimators are scikit-learn's in every respect: its own checks, and its tools."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit.learning as learning
from tacit.learning import (
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
    PrivateStandardScaler,
)

NAMES = [name for name in learning.__all__ if name.startswith("Private") and name != "PrivateOneHotEncoder"]
ESTIMATORS = [getattr(learning, name)() for name in NAMES]  # an encoder must be told its levels before it is fitted


FIRST = [PrivateLogisticRegression(), PrivateRidge(), PrivateStandardScaler()]  # classifier, regressor, transformer
OTHERS = [each for each in ESTIMATORS if type(each) not in map(type, FIRST)]


@parametrize_with_checks(FIRST)
@pytest.mark.filterwarnings("default")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.estimators
@parametrize_with_checks(OTHERS)
@pytest.mark.filterwarnings("default")
def test_scikit_learns_own_checks_of_the_others(estimator, check):
    check(estimator)


def test_all_nine_are_checked():
    assert len(ESTIMATORS) == 9
    assert {type(each) for each in FIRST + OTHERS} == {type(each) for each in ESTIMATORS}
    assert len(FIRST) + len(OTHERS) == 9


@pytest.fixture
def wine():
    frame = load_wine(as_frame=True)
    return frame.data[["alcohol", "ash", "hue", "proline"]], frame.target


def test_pipeline_with_parties_in_every_step(wine, unequal):
    X, y = wine
    groups = unequal(y.to_numpy(), classes=True)
    pipe = make_pipeline(PrivateStandardScaler(), PrivateLogisticRegression())
    pipe.fit(X, y, privatestandardscaler__groups=groups, privatelogisticregression__groups=groups)
    reference = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-12)).fit(X, y)
    np.testing.assert_allclose(pipe[-1].coef_, reference[-1].coef_, atol=1e-6)
    assert set(pipe[0].ledger_.release.participants) == set(groups)


def test_grid_search_finds_what_it_finds_on_pooled_records():
    X, y = load_diabetes(return_X_y=True)
    grid, folds = {"alpha": [1e-3, 0.1, 10.0]}, KFold(4, shuffle=True, random_state=0)
    mine = GridSearchCV(PrivateRidge(), grid, cv=folds).fit(X, y)
    theirs = GridSearchCV(Ridge(), grid, cv=folds).fit(X, y)
    assert mine.best_params_ == theirs.best_params_
    np.testing.assert_allclose(
        mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-8
    )


def test_grid_search_hands_the_parties_on():
    """With scikit-learn's routing, groups reach the splitter and the model alike."""
    X, y = load_diabetes(return_X_y=True)
    groups = np.arange(len(y)) % 9
    with sklearn.config_context(enable_metadata_routing=True):
        model = PrivateRidge().set_fit_request(groups=True)
        search = GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert set(search.best_estimator_.parties_) == set(range(9))


def test_cross_validation_and_clone_leave_the_model_alone():
    X, y = load_breast_cancer(return_X_y=True)
    model = PrivateLogisticRegression(C=0.3, any=2, network="complete")
    assert cross_val_score(model, X, y, cv=3).min() > 0.9
    assert not hasattr(model, "coef_")
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_pickle_keeps_everything_and_no_record(estimator):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 3)) + 123.456, rng.integers(0, 2, 40)
    with warnings.catch_warnings():  # the scale of half-exact labels tends to zero, as Huber's regression says
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(estimator).fit(X, y)
    stored = pickle.dumps(fitted)
    again = pickle.loads(stored)  # noqa: S301
    method = "transform" if hasattr(fitted, "transform") else "predict"
    np.testing.assert_array_equal(getattr(again, method)(X), getattr(fitted, method)(X))
    assert again.certificate_.statement() == fitted.certificate_.statement()
    assert str(again.ledger_) == str(fitted.ledger_)
    assert not any(value.tobytes() in stored for value in X.ravel()), "a fitted model holds no record"


def test_pandas_in_and_names_kept(wine):
    X, y = wine
    groups = pd.Series(
        np.where(np.arange(len(y)) < 60, "north", np.where(np.arange(len(y)) < 120, "south", "west"))
    )
    model = PrivateLogisticRegression(C=np.inf).fit(X, y, groups=groups)
    assert model.feature_names_in_.tolist() == ["alcohol", "ash", "hue", "proline"]
    assert "1: alcohol" in model.summary_.names
    assert model.parties_ == ("north", "south", "west")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"ash": "dust"}))
    scaler = PrivateStandardScaler().fit(X, groups=groups)
    assert scaler.get_feature_names_out().tolist() == X.columns.tolist()
    framed = scaler.set_output(transform="pandas").transform(X)
    assert framed.columns.tolist() == X.columns.tolist()


def test_one_frame_per_party(wine):
    X, y = wine
    parts = {"north": (X[:50], y[:50]), "south": (X[50:51], y[50:51]), "west": (X[51:], y[51:])}
    by_name = PrivateLogisticRegression().fit_parties(parts)
    in_a_list = PrivateLogisticRegression().fit_parties([(a.to_numpy(), b.to_numpy()) for a, b in parts.values()])
    together = PrivateLogisticRegression().fit(X, y, groups=np.repeat(["north", "south", "west"], [50, 1, 127]))
    np.testing.assert_array_equal(by_name.coef_, together.coef_)
    np.testing.assert_array_equal(in_a_list.coef_, together.coef_)
    assert by_name.parties_ == ("north", "south", "west")
    assert in_a_list.parties_ == (0, 1, 2)
    scaler = PrivateStandardScaler().fit_parties({name: frame for name, (frame, _) in parts.items()})
    np.testing.assert_allclose(scaler.mean_, X.to_numpy().mean(axis=0))


def test_words_as_classes():
    X, y = load_wine(return_X_y=True)
    words = np.array(["barolo", "grignolino", "barbera"])[y]
    model = PrivateLogisticRegression(classes=["grignolino", "barolo", "barbera"]).fit(X, words)
    assert model.classes_.tolist() == ["grignolino", "barolo", "barbera"], "in the order that was agreed"
    assert (model.predict(X) == words).mean() > 0.95
    assert PrivateLogisticRegression().fit(X, words).classes_.tolist() == ["barbera", "barolo", "grignolino"]


def test_settings_that_mean_nothing_are_refused():
    X, y = load_diabetes(return_X_y=True)
    for model in (
        PrivateRidge(alpha=-1.0),
        PrivateLogisticRegression(C=0.0),
        learning.PrivateHuberRegressor(epsilon=0.5),
    ):
        with pytest.raises(learning_error(), match="must be"):
            model.fit(X, (y > 100).astype(float))
    with pytest.raises(learning_error(), match="two classes"):
        PrivateLogisticRegression(l1_ratio=0.5).fit(*load_wine(return_X_y=True))


def learning_error():
    from tacit.errors import InputError

    return InputError


def test_an_early_stop_is_said():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="2 rounds were not enough"):
        PrivateLogisticRegression(max_iter=2).fit(X, y)


def test_records_that_fit_perfectly(counts):
    X, _ = counts
    y = X @ [1.0, 2.0, 3.0, 4.0]
    model = learning.PrivateHuberRegressor().fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-6)
    np.testing.assert_allclose(PrivateLinearRegression().fit(X, y).coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-8)
    assert PrivatePoissonRegressor().fit(X, np.ones(len(X))).predict(X) == pytest.approx(np.ones(len(X)))
