"""Costs from files: inline tables, or one CSV or NPZ file per agent with the name of a family."""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import msgspec
import numpy as np

from tacit.costs import L1, AbsoluteValue, Family, Huber, LeastSquares, Logistic, Poisson, Quadratic
from tacit.errors import CostError, FileError
from tacit.typing import Array

Data = dict[str, Any]


class CostsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The [costs] of a problem file."""

    family: str
    agents: dict[str, Data] | None = None
    files: str | list[str] | dict[str, str] | None = None
    target: str | None = None
    intercept: bool = False
    l1: float = 0.0
    l2: float = 0.0
    delta: float = 1.35


class _Maker(NamedTuple):
    """What data a family takes, and how a cost is made from it."""

    needs: tuple[str, ...]
    make: Callable[[Data, CostsSection, int], Family]


def _rows(family: Callable[..., Family], **extra: str) -> _Maker:
    def make(data: Data, section: CostsSection, agents: int) -> Family:
        settings = {argument: getattr(section, name) for argument, name in extra.items()}
        l2 = section.l2 / agents
        return family(data["A"], data["y"], l2=l2, intercept=section.intercept, **settings)

    return _Maker(("A", "y"), make)


_FAMILIES: dict[str, _Maker] = {
    "quadratic": _Maker(("P", "q"), lambda data, section, agents: Quadratic(data["P"], data["q"])),
    "distance": _Maker(("point",), lambda data, section, agents: Quadratic.distance(data["point"])),
    "absolute-value": _Maker(("centre",), lambda data, section, agents: AbsoluteValue(data["centre"])),
    "least-squares": _rows(LeastSquares),
    "ridge": _rows(LeastSquares),
    "lasso": _rows(LeastSquares),
    "elastic-net": _rows(LeastSquares),
    "logistic": _rows(Logistic),
    "poisson": _rows(Poisson),
    "huber": _rows(Huber, delta="delta"),
}
FAMILIES = tuple(_FAMILIES)


def read_costs(section: CostsSection, agents: Sequence[Any], folder: Path) -> dict[Any, Family]:
    """Return every agent's cost."""
    maker = _maker(section, "[costs] ")
    data = _inline(section, agents) if section.files is None else _from_files(section, maker, agents, folder)
    return {agent: _cost(section, maker, agent, data[agent], len(agents)) for agent in agents}


def read_cost(section: CostsSection, agent: str, file: Path, *, agents: int) -> Family:
    """Return one agent's cost from its own file; penalties are shared among so many *agents*."""
    alone = msgspec.structs.replace(section, files=[file.name], agents=None)
    maker = _maker(section)
    data = _from_files(alone, maker, [agent], file.parent)
    return _cost(section, maker, agent, data[agent], agents)


def _maker(section: CostsSection, where: str = "") -> _Maker:
    """Return how the costs are made; refuse settings that cannot be, or mean nothing to the family."""
    if section.family not in _FAMILIES:
        raise CostError(f"no cost family is called {section.family!r}; choose one of {', '.join(FAMILIES)}.")
    for name in ("l1", "l2"):
        if not getattr(section, name) >= 0:
            raise CostError(f"{where}{name} = {getattr(section, name)} must be zero or positive.")
    maker = _FAMILIES[section.family]
    if section.family in ("lasso", "elastic-net") and not section.l1:
        raise CostError(f"{where}{section.family} needs l1, the weight of its penalty.")
    unused = [
        name for name in ("l2", "intercept", "target") if getattr(section, name) and maker.needs != ("A", "y")
    ]
    if unused:
        raise CostError(f"{where}{unused[0]} means nothing to a {section.family} cost; remove it.")
    return maker


def _cost(section: CostsSection, maker: _Maker, agent: Any, data: Data, agents: int) -> Family:
    missing = [name for name in maker.needs if name not in data]
    unknown = [name for name in data if name not in maker.needs]
    if missing or unknown:
        raise CostError(
            f"agent {agent}: a {section.family} cost needs {' and '.join(maker.needs)}, and it has "
            f"{', '.join(sorted(data)) or 'nothing'}."
        )
    try:
        cost = maker.make(data, section, agents)
        if not section.l1:
            return cost
        weights = np.full(cost.dim, section.l1 / agents)
        if section.intercept and "A" in maker.needs:
            weights[-1] = 0.0
        return cost + L1(weights)
    except CostError as error:
        raise CostError(f"agent {agent}: {error}") from error


def _inline(section: CostsSection, agents: Sequence[Any]) -> dict[Any, Data]:
    if section.agents is None:
        raise FileError("[costs] needs files, or the data of every agent under [costs.agents].")
    return _by_name(section.agents, agents, "[costs.agents]")


def _by_name(given: dict[str, Any], agents: Sequence[Any], where: str) -> dict[Any, Any]:
    names = {str(agent): agent for agent in agents}
    if len(names) < len(agents):
        raise CostError(f"{where}: two agents of the graph have the same name when written down; rename one.")
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        said = [f"nothing for agent {missing[0]}"] * bool(missing) + [f"no agent {unknown[0]}"] * bool(unknown)
        raise CostError(f"{where} does not match the graph ({', '.join(said)}): name every agent once.")
    return {names[name]: value for name, value in given.items()}


def _from_files(section: CostsSection, maker: _Maker, agents: Sequence[Any], folder: Path) -> dict[Any, Data]:
    if section.agents is not None:
        raise FileError("[costs] has both files and agents; keep one of them.")
    if isinstance(section.files, dict):
        named = _by_name(section.files, agents, "[costs] files")
        paths = {agent: folder / name for agent, name in named.items()}
    else:
        found = (
            sorted(folder.glob(section.files), key=_in_natural_order)
            if isinstance(section.files, str)
            else [folder / name for name in section.files or ()]
        )
        if len(found) != len(agents):
            raise FileError(
                f"[costs] files gives {len(found)} file(s) for {len(agents)} agents: there must be one each."
            )
        paths = dict(zip(agents, found, strict=True))
    _same_columns([path for path in paths.values() if path.suffix.lower() == ".csv"])
    return {agent: read_data(path, maker.needs, target=section.target) for agent, path in paths.items()}


def _same_columns(paths: list[Path]) -> None:
    """Refuse files whose columns differ in name or order: x has one meaning for all agents."""
    headers = {path: _header(path) for path in paths}
    for path, columns in headers.items():
        first = headers[paths[0]]
        if columns != first:
            differing = next((b for a, b in zip_longest(first, columns) if a != b), None)
            raise FileError(
                f"{path}: its columns differ from those of {paths[0].name}, first at {differing!r}; all agents "
                "need the same columns in the same order."
            )


def _header(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _columns(path, next((line for line in csv.reader(file) if line), []))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path}: is not a readable .csv file.") from error


def _columns(path: Path, line: list[str]) -> list[str]:
    """Return the names of the columns; refuse a line that looks like a record, and show nothing of it.

    Whole numbers, such as years, may stand among names; numbers alone, and fractions, are somebody's data.
    """
    names = [name.strip() for name in line]
    numbers = [name for name in names if _is_number(name)]
    if numbers and (len(numbers) + names.count("") == len(names) or not all(map(str.isdigit, numbers))):
        raise FileError(f"{path}: the first line must name the columns; it holds numbers.")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def columns_of(path: Path, *, target: str | None = None) -> list[str] | None:
    """Return the names of a CSV file's features; None for other files, which have none."""
    if path.suffix.lower() != ".csv":
        return None
    columns = _header(path)
    return [name for name in columns if name != (target or columns[-1])]


def _in_natural_order(path: Path) -> list[Any]:
    """Return a key that puts g2 before g10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def read_data(path: Path, needs: tuple[str, ...] = ("A", "y"), *, target: str | None = None) -> Data:
    """Return the arrays of one agent's file: by name from NPZ, features and *target* from CSV."""
    try:
        if path.suffix.lower() == ".npz":
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        if path.suffix.lower() == ".csv":
            columns, table = _read_csv(path)
        else:
            raise FileError(f"{path}: agents' data come as .csv or .npz files.")
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, KeyError, EOFError, BadZipFile, zlib.error, csv.Error) as error:
        raise FileError(f"{path}: is not a readable {path.suffix} file.") from error
    if needs != ("A", "y"):
        raise FileError(f"{path}: this family takes .npz files with {' and '.join(needs)}, or inline data.")
    target = target or columns[-1]
    if target not in columns:
        raise FileError(f"{path}: has no column {target!r}; it has {', '.join(columns)}.")
    label = columns.index(target)
    return {"A": np.delete(table, label, axis=1), "y": table[:, label]}


def _read_csv(path: Path) -> tuple[list[str], Array]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if len(lines) < 2:
        raise FileError(f"{path}: needs a line of column names and at least one record.")
    columns = _columns(path, lines[0])
    table = np.empty((len(lines) - 1, len(columns)))
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(columns):
            raise FileError(f"{path}: line {number} has {len(line)} fields where the header has {len(columns)}.")
        for column, (name, field) in enumerate(zip(columns, line, strict=True)):
            try:
                table[number - 2, column] = float(field)
            except ValueError:
                kind = "is missing" if not field.strip() else "is not a number"
                raise FileError(
                    f"{path}: line {number}, column {name!r} {kind}; fill or drop the record."
                ) from None
    return columns, table
