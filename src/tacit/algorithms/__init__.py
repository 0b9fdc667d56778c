"""Phase 2: one file per algorithm, each written once against `Cost` and `Peers`."""

from tacit.algorithms.admm import ADMM
from tacit.algorithms.bracket import Bracket
from tacit.algorithms.dgd import DGD, DiminishingDGD
from tacit.algorithms.direct import Direct
from tacit.algorithms.extra import EXTRA
from tacit.algorithms.fista import FISTA
from tacit.algorithms.gradient_tracking import GradientTracking
from tacit.algorithms.landscape import Landscape
from tacit.algorithms.lbfgs import LBFGS
from tacit.algorithms.multi_consensus import MultiConsensus
from tacit.algorithms.newton import Newton
from tacit.algorithms.nids import NIDS
from tacit.algorithms.noisy_direct import NoisyDirect
from tacit.algorithms.noisy_newton import NoisyNewton
from tacit.algorithms.noisy_total import NoisyTotal
from tacit.algorithms.opapc import OPAPC
from tacit.algorithms.pg_extra import PGEXTRA
from tacit.algorithms.standardised import Standardised
from tacit.algorithms.total import Total

_Gossiping = ADMM | DGD | DiminishingDGD | EXTRA | GradientTracking | MultiConsensus | NIDS | OPAPC | PGEXTRA
_Summing = Bracket | Direct | FISTA | LBFGS | Newton | NoisyDirect | NoisyNewton
AnyAlgorithm = _Gossiping | _Summing

ALGORITHMS: dict[str, type[AnyAlgorithm]] = {
    "admm": ADMM,
    "bracket": Bracket,
    "dgd": DGD,
    "dgd-diminishing": DiminishingDGD,
    "direct": Direct,
    "extra": EXTRA,
    "fista": FISTA,
    "gradient-tracking": GradientTracking,
    "lbfgs": LBFGS,
    "multi-consensus": MultiConsensus,
    "newton": Newton,
    "nids": NIDS,
    "opapc": OPAPC,
    "pg-extra": PGEXTRA,
}
"""The algorithms by the names that files and commands use."""

ERRANDS: dict[str, type[Standardised | Total]] = {"standardised": Standardised, "total": Total}
"""What agents run like an algorithm, and what does not take every cost: sums, and regressions in standard units."""


NOISY: dict[str, type[NoisyDirect | NoisyNewton | NoisyTotal]] = {
    "direct": NoisyDirect,
    "newton": NoisyNewton,
    "total": NoisyTotal,
}
"""What takes the place of an algorithm by sums where the answer is to be differentially private."""


def name_of(kind: type) -> str:
    """Return what files and commands call an algorithm or an errand; somebody's own goes by its class."""
    known = [*ALGORITHMS.items(), *ERRANDS.items(), *NOISY.items()]
    return next((name for name, each in known if each is kind), kind.__name__)


__all__ = [
    "ADMM",
    "ALGORITHMS",
    "DGD",
    "ERRANDS",
    "EXTRA",
    "FISTA",
    "LBFGS",
    "NIDS",
    "NOISY",
    "OPAPC",
    "PGEXTRA",
    "AnyAlgorithm",
    "Bracket",
    "DiminishingDGD",
    "Direct",
    "GradientTracking",
    "Landscape",
    "MultiConsensus",
    "Newton",
    "NoisyDirect",
    "NoisyNewton",
    "NoisyTotal",
    "Standardised",
    "Total",
    "name_of",
]
