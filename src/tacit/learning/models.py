"""The models by the names that commands use, and which settings mean something to which.

Imports nothing heavy: scikit-learn is loaded with the model that is asked for.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import InputError
from tacit.spelling import did_you_mean

if TYPE_CHECKING:
    from tacit.learning.model import PrivateModel


class ModelKind(NamedTuple):
    """A model as commands know it."""

    estimator: str
    takes: tuple[str, ...] = ()
    """Settings that mean something to it, beside those of every model."""
    plain: tuple[tuple[str, float], ...] = ()
    """Settings that hold where none are given; scikit-learn's otherwise."""
    takes_words: bool = False
    """Whether labels may be words: classes."""


MODELS: dict[str, ModelKind] = {
    "linear": ModelKind("PrivateLinearRegression"),
    "ridge": ModelKind("PrivateRidge", ("alpha", "epsilon", "delta", "clip", "labels", "records")),
    "lasso": ModelKind("PrivateLasso", ("alpha",)),
    "elastic-net": ModelKind("PrivateElasticNet", ("alpha", "l1_ratio")),
    "logistic": ModelKind(
        "PrivateLogisticRegression",
        ("C", "l1_ratio", "class_weight", "epsilon", "delta", "clip", "classes", "records"),
        (("C", math.inf),),
        takes_words=True,
    ),
    "poisson": ModelKind("PrivatePoissonRegressor", ("alpha", "exposure"), (("alpha", 0.0),)),
    "huber": ModelKind("PrivateHuberRegressor", ("alpha", "epsilon")),
}


def classes_of(names: list[str]) -> list[str] | list[float] | None:
    """Return classes as they were declared, as numbers where all are; None where none were.

    >>> classes_of(["no", "yes"]), classes_of(["0", "1"]), classes_of([])
    (['no', 'yes'], [0.0, 1.0], None)
    """
    try:
        return [float(name) for name in names] or None
    except ValueError:
        return names


def model_of(name: str, settings: dict[str, Any], **common: Any) -> PrivateModel:
    """Return an estimator by its name; *settings* are those of some models, None where nothing is said.

    *common* are settings of every model. Those that mean nothing to this model are refused.
    """
    if name not in MODELS:
        meant = did_you_mean(name, MODELS)
        raise InputError(f"no model is called {name!r}; choose one of {', '.join(MODELS)}.{meant}")
    kind = MODELS[name]
    given = {setting: value for setting, value in settings.items() if value is not None}
    if "epsilon" not in kind.takes and "epsilon" in given:
        raise InputError(
            f"epsilon means nothing to a {name} model: what one record does to its answer has no bound, or nobody "
            "has derived it; use ridge or logistic, whose answers can be differentially private."
        )
    for setting in given:
        if setting not in kind.takes:
            raise InputError(f"{setting} means nothing to a {name} model; leave it out.")
    try:
        estimator = getattr(import_module("tacit.learning"), kind.estimator)
    except ImportError as error:  # scikit-learn is an extra
        raise InputError(str(error)) from error
    given.pop("exposure", None)  # a column, and no setting of the estimator
    model: PrivateModel = estimator(**{**dict(kind.plain), **given, **common})
    return model
