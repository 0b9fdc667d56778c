"""Bad records end in a sentence that names the party and the column, and never shows a value."""

import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold

from tacit.errors import DataError, InputError, VacuousError
from tacit.learning import (
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
    PrivateStandardScaler,
)
from tacit.solving.solve import CollinearWarning

LABEL = 31337.0
PLANTED = 31337.25  # in many records: it must never be seen again
PARTIES = np.repeat(["north", "south", "west"], [10, 1, 19])


@pytest.fixture
def frame():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.standard_normal((30, 3)), columns=["age", "dose", "weight"])
    X.loc[::2, :] += PLANTED
    return X


@pytest.fixture
def y(frame):
    return pd.Series((np.arange(30) % 2) * LABEL, name="relapse")


def refusal(model, *data, error=DataError, **more):
    """Return the sentence; the planted value is nowhere in it, nor in the traceback with its causes."""
    method = model.fit_parties if isinstance(data[0], dict | list) else model.fit
    with pytest.raises(error) as raised:
        method(*data, **more)
    shown = "".join(traceback.format_exception(raised.value))
    for secret in ("31337", "3.1337", "planted word"):
        assert secret not in shown
    return str(raised.value)


MODELS = [PrivateRidge(), PrivateLogisticRegression(), PrivatePoissonRegressor(), PrivateLinearRegression()]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@each_model
@pytest.mark.parametrize("value", [np.nan, np.inf, None])
def test_missing_values(model, value, frame, y):
    frame.loc[10, "dose"] = value
    said = refusal(model, frame, y, groups=PARTIES)
    assert "party south, column 'dose': 1 value(s) missing" in said


@each_model
def test_missing_labels(model, frame, y):
    y[12] = np.nan
    assert "party west, column 'relapse': 1 label(s) missing" in refusal(model, frame, y, groups=PARTIES)


@each_model
def test_missing_labels_of_pandas_own_kind(model, frame, y):
    labels = y.astype("Int64")
    labels[12] = pd.NA
    assert "party west, column 'relapse': 1 label(s) missing" in refusal(model, frame, labels, groups=PARTIES)
    frame = frame.astype("Float64")
    frame.loc[10, "dose"] = pd.NA
    assert "party south, column 'dose': 1 value(s) missing" in refusal(model, frame, y, groups=PARTIES)


def test_missing_words_as_labels(frame):
    words = pd.Series(["planted word", "other"] * 15, name="relapse", dtype=object)
    words[3] = None
    assert "party north, column 'relapse'" in refusal(PrivateLogisticRegression(), frame, words, groups=PARTIES)


@each_model
def test_constant_columns(model, frame, y):
    without = clone(model).fit(frame.drop(columns="weight"), y, groups=PARTIES)
    frame["weight"] = PLANTED
    with pytest.warns(CollinearWarning) as caught:
        model.fit(frame, y, groups=PARTIES)
    said = " ".join(str(warning.message) for warning in caught)
    assert "column 'weight' is the same number in all records of every party (north, south, west)" in said
    assert str(PLANTED) not in said
    place = frame.columns.get_loc("weight")
    assert np.atleast_2d(model.coef_)[0, place] == 0.0
    others = np.delete(np.atleast_2d(model.coef_), place, axis=1)
    np.testing.assert_allclose(others, np.atleast_2d(without.coef_), rtol=2e-6)  # age is all but dose: κ² = 2.6e9
    assert np.isnan(np.atleast_2d(model.standard_errors_)[0, place])


def test_nothing_but_constant_columns(y):
    frame = pd.DataFrame({"weight": [PLANTED] * len(y)})
    assert "every column is the same number" in refusal(PrivateRidge(), frame, y, groups=PARTIES)


def test_a_column_that_is_constant_within_a_fold_does_not_stop_a_search():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    X[:, 2] = np.arange(60) == 7  # rare: constant in the folds without that record
    folds = GridSearchCV(PrivateRidge(), {"alpha": [0.1, 1.0]}, cv=KFold(3), error_score="raise")
    pooled = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=KFold(3), error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollinearWarning)
        folds.fit(X, y)
    np.testing.assert_allclose(
        folds.cv_results_["mean_test_score"], pooled.fit(X, y).cv_results_["mean_test_score"]
    )


def test_a_constant_column_is_an_intercept_where_there_is_no_other(frame, y):
    frame["weight"] = 1.0
    model = PrivateRidge(fit_intercept=False).fit(frame, y, groups=PARTIES)
    assert np.isfinite(model.coef_).all()


@each_model
def test_words_among_the_numbers(model, frame, y):
    frame = frame.astype(object)
    frame.loc[15, "age"] = "planted word"
    assert "party west, column 'age': is not numeric" in refusal(model, frame, y, groups=PARTIES)


def test_words_as_targets_of_a_regression(frame):
    words = pd.Series(["planted word"] * 30, name="relapse")
    assert "column 'relapse': is not numeric" in refusal(PrivateRidge(), frame, words, groups=PARTIES)


def test_a_class_that_nobody_has(frame, y):
    model = PrivateLogisticRegression(classes=[0.0, LABEL, 7.0])
    said = refusal(model, frame, y, groups=PARTIES)
    assert "column 'relapse': number 3 in the list of classes occurs in no record of any party" in said


def test_a_class_that_was_not_agreed(frame, y):
    said = refusal(PrivateLogisticRegression(classes=[0.0, 1.0]), frame, y, groups=PARTIES)
    assert "party north, column 'relapse': has a class that classes= does not list" in said


def test_one_class_everywhere(frame, y):
    said = refusal(PrivateLogisticRegression(), frame, y * 0 + LABEL, groups=PARTIES)
    assert "column 'relapse': all records of all parties have one class" in said


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda X: X.drop(columns="dose"), "party south lacks the column 'dose', unlike party north"),
        (
            lambda X: X.rename(columns={"dose": "drug"}),
            "party south lacks the column 'dose' and has the column 'drug'",
        ),
        (lambda X: X[["dose", "age", "weight"]], "party south has its columns in another order than party north"),
        (lambda X: X.assign(more=1.0), "party south has the column 'more', unlike party north"),
        (lambda X: X[:0], "party south has no records"),
    ],
)
def test_other_columns_at_another_party(change, expected, frame, y):
    parts = {"north": (frame[:10], y[:10]), "south": (change(frame[10:20]), y[10:20]), "west": (frame[20:], y[20:])}
    parts["south"] = (parts["south"][0], y[10 : 10 + len(parts["south"][0])])
    assert expected in refusal(PrivateRidge(), parts)
    arrays = [(a.to_numpy(), b.to_numpy()) for a, b in parts.values()]
    if arrays[1][0].shape[1] == 2:
        assert "party 1 lacks the column 'x2'" in refusal(PrivateRidge(), arrays)


def test_labels_that_do_not_match(frame, y):
    assert "party 1 has 10 rows and 9 labels" in refusal(
        PrivateRidge(), [(frame[:20], y[:20]), (frame[20:], y[21:])]
    )
    assert "X has 30 rows and y has 29 labels" in refusal(PrivateRidge(), frame, y[1:])
    assert "no labels, and others have" in refusal(PrivateRidge(), [(frame[:20], y[:20]), frame[20:]])
    assert "there is no party" in refusal(PrivateRidge(), [])


def test_groups_that_do_not_match(frame, y):
    assert "name the party of every row" in refusal(PrivateRidge(), frame, y, groups=PARTIES[1:])
    assert "missing" in refusal(PrivateRidge(), frame, y, groups=[None, *PARTIES[1:]])


def test_one_party_alone(frame, y):
    assert "nobody to hide anything from" in refusal(PrivateRidge(), frame, y, groups=["north"] * 30)


def test_negative_counts(frame, y):
    said = refusal(PrivatePoissonRegressor(), frame, y - 1.0, groups=PARTIES)
    assert "party north, column 'relapse': has negative counts" in said
    assert "every count" in refusal(PrivatePoissonRegressor(), frame, 0.0 * y, groups=PARTIES)


@pytest.mark.parametrize("model", [PrivateRidge(), PrivateStandardScaler()], ids=repr)
def test_numbers_too_large_for_the_public_limit(model, frame, y):
    frame.loc[10:, "dose"] = 4e18 * (1.0 + frame.loc[10:, "age"] / PLANTED)
    said = refusal(model, frame, y, groups=PARTIES)
    assert "party south, column 'dose': its numbers are too large to be added up in secret" in said


def test_classes_that_can_be_told_apart_have_no_likelihood():
    X, y = np.arange(20.0)[:, None] + PLANTED, np.arange(20) > 9
    with pytest.warns(UserWarning, match="the columns tell the classes apart without error") as caught:
        PrivateLogisticRegression(C=np.inf).fit(X, y)
    assert caught[0].filename == __file__, "the warning points at the call"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"privacy": "magic"}, "is not 'sums'"),
        ({"network": "ring"}, "is not 'auto'"),
        ({"network": "1-regular"}, "is not 'auto'"),
        ({"runtime": "moon"}, "no runtime is called 'moon'"),
        ({"any": 2}, "at least two must be honest"),
        ({"any": -1}, "at least two must be honest"),
    ],
)
def test_settings(settings, expected, frame, y):
    kind = VacuousError if "any" in settings else InputError
    assert expected in refusal(PrivateRidge(**settings), frame, y, groups=PARTIES, error=kind)


def test_what_scikit_learn_refuses_for_another_reason_is_not_called_a_word():
    objects = np.ones((1, 2), dtype=object)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        PrivateRidge().fit(objects, np.ones(1))
