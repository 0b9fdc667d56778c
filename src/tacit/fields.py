"""Typed files: what a TOML file says, or the first thing in it that does not fit, as file, field and expectation.

    problem.toml: [privacy] sigma must be a number, and is a text.
    problem.toml: there is no section [stopp]. Did you mean 'stop'?

Words that are nearly right come first, then values of another kind, then what is missing. What a value is is said,
and the value never, as files may hold private numbers; words of a fixed set alone are repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from tacit.errors import FileError
from tacit.listing import conjoined
from tacit.spelling import did_you_mean

T = TypeVar("T")
FieldPath = tuple[str | int, ...]


class _Rank(IntEnum):
    """Which of several faults is said."""

    UNKNOWN = 0
    OTHER_KIND = 1
    MISSING = 2


class _Fault(NamedTuple):
    rank: _Rank
    sentence: str


def read_fields(path: str | Path, kind: type[T], *, command: str = "") -> T:
    """Return the value of a TOML file; refuse one that cannot be read or is not of this *kind*.

    *command* is what to type about it, where somebody typed a command.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).", command=command) from error
    try:
        return msgspec.toml.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise FileError(f"{path}: {misfit(msgspec.toml.decode(text), kind)}", command=command) from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is no text in UTF-8, as TOML is.", command=command) from error
    except msgspec.DecodeError as error:
        raise FileError(f"{path}: is not valid TOML: see {_line(error)}.", command=command) from error


def misfit(data: Any, kind: Any) -> str:
    """Return the first thing in *data* that does not fit the *kind*, a sentence; more of them are not said.

    >>> class Stop(msgspec.Struct, forbid_unknown_fields=True): tolerance: float; rounds: int = 1
    >>> misfit({"tolerence": 1e-9}, Stop)
    "there is no field 'tolerence'. Did you mean 'tolerance'?"
    >>> misfit({"tolerance": "small"}, Stop), misfit({}, Stop)
    ('tolerance must be a number, and is a text.', 'tolerance is missing.')
    """
    faults = sorted(_faults(data, inspect.type_info(kind), ()), key=lambda fault: fault.rank)
    return faults[0].sentence if faults else "its fields are not what they must be."


def _faults(value: Any, kind: inspect.Type, place: FieldPath) -> Iterator[_Fault]:
    match kind:
        case inspect.AnyType():
            return
        case inspect.UnionType(types=types):
            within = [list(_faults(value, each, place)) for each in types]
            if all(within):  # of the kind that it nearly is, where it is one
                alike = [faults for each, faults in zip(types, within, strict=True) if _looks_like(value, each)]
                yield from alike[0] if alike else [_other_kind(value, kind, place)]
        case _ if not _looks_like(value, kind):
            yield _other_kind(value, kind, place)
        case inspect.StructType(fields=fields) | inspect.DataclassType(fields=fields):
            yield from _of_table(value, kind, fields, place)
        case inspect.DictType(value_type=inside):
            for name, inner in value.items():
                yield from _faults(inner, inside, (*place, name))
        case inspect.TupleType(item_types=insides):
            for k, (inner, inside) in enumerate(zip(value, insides, strict=True)):
                yield from _faults(inner, inside, (*place, k))
        case inspect.CollectionType(item_type=inside) | inspect.VarTupleType(item_type=inside):
            for k, inner in enumerate(value):
                yield from _faults(inner, inside, (*place, k))
        case inspect.LiteralType(values=words) if value not in words:
            sentence = f"{_spoken(place)} = {value!r} must be {_expected(kind)}.{did_you_mean(value, words)}"
            yield _Fault(_Rank.UNKNOWN, sentence)


def _of_table(value: Mapping[str, Any], kind: Any, fields: Any, place: FieldPath) -> Iterator[_Fault]:
    known = {field.encode_name: field for field in fields}
    for name, inner in value.items():
        if name in known:
            yield from _faults(inner, known[name].type, (*place, name))
        elif kind.forbid_unknown_fields:
            meant = did_you_mean(name, known)
            where = f"{_spoken(place, table=True)} has" if place else "there is"
            what = f"section [{_shown(name)}]" if isinstance(inner, dict) and not place else f"field {name!r}"
            yield _Fault(_Rank.UNKNOWN, f"{where} no {what}.{meant}")
    for name, field in known.items():
        if field.required and name not in value:
            table = _looks_like({}, field.type)
            yield _Fault(_Rank.MISSING, f"{_spoken((*place, name), table=table)} is missing.")


def _looks_like(value: Any, kind: inspect.Type) -> bool:
    """Tell whether a value is of a kind at first sight, whatever is inside."""
    match kind:
        case inspect.AnyType():
            return True
        case inspect.UnionType(types=types):
            return any(_looks_like(value, each) for each in types)
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.LiteralType(values=words):
            return isinstance(value, type(words[0]))
        case inspect.StructType() | inspect.DataclassType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.TupleType(item_types=insides):
            return isinstance(value, list | tuple) and len(value) == len(insides)
        case inspect.CollectionType() | inspect.VarTupleType():
            return isinstance(value, list | tuple)
    return True  # msgspec knows better


def _other_kind(value: Any, kind: inspect.Type, place: FieldPath) -> _Fault:
    sentence = f"{_spoken(place)} must be {_expected(kind)}, and is {_actual(value)}."
    return _Fault(_Rank.OTHER_KIND, sentence)


def _expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.UnionType(types=types):
            words = dict.fromkeys(_expected(each) for each in types if not isinstance(each, inspect.NoneType))
            return conjoined(words, last=" or ")
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.StrType():
            return "a text"
        case inspect.LiteralType(values=words):
            return f"one of {conjoined(words)}"
        case inspect.TupleType(item_types=insides):
            return f"a list of {len(insides)}"
        case inspect.CollectionType() | inspect.VarTupleType():
            return "a list"
    return "a table"


def _actual(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float():
            return "a number with a point"
        case str():
            return "a text"
        case list() | tuple():
            return f"a list of {len(value)}"
        case dict():
            return "a table"
    return "a date or a time"


def _spoken(place: FieldPath, *, table: bool = False) -> str:
    """Return where a field is: [members.north] address; of lists the number of the entry, from 1.

    >>> _spoken(("privacy", "sigma")), _spoken(("links", 2, 0)), _spoken(("data", "columns", 1, "type"))
    ('[privacy] sigma', 'links, entry 3, entry 1', '[data] columns, entry 2, type')
    >>> _spoken(("privacy",), table=True)
    '[privacy]'
    """
    first = next((k for k, step in enumerate(place) if isinstance(step, int)), len(place))
    *tables, name = [_shown(str(step)) for step in place[:first]] or [""]
    if table and first == len(place):
        return f"[{'.'.join([*tables, name])}]"
    head = f"[{'.'.join(tables)}] {name}" if tables else name
    more = [f"entry {step + 1}" if isinstance(step, int) else _shown(step) for step in place[first:]]
    return ", ".join([head, *more])


def _line(error: Exception) -> str:
    """Return where a file stops being TOML; the decoder's own sentence speaks of tuples and of its grammar."""
    line = re.search(r"line (\d+)", str(error))
    return f"line {line[1]}" if line else "its end"


def _shown(text: str) -> str:
    """Return a text of somebody else's; letters that would act on a terminal are spelled out."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
