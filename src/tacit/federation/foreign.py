"""Words that others have written and that this member's terminal shows: none of them may act on it.

Cards and manifests are printed, so that people can compare fingerprints. A control character in a name could move
the cursor over a fingerprint, and a character that turns the direction of writing could make one look like another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from tacit.errors import InputError

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ACTING = ("Cc", "Zl", "Zp")  # control characters, and separators of lines and paragraphs


def acts(text: str) -> bool:
    r"""Tell whether a text does something to a terminal beside standing there.

    >>> acts("Straße 5, 日本"), acts("north\x1b[2K"), acts("one\ntwo"), acts("\u202etxt.exe")
    (False, True, True, True)
    """
    return any(letter in _TURNING or unicodedata.category(letter) in _ACTING for letter in text)


def tamed(text: str) -> str:
    r"""Return a text in which such characters are spelled out.

    >>> tamed("north\x1b[2K")
    'north\\x1b[2K'
    """
    return "".join(repr(letter)[1:-1] if acts(letter) else letter for letter in text)


def refuse_acting(value: Any) -> None:
    """Refuse a value of texts, lists and tables in which any text, name or place would act on a terminal."""
    for where, text in _texts(value, ()):
        if acts(text):
            place = tamed(".".join(where)) or "a name"
            raise InputError(f"{place}: {tamed(text)!r} has letters that act on a terminal; leave them out.")


def _texts(value: Any, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield where, name
            yield from _texts(entry, (*where, name))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts(entry, where)
