"""Every single Gaussian mask: its law, its bits, and what it has to do with all others and with secrets.

Nothing is assumed about the coalition: all terms of all links, of several releases, are looked at as they were
exchanged.
"""

from __future__ import annotations

import numpy as np

from tacit.auditing import statistics
from tacit.auditing.experiments import jointly
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.experiments.terms import Gaussian
from tacit.auditing.judging.verdict import Verdict, judge_statistics
from tacit.auditing.recording.release import groups_of
from tacit.auditing.statistics import Statistic
from tacit.typing import Array

_SOME, _KEYS = 2_000_000, 1_500_000  # of very many masks
_ROWS, _PLACES = 400, 1200  # of terms in reversed order, and of single places from release to release
_FEWEST = 50  # releases
_LOWER = 16  # bits of a mask that are drawn for themselves


def folded(setting: Setting) -> Verdict:
    """Effective coefficients are coefficients and terms, to the last bit."""
    whole, small = setting.drawn(), setting.several()
    wrong = sum(int((each.misfit != 0.0).sum()) for each in (whole, *small))
    says = f"{wrong} effective coefficients are not coefficient and masks" if wrong else "to the last bit"
    return Verdict(
        attack="masks folded in",
        status="beaten" if wrong else "within",
        says=says,
        measured=float(wrong),
        predicted=0.0,
    )


def single(setting: Setting) -> Verdict:
    """Every mask is normal: on every link, in every place, in every release, and far out."""
    whole, small = setting.drawn(), setting.several()
    y, square = whole.y, np.square(whole.y)
    seen = statistics.squares("on a link, one way", square.sum(axis=1), y.shape[1])
    for where, labels in groups_of(setting.masks, y.shape[1]):
        sums = np.bincount(labels, square.sum(axis=0)).astype(np.float64)
        seen += statistics.squares(where, sums, len(y) * np.bincount(labels))
    seen += statistics.squares("in a place", square.sum(axis=0), len(y))
    seen += statistics.evenness("from place to place", square.sum(axis=0), len(y))
    seen += statistics.evenness("from row to row", square.sum(axis=1), y.shape[1])
    seen += [*statistics.means("on a link, one way", y), *statistics.means("in a place", y.T)]
    releases = np.stack([each.y for each in small]) if small else _by_release(y, whole)
    by_link = np.square(releases).sum(axis=2)
    seen += statistics.squares("in a place of a link", np.square(releases).sum(axis=0).ravel(), len(releases))
    seen += statistics.evenness("from release to release", by_link.sum(axis=1), releases[0].size)
    seen += statistics.evenness("from link to link", by_link.ravel(), releases.shape[2])
    some = slice(0, max(1, _SOME // len(y)))
    shares, few = whole.terms.u, whole.terms.u[:, some].reshape(1, -1)
    seen += statistics.shape(y, "on a link, one way", shares=shares)
    seen += statistics.shape(y[:, some].reshape(1, -1), "over all links", shares=few)
    seen += statistics.tails(y, "on all links", setting.rng)
    seen += [statistics.balance(whole.steps[:, some], whole.terms.bits, "on a link, one way")]
    seen += statistics.cells(whole.steps[:, some], whole.terms.bits, "on all links")
    return judge_statistics(
        "every mask by itself", seen, says=f"{y.size} masks, {len(releases)} releases: all normal",
        measured=float(np.sqrt(square.mean())), predicted=1.0,
    )  # fmt: skip


def pairs(setting: Setting) -> Verdict:
    """No two masks, and no mask and secret, have anything to do with each other."""
    whole, small = setting.drawn(), setting.several()
    seen = jointly.pairs(whole.terms, setting.rng)
    releases = np.stack([each.terms.u for each in small]) if small else _by_release(whole.terms.u, whole)
    some = whole.y[:, : jointly.shown(whole.y)]
    seen += jointly.beside_secrets(some[None], whole.terms)
    seen += [*statistics.along(some, "places go together"), *statistics.shared(some, "all terms go together")]
    seen += jointly.between(releases.reshape(len(releases), -1), "releases")
    seen += jointly.between(releases.transpose(2, 0, 1).reshape(releases.shape[2], -1), "coordinates")
    seen += _any_order(whole, np.stack([each.y for each in small]) if small else None, setting.rng)
    says = f"{whole.y.shape[0]} terms, {whole.y.shape[1]} places, {len(releases)} releases: no two go together"
    return judge_statistics("masks in pairs", seen, says=says)


def _any_order(whole: Gaussian, releases: Array | None, rng: np.random.Generator) -> list[Statistic]:
    """Look at terms in another order: every place of every link with every other, and the last with the first."""
    y = whole.y.reshape(len(whole.y), -1, whole.width)
    half = whole.width // 2
    seen = []
    if half:
        there, back = y[:, :, :half], y[:, :, : -half - 1 : -1]
        rows = rng.permutation(len(y))[:_ROWS]
        columns = slice(0, max(1, _SOME // (len(rows) * half)))
        one, other = (each[rows, columns].reshape(len(rows), -1) for each in (there, back))
        seen += statistics.correlations(one, other, says="a term and another in reversed order go together")
    several = y.transpose(1, 0, 2) if releases is None else releases
    by_release = several.reshape(len(several), -1)
    if len(by_release) >= _FEWEST:
        places = by_release[:, rng.permutation(by_release.shape[1])[:_PLACES]].T
        seen += statistics.correlations(places, says="two places of two terms go together from release to release")
    return seen


def bits(setting: Setting) -> Verdict:
    """No bit of a mask follows from bits of others, or of secrets, by exclusive or."""
    seen = jointly.bits(setting.drawn().terms, setting.rng)
    return judge_statistics("bits of masks", seen, says=f"{len(seen)} sets of bits, each independent over GF(2)")


def repeated(setting: Setting) -> Verdict:
    """No mask comes twice, with either sign, or with other low bits, in any release."""
    every = [setting.drawn(), *setting.several()]
    parts = [each.steps[:, : max(each.width if k else 2, _KEYS // len(each.y))] for k, each in enumerate(every)]
    steps = np.concatenate([each.ravel() for each in parts])
    both = zip(every, parts, strict=True)
    sizes = np.concatenate([np.outer(each.sizes[0], each.sizes[1][: part.shape[1]]).ravel() for each, part in both])
    expected = _agreeing(sizes)
    seen = [
        statistics.repeats(np.abs(steps), expected, "masks come twice"),
        statistics.repeats(np.abs(steps >> _LOWER), expected * 2.0**_LOWER, "masks come twice but for low bits"),
    ]
    says = f"none of {len(steps)} masks comes twice, more often than by luck"
    return judge_statistics("masks that come twice", seen, says=says)


def _agreeing(sizes: Array) -> float:
    """Return how many pairs of masks agree up to their sign by chance: P(|a| = |b|) = 2/√(2π(s² + t²))."""
    values, counts = np.unique(np.round(sizes, 6), return_counts=True)
    if len(values) > 500:  # bounded from above: all as thin as the thinnest
        values, counts = values[:1], np.array([sizes.size])
    each = 2.0 / np.sqrt(2.0 * np.pi * (np.square(values)[:, None] + np.square(values)[None]))
    return 0.5 * float(counts @ each @ counts)


def _by_release(values: Array, whole: Gaussian) -> Array:
    """Return numbers of releases that were drawn at once, (releases, rows, width)."""
    return values.reshape(len(values), -1, whole.width).transpose(1, 0, 2)
