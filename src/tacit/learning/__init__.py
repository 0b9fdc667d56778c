"""Parties fit one model together, as scikit-learn would on all their records; nobody shows a record.

>>> from tacit.learning import PrivateRidge
>>> X, y = [[1.0], [2.0], [4.0], [7.0]], [3.0, 5.0, 9.0, 15.0]
>>> model = PrivateRidge(alpha=0.5).fit(X, y, groups=["north", "south", "west", "west"])
>>> model.coef_.round(4).tolist()
[1.9535]
>>> model.certificate_.is_private  # four records: what is added up tells them
False
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from tacit.learning.account import Account
    from tacit.learning.describing import Description, Histogram, describe, histogram
    from tacit.learning.encoding import PrivateOneHotEncoder
    from tacit.learning.huber import PrivateHuberRegressor
    from tacit.learning.imputing import PrivateImputer
    from tacit.learning.inference import Summary
    from tacit.learning.linear import PrivateElasticNet, PrivateLasso, PrivateLinearRegression, PrivateRidge
    from tacit.learning.logistic import PrivateLogisticRegression
    from tacit.learning.outside import Dataset
    from tacit.learning.poisson import PrivatePoissonRegressor
    from tacit.learning.public_records import LabelledRecords, like_a9a, load_a9a, load_svmlight
    from tacit.learning.scaling import PrivateStandardScaler

__all__ = [
    "Account",
    "Dataset",
    "Description",
    "Histogram",
    "LabelledRecords",
    "PrivateElasticNet",
    "PrivateHuberRegressor",
    "PrivateImputer",
    "PrivateLasso",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateOneHotEncoder",
    "PrivatePoissonRegressor",
    "PrivateRidge",
    "PrivateStandardScaler",
    "Summary",
    "describe",
    "histogram",
    "like_a9a",
    "load_a9a",
    "load_svmlight",
]

_HOMES = {
    "Account": "account",
    "Dataset": "outside",
    "Description": "describing",
    "Histogram": "describing",
    "LabelledRecords": "public_records",
    "PrivateElasticNet": "linear",
    "PrivateHuberRegressor": "huber",
    "PrivateImputer": "imputing",
    "PrivateLasso": "linear",
    "PrivateLinearRegression": "linear",
    "PrivateLogisticRegression": "logistic",
    "PrivateOneHotEncoder": "encoding",
    "PrivatePoissonRegressor": "poisson",
    "PrivateRidge": "linear",
    "PrivateStandardScaler": "scaling",
    "Summary": "inference",
    "describe": "describing",
    "histogram": "describing",
    "like_a9a": "public_records",
    "load_a9a": "public_records",
    "load_svmlight": "public_records",
}


def __getattr__(name: str) -> _typing.Any:
    """Import on first use: scikit-learn is an extra, and heavy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(_importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        package = "scikit-learn" if (error.name or "").startswith("sklearn") else error.name
        raise ImportError(f"regressions need {package}: pip install 'tacit[learning]'.") from error


def __dir__() -> list[str]:
    return list(__all__)
