"""Profiles of the demand as people write them: a list, a file with a list, or a name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.dispatch.grid import DAY
from tacit.errors import FileError, InputError
from tacit.spelling import did_you_mean
from tacit.typing import Array

PROFILES = {"day": DAY}
"""Profiles that have a name."""


def read_profile(text: str) -> Array:
    """Return the factors of the demand, one a period: *text* is a list of them, a file with a list, or a name.

    >>> read_profile("0.5; 1 1.5").tolist(), len(read_profile("day"))
    ([0.5, 1.0, 1.5], 24)
    """
    if text in PROFILES:
        return np.array(PROFILES[text])
    factors = _numbers(text)
    if factors is None and Path(text).suffix:
        try:
            factors = _numbers(Path(text).read_text(encoding="utf-8"))
        except OSError as error:
            raise FileError(f"{text}: cannot be read ({error.strerror}).") from error
    if factors is None or not len(factors) or not np.isfinite(factors).all():
        raise InputError(
            f"profile = {text!r}: a profile is a list of numbers, one a period, as 0.6,0.8,1.0; a file with "
            f"such a list; or day.{did_you_mean(text, PROFILES)}"
        )
    return factors


def _numbers(text: str) -> Array | None:
    """Return the numbers in a text, with commas, semicolons or spaces between them; None if there is more."""
    try:
        return np.array([float(word) for word in text.replace(",", " ").replace(";", " ").split()])
    except ValueError:
        return None
