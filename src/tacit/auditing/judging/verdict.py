"""The verdict on an attack: its error against what the certificate predicts, with confidence limits.

    within    the error is what the certificate says it is: nothing was promised that does not hold
    beaten    the attack knows more than the certificate allows: a bug, and the gate fails
    weak      the attack knows less than it must: the harness is broken, and the gate fails too
    open      nothing was promised here, and the attack took it
    skipped   there was nothing to attack

Errors of a Gaussian attack are whitened by the covariance that the certificate predicts. What comes out must be
standard normal, and is looked at in many ways (`tacit.auditing.statistics`). Directions in which the certificate
predicts no error must have none. Every verdict has the same share of the audit's level, and says what p its looks
have together.

Shares and means are compared with the same attack on numbers from the certificate's own law, by a permutation test:
it is exact for every sample size, and for shares it is Fisher's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, chi2, hypergeom

from tacit.auditing import statistics
from tacit.auditing.statistics import CERTAIN, Statistic
from tacit.typing import Array

LEVEL = 1e-3
"""Of a false alarm in an audit, all its tests together."""
VERDICTS = 48
"""More than any audit has."""
RISK = 0.99 * LEVEL / VERDICTS
"""Of a false alarm in one verdict, all its tests together; the rest is for what luck cannot fail."""
_NULL = 1e-9
_SHUFFLES, _AT_ONCE, _LUCK = 240_000, 2000, 30
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
    p: float | None = None
    """The chance of something as far off, if the prediction holds; None where luck has no part in it."""
    level: float = 0.0
    """The chance of a false alarm."""

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
    sentence = f"{words.get(status, 'not recovered, as promised')}{'; ' + says if says else ''}"
    return Verdict(attack=attack, status=status, says=sentence, measured=worst, predicted=0.0, low=0.0, high=limit)


def judge_gaussian(
    attack: str,
    errors: Array,
    covariance: Array,
    *,
    links: NDArray[Any] | None = None,
    groups: Sequence[tuple[str, NDArray[Any]]] = (),
    known: Array | None = None,
    floor: float = 0.0,
) -> Verdict:
    """Judge errors, (agents, coordinates), that must be N(0, covariance) in every coordinate independently.

    *links* are pairs of rows to look along; *groups* number the coordinates that belong together; *known* are
    numbers that the coalition holds, (any, coordinates), of which the errors must be independent. *floor* is an
    error that rounding alone explains.
    """
    values, vectors = np.linalg.eigh(covariance)
    free = values > _NULL * max(float(values[-1]), 1e-300)
    projected = vectors.T @ errors
    size = float(np.sqrt(max(values[-1], 0.0)))
    measured, predicted = _rms(errors), float(np.sqrt(np.trace(covariance) / len(covariance)))
    leak = float(np.abs(projected[~free]).max(initial=0.0))
    if leak > max(_NO_ERROR * max(size, float(np.abs(errors).max(initial=0.0))), floor):
        return Verdict(
            attack=attack, status="weak", measured=measured, predicted=predicted,
            says=f"sums that are known exactly are off by {leak:.1e}: masks do not cancel",
        )  # fmt: skip
    if not free.any():
        return Verdict(
            attack=attack, status="open", measured=measured, predicted=0.0, says="exact, as the certificate says"
        )
    y = projected[free] / np.sqrt(values[free])[:, None]
    whole = (float(np.square(y).sum()), y.size)
    seen = [*statistics.spread(y, groups), *_along(errors, covariance, links, whole), *statistics.joint(y)]
    if known is not None:
        seen += statistics.apart(y, known, "from masks that members know")
    return judge_statistics(
        attack, seen, measured=measured, predicted=predicted, size=y.size,
        says=f"variance {float(np.square(y).mean()):.3f} of the prediction, from {y.size} numbers",
    )  # fmt: skip


def judge_statistics(
    attack: str,
    seen: Sequence[Statistic],
    *,
    says: str,
    measured: float | None = None,
    predicted: float | None = None,
    size: int = 0,
) -> Verdict:
    """Judge by many statistics of numbers that the certificate predicts the law of; they share the risk equally."""
    p = statistics.together(seen)
    level = (RISK if p is not None else 0.0) + CERTAIN * sum(statistic.certain for statistic in seen)
    known = [statistic for statistic in seen if statistic.certain and statistic.p < CERTAIN]
    if known or (p is not None and p < RISK):
        worst = min(known or seen, key=lambda statistic: statistic.p)
        return Verdict(
            attack=attack,
            status=worst.status,
            says=worst.says,
            measured=measured,
            predicted=predicted,
            p=p,
            level=level,
        )
    low = high = None
    if predicted is not None and size:
        low, high = (predicted * float(np.sqrt(limit(RISK / 2, size) / size)) for limit in (chi2.ppf, chi2.isf))
    return Verdict(
        attack=attack, status="within", measured=measured, predicted=predicted, low=low, high=high, says=says,
        p=p, level=level,
    )  # fmt: skip


def judge_mean(
    attack: str, outcomes: Array, expected: Array, *, says: str, rng: np.random.Generator | None = None
) -> Verdict:
    """Judge a mean against that of the same attack on numbers from the certificate's own law, both independent.

    Where as many would be reached by chance as were found, *rng* decides: so p is uniform although counts are not.
    """
    measured, predicted = float(outcomes.mean()), float(expected.mean())
    above = _by_chance(outcomes, expected, rng or np.random.default_rng())
    p = 2.0 * min(above, 1.0 - above)
    status = "within" if p >= RISK else "beaten" if above < 0.5 else "weak"
    return Verdict(attack=attack, status=status, measured=measured, predicted=predicted, says=says, p=p, level=RISK)


def _by_chance(outcomes: Array, expected: Array, rng: np.random.Generator) -> float:
    """Return how often numbers that were shuffled have a larger mean in the place of those found; ties by luck."""
    both = np.concatenate([outcomes, expected])
    kinds = np.unique(both)
    if len(kinds) == 1:
        return 0.5  # nothing to tell apart
    if len(kinds) == 2:  # Fisher's exact test
        hits, seen = int((both == kinds[1]).sum()), int((outcomes == kinds[1]).sum())
        law = hypergeom(len(both), hits, len(outcomes))
        return float(law.sf(seen) + rng.random() * law.pmf(seen))
    total, close = float(outcomes.sum()), 1e-12 * float(np.abs(both).sum())
    larger = as_large = tries = 0
    for _ in range(_SHUFFLES // _AT_ONCE):
        keys = rng.random((_AT_ONCE, len(both)))
        sums = both[np.argpartition(keys, len(outcomes) - 1, axis=1)[:, : len(outcomes)]].sum(axis=1)
        larger, as_large = larger + int((sums > total + close).sum()), as_large + int((sums > total - close).sum())
        tries += _AT_ONCE
        if min(larger, tries - as_large) > _LUCK:
            break  # often enough: not remarkable at the risk of a verdict
    # the numbers themselves are one of the shuffles
    return (larger + rng.random() * (1 + as_large - larger)) / (1 + tries)


def share_limits(hits: int, tries: int, risk: float) -> tuple[float, float]:
    """Return Clopper–Pearson limits of a share, each exceeded with probability risk/2 at most."""
    low = float(beta.ppf(risk / 2, hits, tries - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - risk / 2, hits + 1, tries - hits)) if hits < tries else 1.0
    return low, high


def _along(
    errors: Array, covariance: Array, links: NDArray[Any] | None, whole: tuple[float, int]
) -> list[Statistic]:
    """Look at every agent, and along every link: where one link is thinner, the errors across it are smaller."""
    spread = np.sqrt(np.diag(covariance))
    masked = spread > 1e-6 * spread.max()
    tests = statistics.squares(
        "at an agent", np.square(errors[masked] / spread[masked, None]).sum(axis=1), errors.shape[1], whole
    )
    if links is not None and len(links):
        inverse = np.linalg.pinv(covariance, hermitian=True)
        ends = np.zeros((len(links), len(covariance)))
        ends[np.arange(len(links)), links[:, 0]], ends[np.arange(len(links)), links[:, 1]] = 1.0, -1.0
        along = ends @ inverse
        size = np.einsum("ei,ij,ej->e", along, covariance, along)
        sums = np.square(along @ errors).sum(axis=1) / size
        tests += statistics.squares("along a link", sums, errors.shape[1], whole)
    return tests


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(np.square(errors)))) if errors.size else 0.0
