"""Which protocols there are, and which tacit speaks which: two numbers in every greeting, one in every manifest.

A *protocol* is all that two agents say to each other, from the first frame to the goodbye. It gets a new number
whenever an agent of before would misunderstand an agent of after; new fields of a greeting are no such change,
since those that are not known are ignored. A run is pinned to one protocol by its manifest.

What never changes, so that any two versions can tell that they differ: the header of a frame, that HELLO is the
first one and is JSON, and the fields `protocol` and `software` in it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tacit.listing import conjoined

SOFTWARE = "0.1.0"
"""The version of this tacit; a test compares it with that of the package."""


class Edition(NamedTuple):
    """A version of tacit, and the protocols that it speaks."""

    software: str
    """The first version of which this holds."""
    protocols: tuple[int, ...]


EDITIONS: tuple[Edition, ...] = (Edition("0.1.0", (1,)),)
"""The oldest first. A edition that speaks what the one before it speaks needs no line of its own."""
SPOKEN = EDITIONS[-1].protocols
PROTOCOL = max(SPOKEN)
"""What new manifests are pinned to."""


def common(one: Edition, other: Edition) -> int | None:
    """Return the latest protocol in which two editions can take part in a run together.

    >>> common(Edition("0.4.1", (1, 2)), Edition("0.5.0", (2, 3)))
    2
    """
    return max(set(one.protocols) & set(other.protocols), default=None)


def shown(software: str) -> str:
    r"""Return a version that somebody else has written, in words that are safe to print.

    >>> shown("0.4.1"), shown(""), shown("\x1b[2K")
    ('0.4.1', 'an unknown version', 'an unknown version')
    """
    return software if re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,31}", software) else "an unknown version"


def mismatch(neighbour: str, theirs: int, software: str, pinned: int) -> str:
    """Return the sentence about a neighbour that speaks another protocol than the run.

    >>> mismatch("north", 2, "0.4.1", 3)
    'north speaks protocol 2, this run is pinned to 3: ask north to upgrade tacit (it has 0.4.1).'
    """
    speaks = f"{neighbour} speaks protocol {theirs}, this run is pinned to {pinned}"
    if theirs < pinned:
        return f"{speaks}: ask {neighbour} to upgrade tacit (it has {shown(software)})."
    return f"{speaks}: ask {neighbour} for a tacit that speaks {pinned} (it has {shown(software)})."


def unspoken(protocol: int, spoken: tuple[int, ...] = SPOKEN) -> str:
    """Return why this tacit cannot take part in a run of this protocol; nothing, where it can.

    >>> unspoken(3, (1, 2))
    'this run is pinned to protocol 3, and this tacit (0.1.0) speaks 1 and 2: upgrade it.'
    """
    if protocol in spoken:
        return ""
    able = conjoined([str(number) for number in spoken])
    remedy = "upgrade it" if protocol > max(spoken) else f"take one that speaks {protocol}, or agree on a new run"
    return f"this run is pinned to protocol {protocol}, and this tacit ({SOFTWARE}) speaks {able}: {remedy}."
