"""The verdict on an attack: its error against what the certificate predicts, with confidence limits.

    within    the error is what the certificate says it is: nothing was promised that does not hold
    beaten    the attack knows more than the certificate allows: a bug, and the gate fails
    weak      the attack knows less than it must: the harness is broken, and the gate fails too
    open      nothing was promised here, and the attack took it
    skipped   there was nothing to attack

Errors of a Gaussian attack are whitened by the covariance that the certificate predicts. What comes out must be
standard normal: as a whole, coordinate by coordinate, agent by agent, and along every link, by χ² limits that share
the risk of a false alarm between them. Directions in which the certificate predicts no error must have none.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, chi2

from tacit.typing import Array

RISK = 1e-3 / 20
"""Of a false alarm, for each of the twenty or so verdicts of an audit: 0.1 % in all."""
_NULL = 1e-9
_NO_ERROR = 1e-6


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How one attack did."""

    attack: str
    status: str
    says: str
    measured: float | None = None
    predicted: float | None = None
    low: float | None = None
    """Limits of the measured figure, if the prediction holds."""
    high: float | None = None

    @property
    def is_red(self) -> bool:
        """Whether the gate fails."""
        return self.status in ("beaten", "weak")


def skipped(attack: str, why: str) -> Verdict:
    """Return that there was nothing to attack."""
    return Verdict(attack=attack, status="skipped", says=why)


def judge_exact(attack: str, errors: Array, size: float, *, promised: bool, says: str = "") -> Verdict:
    """Judge an attack that must recover something to rounding; *promised* says that it was to be hidden."""
    worst = float(np.abs(errors).max(initial=0.0))
    limit = _NO_ERROR * max(size, 1e-300)
    status = ("beaten" if promised else "open") if worst <= limit else ("within" if promised else "weak")
    words = {"open": "recovered", "beaten": "recovered, though it was to be hidden", "weak": "not recovered"}
    said = f"{words.get(status, 'not recovered, as promised')}{'; ' + says if says else ''}"
    return Verdict(attack=attack, status=status, says=said, measured=worst, predicted=0.0, low=0.0, high=limit)


def judge_gaussian(
    attack: str, errors: Array, covariance: Array, *, links: NDArray[Any] | None = None, floor: float = 0.0
) -> Verdict:
    """Judge errors, (agents, coordinates), that must be N(0, covariance) in every coordinate independently.

    *links* are pairs of rows to look along. *floor* is an error that rounding alone explains.
    """
    values, vectors = np.linalg.eigh(covariance)
    free = values > _NULL * max(float(values[-1]), 1e-300)
    told = vectors.T @ errors
    size = float(np.sqrt(max(values[-1], 0.0)))
    measured, predicted = _rms(errors), float(np.sqrt(np.trace(covariance) / len(covariance)))
    off = float(np.abs(told[~free]).max(initial=0.0))
    if off > max(_NO_ERROR * max(size, float(np.abs(errors).max(initial=0.0))), floor):
        return Verdict(
            attack=attack, status="weak", measured=measured, predicted=predicted,
            says=f"sums that are known exactly are off by {off:.1e}: masks do not cancel",
        )  # fmt: skip
    if not free.any():
        return Verdict(
            attack=attack, status="open", measured=measured, predicted=0.0, says="exact, as the certificate says"
        )
    y = told[free] / np.sqrt(values[free])[:, None]
    tests = _looks(y, errors, covariance, links)
    risk = RISK / 2 / len(tests)
    for what, squares, degrees in tests:
        low, high = _limits(degrees, risk / len(squares))
        if (squares < low).any():
            return _red(
                attack, "beaten", f"errors are too small {what}", squares.min() / degrees, measured, predicted
            )
        if (squares > high).any():
            return _red(
                attack, "weak", f"errors are too large {what}", squares.max() / degrees, measured, predicted
            )
    low, high = (predicted * np.sqrt(limit / y.size) for limit in _limits(y.size, RISK / 2))
    return Verdict(
        attack=attack, status="within", measured=measured, predicted=predicted, low=float(low), high=float(high),
        says=f"variance {float(np.square(y).mean()):.3f} of the prediction, from {y.size} numbers",
    )  # fmt: skip


def judge_share(attack: str, hits: int, tries: int, predicted: float, *, says: str) -> Verdict:
    """Judge how often an attack was right, by Clopper–Pearson limits around its share."""
    low, high = share_limits(hits, tries, RISK)
    status = "beaten" if low > predicted else "weak" if high < predicted else "within"
    return Verdict(
        attack=attack, status=status, measured=hits / tries, predicted=predicted, low=low, high=high, says=says
    )


def judge_mean(attack: str, found: Array, expected: Array, *, says: str) -> Verdict:
    """Judge a mean against the mean of the same attack on numbers from the certificate's own law."""
    spread = float(np.sqrt(expected.var() / len(found) + expected.var() / len(expected))) + 1e-9
    predicted, width = float(expected.mean()), 5.0 * spread + 1.0 / (len(found) * 1e3)
    measured = float(found.mean())
    status = "beaten" if measured > predicted + width else "weak" if measured < predicted - width else "within"
    return Verdict(
        attack=attack, status=status, measured=measured, predicted=predicted, low=predicted - width,
        high=predicted + width, says=says,
    )  # fmt: skip


def share_limits(hits: int, tries: int, risk: float) -> tuple[float, float]:
    """Return Clopper–Pearson limits of a share, each exceeded with probability risk/2 at most."""
    low = float(beta.ppf(risk / 2, hits, tries - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - risk / 2, hits + 1, tries - hits)) if hits < tries else 1.0
    return low, high


def _looks(y: Array, errors: Array, covariance: Array, links: NDArray[Any] | None) -> list[tuple[str, Array, int]]:
    """Return sums of squares that must be χ², with their degrees of freedom."""
    found = [
        ("over all", np.array([np.square(y).sum()]), y.size),
        ("in a coordinate", np.square(y).sum(axis=0), len(y)),
    ]
    spread = np.sqrt(np.diag(covariance))
    masked = spread > 1e-6 * spread.max()
    per_agent = np.square(errors[masked] / spread[masked, None]).sum(axis=1)
    found.append(("at an agent", per_agent, errors.shape[1]))
    if links is not None and len(links):
        inverse = np.linalg.pinv(covariance, hermitian=True)
        ends = np.zeros((len(links), len(covariance)))
        ends[np.arange(len(links)), links[:, 0]], ends[np.arange(len(links)), links[:, 1]] = 1.0, -1.0
        along = ends @ inverse
        size = np.einsum("ei,ij,ej->e", along, covariance, along)
        found.append(("along a link", np.square(along @ errors).sum(axis=1) / size, errors.shape[1]))
    return found


def _limits(degrees: int, risk: float) -> tuple[float, float]:
    return float(chi2.ppf(risk, degrees)), float(chi2.isf(risk, degrees))


def _red(attack: str, status: str, says: str, ratio: float, measured: float, predicted: float) -> Verdict:
    return Verdict(
        attack=attack,
        status=status,
        says=f"{says}: variance {ratio:.3g} of the prediction",
        measured=measured,
        predicted=predicted,
    )


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(np.square(errors)))) if errors.size else 0.0
