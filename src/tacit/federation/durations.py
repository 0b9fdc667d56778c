"""Durations as people write them: 90s, 30m, 12h, 1d, 2w."""

from __future__ import annotations

import math
import re

from tacit.errors import InputError

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def seconds_of(text: str, *, field: str) -> float:
    """Return how many seconds a text says.

    >>> seconds_of("1d", field="every"), seconds_of("1.5 h", field="every"), seconds_of("90", field="every")
    (86400.0, 5400.0, 90.0)
    """
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw]?)\s*", text)
    seconds = float(written[1]) * _SECONDS[written[2] or "s"] if written else 0.0
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise InputError(f"{field} = {text!r} must be a time such as 90s, 30m, 12h, 1d or 2w.")
    return seconds


def spoken(seconds: float) -> str:
    """Return a duration in words, in its two largest units.

    >>> spoken(86_100.0), spoken(3600.0), spoken(2.5), spoken(0.2)
    ('23 h 55 min', '1 h', '2 s', 'less than a second')
    """
    if seconds < 1.0:
        return "less than a second"
    left, words = int(seconds), []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {unit}")
    return " ".join(words[:2])
