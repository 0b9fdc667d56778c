"""Costs from files: inline tables, or one CSV or NPZ file, or one dataset, per agent with the name of a family."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast
from zipfile import BadZipFile

import numpy as np

from tacit.costs import L1, AbsoluteValue, Family, Huber, LeastSquares, Logistic, Poisson, Quadratic
from tacit.errors import CostError, FileError, MismatchError
from tacit.listing import conjoined
from tacit.records import RecordSource, is_address, is_dataset, open_source
from tacit.solving.facts import facts_of
from tacit.solving.outside_costs import OutsideRows
from tacit.solving.sections import Costs
from tacit.spelling import did_you_mean
from tacit.tables import Dictionary, Reading, Sheet, mapped, match, plain, read_sheet, read_unquestioned

Data = dict[str, Any]
_LARGE = 1e99  # what stands for larger numbers, which are clipped anyway, and which costs would refuse


class CostsSection(Costs, frozen=True, forbid_unknown_fields=True):
    """The [costs] of a problem file."""

    agents: dict[str, Data] | None = None
    files: str | list[str] | dict[str, str] | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    @property
    def reading(self) -> Reading:
        """How CSV files are to be read."""
        return Reading(self.separator, self.decimal, self.encoding)


class _Maker(NamedTuple):
    """What data a family takes, and how a cost is made from it."""

    needs: tuple[str, ...]
    make: Callable[[Data, Costs, int], Family]


def _rows(family: Callable[..., Family], **extra: str) -> _Maker:
    def make(data: Data, section: Costs, agents: int) -> Family:
        settings = {argument: getattr(section, name) for argument, name in extra.items()}
        l2 = section.l2 / agents
        if data.get("unquestioned"):
            return _unquestioned(family, data, section, l2)
        return family(data["A"], data["y"], l2=l2, intercept=section.intercept, **settings)

    return _Maker(("A", "y"), make)


def _unquestioned(family: Callable[..., Any], data: Data, section: Costs, l2: float) -> Family:
    """Return the cost of records whatever they hold: gaps are zeros, labels of odds one of two, none is none."""
    try:
        A, y = np.asarray(data["A"], dtype=np.float64), np.asarray(data["y"], dtype=np.float64)
    except (TypeError, ValueError):
        raise CostError("A and y must be arrays of numbers.") from None
    A, y = (np.clip(np.where(np.isnan(part), 0.0, part), -_LARGE, _LARGE) for part in (A, y))
    y = (y > 0.0).astype(np.float64) if section.family == "logistic" else y
    if A.ndim == 2 and not len(A):  # a row of zeros adds nothing, where its 1 for an intercept is a zero, too
        unknowns = A.shape[1] + section.intercept
        penalties = np.full(unknowns, l2)
        penalties[unknowns - section.intercept :] = 0.0
        cost = family(np.zeros((1, unknowns)), np.zeros(1), l2=penalties)
        cost.intercept = section.intercept
        return cast(Family, cost)
    return cast(Family, family(A, y, l2=l2, intercept=section.intercept))


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


class Read(NamedTuple):
    """Every agent's cost, and the names of the columns where the files have any."""

    costs: dict[Any, Family]
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was assumed about the files."""
    dropped: tuple[int, ...] | None = None
    """How many records each agent has left out because of gaps; None where the dictionary lets nobody."""


def read_costs(
    section: CostsSection,
    agents: Sequence[Any],
    folder: Path,
    *,
    dictionary: Dictionary | None = None,
    unquestioned: bool = False,
) -> Read:
    """Return every agent's cost; columns of CSV files are those of the *dictionary*, or else of the first file.

    *unquestioned* records are mapped to what is declared, and none is complained about or counted.
    """
    maker = _maker(section, "[costs] ")
    if section.files is None:
        data, names, notes = _inline(section, agents), tuple[str, ...](), tuple[str, ...]()
    else:
        data, names, notes = _from_files(section, maker, agents, folder, dictionary, unquestioned=unquestioned)
    drops = not unquestioned and section.files is not None and dictionary is not None and dictionary.gaps == "drop"
    dropped = tuple(int(data[agent].get("dropped", 0)) for agent in agents) if drops else None
    costs = {
        agent: _cost(section, maker, agent, data[agent], len(agents), unquestioned=unquestioned) for agent in agents
    }
    return Read(costs, (*names, "(intercept)") if names and section.intercept else names, notes, dropped)


def read_cost(
    section: Costs,
    agent: str,
    file: Path | Sheet | RecordSource,
    *,
    agents: int,
    dictionary: Dictionary | None = None,
    facts: bool = False,
    unquestioned: bool = False,
) -> Family:
    """Return one agent's cost from its own file; penalties are shared among so many *agents*.

    With *facts* it carries what a table needs, to be added up in secret: the number of records, sums of labels.
    *unquestioned* records are mapped to what is declared, and none is complained about.
    """
    maker = _maker(section)
    if not isinstance(file, (Path, Sheet)):
        rows = outside_rows(file, section, dictionary, maker=maker)
        return _cost(section, maker, agent, {"outside": rows}, agents, facts=facts)
    sheet: Path | Sheet = file
    if isinstance(file, Path) and file.suffix.lower() == ".csv":
        sheet = _reader(unquestioned)(file, section.reading)
    if isinstance(sheet, Sheet):
        common = dictionary or plain(sheet.columns, _target(section, sheet))
        data = _design(sheet, common, section, maker, unquestioned=unquestioned)
    elif dictionary is None:
        data = read_arrays(sheet)
    else:
        raise MismatchError(f"{file}: has no names of columns to compare with the dictionary; use a .csv file.")
    return _cost(section, maker, agent, data, agents, facts=facts, unquestioned=unquestioned)


def invented(section: Costs, agents: Sequence[Any], *, records: int, unknowns: int) -> dict[Any, Family]:
    """Return costs of that shape with records that nobody has: so many each, in standard units."""
    maker, rng = _maker(section), np.random.default_rng(0)
    if maker.needs != ("A", "y"):
        raise CostError(f"a {section.family} cost has no records that could be counted.")
    shape = (records, unknowns - section.intercept)
    data = {
        agent: {"A": rng.normal(size=shape).tolist(), "y": rng.integers(0, 2, records).tolist()} for agent in agents
    }
    return {agent: _cost(section, maker, agent, data[agent], len(agents)) for agent in agents}


def example(section: Costs, *, unknowns: int) -> Family:
    """Return a cost of that kind, made of numbers that nobody has: what masks hide of it, they hide of all."""
    maker, flat = _maker(section), [1.0] * unknowns
    shape = (2, unknowns - section.intercept)
    made_up: Data = {
        "P": np.eye(unknowns).tolist(), "q": flat, "point": flat, "centre": flat,
        "A": np.ones(shape).tolist(), "y": [0.0, 1.0],
    }  # fmt: skip
    return _cost(section, maker, "of any member", {name: made_up[name] for name in maker.needs}, 1)


def _maker(section: Costs, where: str = "") -> _Maker:
    """Return how the costs are made; refuse settings that cannot be, or mean nothing to the family."""
    if section.family not in _FAMILIES:
        raise CostError(
            f"no cost family is called {section.family!r}; choose one of {', '.join(FAMILIES)}."
            f"{did_you_mean(section.family, FAMILIES)}"
        )
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


def _reader(unquestioned: bool) -> Callable[..., Sheet]:
    return read_unquestioned if unquestioned else read_sheet


def _cost(
    section: Costs,
    maker: _Maker,
    agent: Any,
    data: Data,
    agents: int,
    *,
    facts: bool = False,
    unquestioned: bool = False,
) -> Family:
    if "outside" in data:
        return _outside_cost(section, maker, agent, data["outside"], agents, facts=facts)
    dropped = data.pop("dropped", 0)
    missing = [name for name in maker.needs if name not in data]
    unknown = [name for name in data if name not in maker.needs]
    if missing or unknown:
        raise CostError(
            f"agent {agent}: a {section.family} cost needs {conjoined(maker.needs)}, and it has "
            f"{', '.join(sorted(data)) or 'nothing'}."
        )
    try:
        cost = maker.make({**data, "unquestioned": True} if unquestioned else data, section, agents)
        if facts:
            cost.facts = facts_of(section.family, np.asarray(data["y"], dtype=np.float64), dropped=dropped)
        return _with_l1(cost, section, maker, agents)
    except CostError as error:
        raise CostError(f"agent {agent}: {error}") from error


def _with_l1(cost: Family, section: Costs, maker: _Maker, agents: int) -> Family:
    if not section.l1:
        return cost
    weights = np.full(cost.dim, section.l1 / agents)
    if section.intercept and "A" in maker.needs:
        weights[-1] = 0.0
    return cost + L1(weights)


def outside_rows(
    source: RecordSource, section: Costs, dictionary: Dictionary | None, *, maker: _Maker | None = None
) -> OutsideRows:
    """Return the design of records that stay where they are; refuse families that are not of records."""
    if maker is not None and maker.needs != ("A", "y"):
        raise FileError(
            f"{source.label}: this family takes .npz files with {conjoined(maker.needs)}, or inline data."
        )
    if dictionary is not None:
        refuse_target(dictionary, section.family, section.target)
    return OutsideRows.of(source, section.target, dictionary, intercept=section.intercept)


def _outside_cost(
    section: Costs, maker: _Maker, agent: Any, rows: OutsideRows, agents: int, *, facts: bool
) -> Family:
    """Return the cost of records that stay where they are, after a look at their labels."""

    def kind(labels: Any) -> Family:
        return maker.make({"A": np.ones((len(labels), len(rows.names))), "y": labels}, section, agents)

    try:
        plain_labels = maker is _FAMILIES["least-squares"] or maker.make is _FAMILIES["least-squares"].make
        like = kind([0.0, 1.0] if plain_labels else rows.levels(kind))
        cost = like.over(rows)
        if facts:
            cost.facts = rows.facts(section.family)
        return _with_l1(cost, section, maker, agents)
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
        gaps = [f"nothing for agent {missing[0]}"] * bool(missing) + [f"no agent {unknown[0]}"] * bool(unknown)
        meant = did_you_mean(unknown[0], names) if unknown else ""
        raise CostError(f"{where} does not match the graph ({', '.join(gaps)}): name every agent once.{meant}")
    return {names[name]: value for name, value in given.items()}


def _from_files(
    section: CostsSection,
    maker: _Maker,
    agents: Sequence[Any],
    folder: Path,
    dictionary: Dictionary | None,
    *,
    unquestioned: bool = False,
) -> tuple[dict[Any, Data], tuple[str, ...], tuple[str, ...]]:
    if section.agents is not None:
        raise FileError("[costs] has both files and agents; keep one of them.")
    if isinstance(section.files, dict):
        named = _by_name(section.files, agents, "[costs] files")
        paths = {agent: _at(folder, name) for agent, name in named.items()}
    else:
        listing = (
            sorted(folder.glob(section.files), key=_in_natural_order)
            if isinstance(section.files, str)
            else [_at(folder, name) for name in section.files or ()]
        )
        if len(listing) != len(agents):
            raise FileError(
                f"[costs] files gives {len(listing)} file(s) for {len(agents)} agents: there must be one each."
            )
        paths = dict(zip(agents, listing, strict=True))
    if any(map(is_dataset, paths.values())):
        return _from_sources(section, maker, paths, folder, dictionary)
    files = {agent: path for agent, path in paths.items() if path.suffix.lower() == ".csv"}
    tables = {agent: _reader(unquestioned)(path, section.reading) for agent, path in files.items()}
    unnamed = {agent: path for agent, path in paths.items() if agent not in files}
    if unnamed and dictionary is not None:
        path = next(iter(unnamed.values()))
        raise MismatchError(f"{path}: has no names of columns to compare with the dictionary; use a .csv file.")
    arrays = {agent: read_arrays(path) for agent, path in unnamed.items()}
    if not tables:
        return arrays, (), ()
    first = next(iter(tables.values()))
    common = dictionary or plain(first.columns, _target(section, first))
    strict = dictionary is None  # nobody has said which columns matter: all do
    data = {
        agent: _design(sheet, common, section, maker, strict=strict, unquestioned=unquestioned)
        for agent, sheet in tables.items()
    }
    return arrays | data, common.names, tuple(sheet.assumption for sheet in tables.values() if sheet.assumption)


def _at(folder: Path, name: str) -> Any:
    """Return where a file is; what names a database stays as it is."""
    return name if is_address(name) else folder / name


def _from_sources(
    section: CostsSection, maker: _Maker, places: dict[Any, Any], folder: Path, dictionary: Dictionary | None
) -> tuple[dict[Any, Data], tuple[str, ...], tuple[str, ...]]:
    """Return the designs of agents of whom some have datasets: then all are read in batches."""
    reading, data = section.reading.checked(), {}
    first: OutsideRows | None = None
    for agent, place in places.items():
        source = open_source(place, folder=folder, separator=reading.separator, decimal=reading.decimal)
        rows = outside_rows(source, section, dictionary, maker=maker)
        first = first or rows
        rows = rows.with_columns(first.names, first.dataset.target, first.dataset.label)
        data[agent] = {"outside": rows, "dropped": rows.left_out()}
    return data, first.names if first is not None else (), ()


def _target(section: Costs, sheet: Sheet) -> str:
    target = section.target or sheet.columns[-1]
    if target not in sheet.columns:
        raise FileError(
            f"{sheet.label}: has no column {target!r}; it has {', '.join(sheet.columns)}."
            f"{did_you_mean(target, sheet.columns)}"
        )
    return target


def _design(
    sheet: Sheet,
    dictionary: Dictionary,
    section: Costs,
    maker: _Maker,
    *,
    strict: bool = False,
    unquestioned: bool = False,
) -> Data:
    """Return the design and the labels of one file."""
    if maker.needs != ("A", "y"):
        raise FileError(
            f"{sheet.label}: this family takes .npz files with {conjoined(maker.needs)}, or inline data."
        )
    refuse_target(dictionary, section.family, section.target)
    records = (mapped if unquestioned else match)(sheet, dictionary, strict=strict)
    return {"A": records.X, "y": records.y, "dropped": records.dropped}


def refuse_target(dictionary: Dictionary, family: str, target: str | None) -> None:
    """Refuse a target that the family cannot explain, or that differs from the one named elsewhere."""
    if target not in (None, dictionary.target):
        raise CostError(f"target = {target!r}, and [data] says {dictionary.target!r}: keep one of them.")
    explained = dictionary.explained
    if explained.type == "factor" and (family != "logistic" or len(explained.levels) != 2):
        raise CostError(
            f"target {explained.name!r} has {len(explained.levels)} levels: a logistic model takes two, and the "
            "others take numbers."
        )


def _in_natural_order(path: Path) -> list[Any]:
    """Return a key that puts g2 before g10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def read_arrays(path: Path) -> Data:
    """Return the arrays of one agent's file, by name."""
    if path.suffix.lower() != ".npz":
        raise FileError(f"{path}: agents' data come as .csv or .npz files.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, KeyError, EOFError, BadZipFile, zlib.error) as error:
        raise FileError(f"{path}: is not a readable {path.suffix} file.") from error
