"""Names that are nearly right: what was probably meant, as the last sentence of an error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

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


def misspelt(text: bytes, kind: Any) -> str:
    """Return `did_you_mean` of the first field, or word of a fixed set, that a TOML file of this *kind* has not.

    >>> class Stop(msgspec.Struct, forbid_unknown_fields=True): tolerance: float = 0.0
    >>> misspelt(b"tolerence = 1e-9", Stop)
    " Did you mean 'tolerance'?"
    """
    try:
        data = msgspec.toml.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    return next(filter(None, _slips(data, msgspec.inspect.type_info(kind))), "")


def _slips(value: Any, kind: msgspec.inspect.Type) -> Iterable[str]:
    """Yield what was probably meant, for every name in *value* that the type does not know."""
    match kind:
        case msgspec.inspect.UnionType(types=types):
            for each in types:
                yield from _slips(value, each)
        case msgspec.inspect.StructType(fields=fields, forbid_unknown_fields=closed) if isinstance(value, dict):
            known = {field.encode_name: field.type for field in fields}
            for name, inner in value.items():
                if name in known:
                    yield from _slips(inner, known[name])
                elif closed:
                    yield did_you_mean(name, known)
        case msgspec.inspect.DictType(value_type=inside) if isinstance(value, dict):
            for inner in value.values():
                yield from _slips(inner, inside)
        case msgspec.inspect.CollectionType(item_type=inside) if isinstance(value, list):
            for inner in value:
                yield from _slips(inner, inside)
        case msgspec.inspect.VarTupleType(item_type=inside) if isinstance(value, list):
            for inner in value:
                yield from _slips(inner, inside)
        case msgspec.inspect.LiteralType(values=words) if isinstance(value, str) and value not in words:
            yield did_you_mean(value, words)
