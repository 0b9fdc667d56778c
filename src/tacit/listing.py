"""Lists as one reads them out: "a, b and c", and the first few of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_SHOWN = 6  # labels spelled out in a message before it says "and k more"


def conjoined(words: Iterable[Any], *, last: str = " and ") -> str:
    """Return "a", "a and b" or "a, b and c"; *last* is what stands before the last word.

    >>> conjoined(["links"]), conjoined(["links", "privacy", "stop"])
    ('links', 'links, privacy and stop')
    >>> conjoined(["links", "stop"], last=" or ")
    'links or stop'
    """
    *others, end = [str(word) for word in words] or [""]
    return f"{', '.join(others)}{last}{end}" if others else end


def listed(labels: Iterable[Any], *, most: int = _SHOWN) -> str:
    """Return labels for a message: the first few in full, the rest counted.

    >>> listed("abc"), listed("abcdefgh")
    ('a, b, c', 'a, b, c, d, e, f and 2 more')
    """
    words = [str(label) for label in labels]
    shown = ", ".join(words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown
