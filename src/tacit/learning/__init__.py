"""Parties fit one model together, as scikit-learn would on all their records; nobody shows a record.

>>> from tacit.learning import PrivateRidge
>>> X, y = [[1.0], [2.0], [4.0], [7.0]], [3.0, 5.0, 9.0, 15.0]
>>> model = PrivateRidge(alpha=0.5).fit(X, y, groups=["north", "south", "west", "west"])
>>> model.coef_.round(4).tolist()
[1.9535]
>>> model.certificate_.is_private
True
"""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError("tacit.learning needs scikit-learn: pip install 'tacit[learning]'.") from error

from tacit.learning.account import Account
from tacit.learning.huber import PrivateHuberRegressor
from tacit.learning.inference import Summary
from tacit.learning.linear import PrivateElasticNet, PrivateLasso, PrivateLinearRegression, PrivateRidge
from tacit.learning.logistic import PrivateLogisticRegression
from tacit.learning.poisson import PrivatePoissonRegressor
from tacit.learning.standardising import PrivateStandardScaler

__all__ = [
    "Account",
    "PrivateElasticNet",
    "PrivateHuberRegressor",
    "PrivateLasso",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivatePoissonRegressor",
    "PrivateRidge",
    "PrivateStandardScaler",
    "Summary",
]
