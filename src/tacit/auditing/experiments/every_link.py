"""Every link by itself: the coalition of everybody but its two ends.

    z_i = α̃_i − Σ_{k ≠ j} (r_ki − r_ik) = α_i + (r_ji − r_ij)  ~  N(α_i, 2σ²)

The certificate holds against that coalition too. What it sees of one link is not blurred by the others, so a mask
that is a little too thin on one link, or follows from others, shows however many links there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2

from tacit.auditing import statistics
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.judging.verdict import RISK, Verdict, judge_statistics
from tacit.auditing.recording.release import groups_of
from tacit.auditing.statistics import Statistic
from tacit.typing import Array


def links(setting: Setting) -> Verdict:
    """Errors are N(0, 2σ²) on every link, independent of all masks on other links."""
    seen, terms = setting.alone(), setting.drawn().y
    y = seen.errors / (seen.sizes[0] * seen.sizes[1])
    columns = y.shape[1]
    tests = statistics.squares("on a link", np.square(y).sum(axis=1), columns)
    for where, labels in groups_of(setting.masks, columns):
        tests += statistics.squares(f"{where} of a link", *_grouped(y, labels))
    length = np.linalg.norm(terms, axis=1)
    products = (y.astype(np.float32) @ terms.astype(np.float32).T).astype(np.float64)
    products /= np.where(length > 0.0, length, 1.0)
    products[seen.own] = 0.0  # the link's own terms
    shares = ndtr(y)
    tests += statistics.shape(y, "on a link", shares=shares)
    tests += statistics.shape(y.reshape(1, -1), "over all links", shares=shares.reshape(1, -1))
    tests += [statistics.normal(products, "masks on two links go together")]
    thinnest = _detectable(columns, RISK / len(tests) / len(y))
    return judge_statistics(
        "every link by itself", tests, measured=float(np.sqrt(np.square(y).mean())), predicted=1.0,
        says=f"{len(y)} link(s) of {columns} masks; a σ that is {100 * (1 - thinnest):.0f} % too small would show",
    )  # fmt: skip


def bits_of_links(setting: Setting) -> tuple[int, list[Statistic]]:
    """Look at the low bits of every link's mask, in steps of the lattice: balanced, and independent of α's."""
    seen = setting.alone()
    thinnest = float(seen.sizes[0].min() * seen.sizes[1].min())
    bits = int(np.floor(np.log2(thinnest)))  # in bits above, the shape of the Gaussian shows
    steps = np.rint(seen.errors).astype(np.int64)
    tests = [
        statistics.balance(steps, bits, "in a mask"),
        statistics.balance(steps ^ seen.secrets, bits, "beside its secret"),
    ]
    return bits, [*tests, *statistics.cells(steps, min(bits, 16), "in masks of links")]


def _grouped(y: Array, labels: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
    sums: Array = np.stack([np.bincount(labels, row).astype(np.float64) for row in np.square(y)])
    return sums.ravel(), np.tile(np.bincount(labels), len(y))


def _detectable(columns: int, risk: float) -> float:
    """Return the σ, as a share of the right one, that is noticed on a link nine times of ten."""
    return float(np.sqrt(chi2.ppf(risk, columns) / chi2.ppf(0.9, columns)))
