"""Phase 2: one file per algorithm, each written once against `Cost` and `Peers`."""

from tacit.algorithms.admm import ADMM
from tacit.algorithms.dgd import DGD, DiminishingDGD
from tacit.algorithms.extra import EXTRA
from tacit.algorithms.gradient_tracking import GradientTracking
from tacit.algorithms.landscape import Landscape
from tacit.algorithms.nids import NIDS
from tacit.algorithms.opapc import OPAPC
from tacit.algorithms.pg_extra import PGEXTRA

AnyAlgorithm = ADMM | DGD | DiminishingDGD | EXTRA | GradientTracking | NIDS | OPAPC | PGEXTRA

ALGORITHMS: dict[str, type[AnyAlgorithm]] = {
    "admm": ADMM,
    "dgd": DGD,
    "dgd-diminishing": DiminishingDGD,
    "extra": EXTRA,
    "gradient-tracking": GradientTracking,
    "nids": NIDS,
    "opapc": OPAPC,
    "pg-extra": PGEXTRA,
}
"""The algorithms by the names that files and commands use."""

__all__ = [
    "ADMM",
    "ALGORITHMS",
    "DGD",
    "EXTRA",
    "NIDS",
    "OPAPC",
    "PGEXTRA",
    "AnyAlgorithm",
    "DiminishingDGD",
    "GradientTracking",
    "Landscape",
]
