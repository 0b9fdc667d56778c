"""Levels of protection: the word that files and commands use, and the masks that it stands for.

    none        no masks at all
    affine      `AffineMasks(sigma)`
    quadratic   `QuadraticMasks(sigma)`
    sums        `SumMasks()`

The one place that knows both. Masks over a basis of your own have no word: they are made in Python.
"""

from __future__ import annotations

from typing import Literal, get_args

from tacit.errors import InputError
from tacit.masks.basis import AffineMasks, GaussianMasks, QuadraticMasks
from tacit.masks.mechanism import Mechanism
from tacit.masks.pairing import Way
from tacit.masks.sums import BOUND, SumMasks

Level = Literal["sums", "affine", "quadratic", "none"]
LEVELS: tuple[Level, ...] = get_args(Level)

_WITH_SIGMA: dict[Level, type[GaussianMasks]] = {"affine": AffineMasks, "quadratic": QuadraticMasks}


def has_sigma(level: Level) -> bool:
    """Tell whether masks at *level* are Gaussian."""
    return level in _WITH_SIGMA


def needs_sigma(level: Level) -> str:
    """Return what to say where σ is missing."""
    return f"level = {level!r} needs sigma, the standard deviation of the masks."


def masks_at(
    level: Level,
    *,
    sigma: float | None = None,
    bound: float | None = None,
    words: int = 1,
    seed: int | None = None,
    pairing: Way = "both",
) -> Mechanism | None:
    """Return the masks that *level* stands for; settings that mean nothing to it are left aside."""
    if level == "none":
        return None
    if level == "sums":
        return SumMasks(BOUND if bound is None else bound, words=words, seed=seed, pairing=pairing)
    if sigma is None:
        raise InputError(needs_sigma(level))
    return _WITH_SIGMA[level](sigma, bound=bound, seed=seed, pairing=pairing)


def misfits(level: Level, *, sigma: float | None = None, words: int = 1) -> list[str]:
    """Return which settings mean nothing to *level*, a sentence each."""
    sentences = []
    if level == "sums" and sigma is not None:
        sentences.append("level = 'sums' has no sigma: its masks are uniform; remove it.")
    if has_sigma(level) and words != 1:
        sentences.append(f"words goes with level = 'sums', not with {level!r}.")
    return sentences


def has_level(masks: Mechanism | None) -> bool:
    """Tell whether a word and its settings say all about *masks*, so that whoever reads them has the same masks.

    What is promised of the answer is said beside the word, and not by it.
    """
    known = isinstance(masks, GaussianMasks | SumMasks) and masks.kind != "basis" and not masks.scale_of
    return masks is None or known


def level_of(masks: Mechanism | None) -> Level:
    """Return the word for *masks*; refuse those that have none."""
    if masks is None:
        return "none"
    if masks.kind == "basis" or not has_level(masks):
        raise InputError("affine and quadratic masks and secret sums have a level, without scales of single links.")
    return masks.kind
