"""Names that are nearly right: what was probably meant, as the last sentence of an error."""

from __future__ import annotations

from collections.abc import Iterable

_NEAR = 0.7  # of letters in common: below that a suggestion is a guess
_SHORT, _NEAR_SHORT = 3, 0.66  # of words this short one letter may be wrong


def did_you_mean(word: object, names: Iterable[object], *, most: int = 1) -> str:
    """Return a sentence with the name that is nearest, with a space before it; nothing where none is near.

    Numbers are not misspelt: the nearest one is as wrong as any other. *most* allows for several names.

    >>> did_you_mean("agee", ["sex", "age"]) + did_you_mean("AGE", ["sex", "age"])
    " Did you mean 'age'? Did you mean 'age'?"
    >>> did_you_mean("weight", ["sex", "age"]) + did_you_mean("12", ["1", "2"])
    ''
    """
    from difflib import get_close_matches  # nobody needs it who spells well

    if str(word).isdigit():
        return ""
    known = {str(name).casefold(): str(name) for name in names}
    cutoff = _NEAR if len(str(word)) > _SHORT else _NEAR_SHORT
    near = get_close_matches(str(word).casefold(), known, n=most, cutoff=cutoff)
    return f" Did you mean {' or '.join(repr(known[name]) for name in near)}?" if near else ""
