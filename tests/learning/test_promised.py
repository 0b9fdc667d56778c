"""Estimators with a promise about the answer: nothing exact beside it, and what is refused."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import tacit
from tacit.learning import (
    PrivateElasticNet,
    PrivateHuberRegressor,
    PrivateImputer,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
)
from tacit.runtimes import stacked


@pytest.fixture
def records():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1.0, 1.0, size=(4000, 3))
    return X, X @ np.array([2.0, -1.0, 0.5]), np.arange(4000) % 8


def odds(**settings):
    usual = {"epsilon": 2.0, "delta": 1e-6, "clip": 2.0, "classes": ["no", "yes"], "C": 10.0, "any": 2}
    return PrivateLogisticRegression(**usual | settings)


def ridge(**settings):
    return PrivateRidge(**{"epsilon": 2.0, "delta": 1e-6, "clip": 2.0, "labels": 4.0, "any": 2} | settings)


def test_a_private_fit_predicts_and_says_what_it_promises(records, tmp_path):
    X, y, groups = records
    words = np.where(y > 0, "yes", "no")
    model = odds().fit(X, words, groups=groups)
    assert model.score(X, words) > 0.9
    assert (model.guarantee_.unit, model.guarantee_.epsilon, model.guarantee_.any) == ("record", 2.0, 2)
    line = ridge().fit(X, y, groups=groups)
    assert line.score(X, y) > 0.9
    assert line.noise_errors_.shape == (4,)
    assert model.summary_.has_errors
    assert not line.summary_.has_errors
    assert (model.standard_errors_ > model.noise_errors_[:3]).all()
    assert model.standard_errors_.shape == model.coef_.shape
    assert 0.0 < model.score_noise(X, words, seed=1) < 0.1
    assert 0.0 < line.score_noise(X, y, seed=1) < 0.1
    for fitted in (model, line):
        assert fitted.summary_.observations is None
        assert clone(fitted).get_params() == fitted.get_params()
        assert "differentially private" in str(fitted.summary_)
        assert fitted.guarantee_.headline() in fitted.answer_.privacy()
        fitted.report(tmp_path / f"{type(fitted).__name__}.html")


def test_nothing_but_the_promised_sums_is_added_up(records, monkeypatch):
    """Means, scales, numbers of records and class counts are exact elsewhere: here there is one run, with shares."""
    X, y, groups = records
    jobs, run = [], stacked.run
    monkeypatch.setitem(
        tacit.runtimes.RUNTIMES, "stacked", lambda job, progress: jobs.append(job) or run(job, progress)
    )
    odds().fit(X, np.where(y > 0, "yes", "no"), groups=groups)
    ridge().fit(X, y, groups=groups)
    assert [type(job.algorithm).__name__ for job in jobs] == ["NoisyNewton", "NoisyDirect"]
    assert all(job.privacy.answer is not None for job in jobs)


@pytest.mark.parametrize("unusual", [0.0, 1e50])
def test_an_unusual_record_changes_nothing_but_the_noisy_answer(records, unusual):
    X, y, groups = records
    X, words = X.copy(), np.where(y > 0, "yes", "no").astype(object)
    X[7], words[7] = unusual, "maybe"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, line = (
            odds().fit(X, words, groups=groups),
            ridge().fit(X, np.where(X[:, 0] > 2, 1e9, y), groups=groups),
        )
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(line.coef_).all()
    assert model.n_iter_ == 10


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"delta": None}, "needs delta"),
        ({"clip": None}, "clip is missing"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"classes": None}, "declared beforehand"),
        ({"classes": ["a", "b", "c"]}, "declared beforehand"),
        ({"class_weight": "balanced"}, "declared beforehand"),
        ({"l1_ratio": 0.5}, "declared beforehand"),
        ({"privacy": None}, "privacy = 'sums'"),
        ({"any": 7}, "honest"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1e-3, "records": 4000}, "1/4000"),
        ({"epsilon": None}, "delta and clip belong to a promise"),
    ],
)
def test_settings_that_would_not_keep_the_promise_are_refused_in_one_sentence(records, settings, word):
    X, y, groups = records
    with pytest.raises(tacit.TacitError, match=word) as refused:
        odds(**settings).fit(X, np.where(y > 0, "yes", "no"), groups=groups)
    assert str(refused.value).count(". ") == 0


@pytest.mark.parametrize(
    "kind",
    [PrivatePoissonRegressor, PrivateLasso, PrivateElasticNet, PrivateLinearRegression, PrivateImputer],
)
def test_models_without_bounded_sensitivity_refuse_epsilon(kind):
    with pytest.raises(tacit.TacitError, match="no bounded sensitivity"):
        kind(epsilon=1.0, delta=1e-6, clip=1.0)
    with pytest.raises(tacit.TacitError, match="no bounded sensitivity"):
        PrivateHuberRegressor(epsilon=1.5, delta=1e-6)  # its epsilon is Huber's


def test_weights_and_rows_without_a_party_are_refused(records):
    X, y, groups = records
    with pytest.raises(tacit.TacitError, match="name the party"):
        ridge().fit(X, y)
    with pytest.raises(tacit.TacitError, match="weights"):
        ridge().fit(X, y, groups=groups, sample_weight=np.ones(len(X)))
    with pytest.raises(tacit.TacitError, match="labels is missing"):
        ridge(labels=None).fit(X, y, groups=groups)
