"""pandapower networks: loads, generators with costs, and what connects buses.

    load, storage, ward, sgen   fixed power p_mw·scaling; a controllable sgen, load or storage with a cost is a unit
    gen, ext_grid               units between min_p_mw and max_p_mw
    poly_cost, pwl_cost         cp2·P² + cp1·P + cp0, and [from, to, slope] pieces; who has a choice needs one
    line, trafo, trafo3w, impedance, dcline, closed bus-bus switches

Currencies are called $ here, whatever they are. Thurner et al., IEEE Trans. Power Syst. 33(6), 2018.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tacit.dispatch.generators import Generator, piecewise, polynomial
from tacit.dispatch.grid import Bus, Grid
from tacit.dispatch.pandapower_lines import lines_of
from tacit.errors import FileError, InputError
from tacit.listing import listed
from tacit.typing import Array

_SIGNS = {"gen": 1.0, "ext_grid": 1.0, "sgen": 1.0, "load": -1.0, "storage": -1.0}
_FIXED = {"load": 1.0, "ward": 1.0, "xward": 1.0, "storage": 1.0, "sgen": -1.0}
_ENDS = (
    ("line", ("from_bus", "to_bus")),
    ("trafo", ("hv_bus", "lv_bus")),
    ("trafo3w", ("hv_bus", "mv_bus")),
    ("trafo3w", ("hv_bus", "lv_bus")),
    ("impedance", ("from_bus", "to_bus")),
    ("dcline", ("from_bus", "to_bus")),
)


def read_pandapower(source: Path | Any) -> Grid:
    """Return the grid of a pandapower network, or of its JSON file."""
    net = _loaded(source) if isinstance(source, Path) else source
    if not all(hasattr(net, table) for table in ("bus", "load", "gen", "ext_grid", "poly_cost")):
        raise InputError(f"a {type(net).__name__} is not a pandapower network: it has no tables bus, load and gen.")
    buses = [int(b) for b in net.bus.index[np.asarray(net.bus.in_service, dtype=bool)]]
    units = [unit for table in _SIGNS for unit in _units(net, table, set(buses))]
    _refuse_priceless(net, units)
    dispatched = {(table, index) for table, index, _ in units}
    demand = dict.fromkeys(buses, 0.0)
    for table, sign in _FIXED.items():
        for index, row in _serving(net, table):
            if (table, index) not in dispatched and int(row.bus) in demand:
                name = "ps_mw" if table in ("ward", "xward") else "p_mw"
                demand[int(row.bus)] += sign * float(row[name]) * float(row.get("scaling", 1.0))
    zones = net.bus.zone if "zone" in net.bus else None
    areas: dict[Bus, Any] = (
        {b: zones[b] for b in buses if zones[b] is not None and zones[b] == zones[b]} if zones is not None else {}
    )
    if len(areas) < len(buses):
        areas.clear()
    return Grid(
        name=str(getattr(net, "name", "") or "pandapower network"),
        buses=tuple(buses),
        demand=np.array([[demand[b]] for b in buses]),
        generators=tuple(unit for _, _, unit in units),
        branches=_branches(net, set(buses)),
        lines=lines_of(net, buses),
        areas=areas,
    )


def _loaded(path: Path) -> Any:
    if not path.is_file():
        raise FileError(f"{path}: no such file.")
    try:
        import pandapower
    except ImportError as error:
        raise InputError("JSON networks are read by pandapower: pip install 'tacit[pandapower]'.") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net = pandapower.from_json(str(path))
    except Exception as error:  # whatever foreign code makes of a file that is none of its own
        raise FileError(f"{path}: is not a pandapower network, or was cut short.") from error
    if not hasattr(net, "bus"):
        raise FileError(f"{path}: is not a pandapower network.")
    return net


def _refuse_priceless(net: Any, units: list[tuple[str, int, Generator]]) -> None:
    """Refuse units that could run at many outputs, and of which nobody knows what that costs."""
    lacking = [
        unit.name for table, index, unit in units if unit.high > unit.low and _cost(net, table, index) is None
    ]
    if lacking:
        raise InputError(
            f"{len(lacking)} of {len(units)} unit(s) have no cost, so there is nothing to compare them by: "
            f"{listed(lacking)}; give each a poly_cost or a pwl_cost, cp1_eur_per_mw=0 where it is free."
        )


def _serving(net: Any, table: str) -> list[tuple[int, Any]]:
    """Return the rows in service of a table, if there is one."""
    rows = getattr(net, table, None)
    if rows is None or not len(rows):
        return []
    return [(int(index), row) for index, row in rows.iterrows() if bool(row.get("in_service", True))]


def _units(net: Any, table: str, known: set[int]) -> list[tuple[str, int, Generator]]:
    """Return what can be dispatched: generators, and whatever else has a cost and may be controlled."""
    units = []
    for index, row in _serving(net, table):
        cost = _cost(net, table, index)
        free = table in ("gen", "ext_grid")
        if int(row.bus) not in known or not (free or (cost is not None and bool(row.get("controllable", False)))):
            continue
        sign, name = _SIGNS[table], f"{table} {index}"
        ends = sorted(sign * _number(row.get(key), default) for key, default in
                      (("min_p_mw", -np.inf if table == "ext_grid" else 0.0), ("max_p_mw", np.inf)))  # fmt: skip
        low, high = ends
        if cost is None:
            curve, fixed = polynomial([0.0], low, high, name=name)
        elif isinstance(cost, list):
            curve, fixed = polynomial(
                [c * sign**k for c, k in zip(cost, (2, 1, 0), strict=True)], low, high, name=name
            )
        else:
            points = cost if sign > 0 else cost[::-1] * [-1.0, 1.0]
            curve, fixed = piecewise(points, low, high, name=name)
        units.append((table, index, Generator(name=name, bus=int(row.bus), curve=curve, fixed=fixed)))
    return units


def _cost(net: Any, table: str, index: int) -> list[float] | Array | None:
    """Return polynomial coefficients, or points (P, f); None where no cost is given."""
    for _, row in net.poly_cost.iterrows():
        if row.et == table and int(row.element) == index:
            return [_number(row.get(key), 0.0) for key in ("cp2_eur_per_mw2", "cp1_eur_per_mw", "cp0_eur")]
    rows = getattr(net, "pwl_cost", None)
    for _, row in rows.iterrows() if rows is not None else ():
        if row.et == table and int(row.element) == index:
            pieces = np.asarray(row.points, dtype=np.float64)
            P = np.r_[pieces[0, 0], pieces[:, 1]]
            return np.stack([P, np.r_[0.0, np.cumsum(np.diff(P) * pieces[:, 2])]], axis=-1)
    return None


def _number(value: Any, default: float) -> float:
    return default if value is None or value != value else float(value)


def _branches(net: Any, known: set[int]) -> tuple[tuple[int, int], ...]:
    pairs = [(int(row[a]), int(row[b])) for table, (a, b) in _ENDS for _, row in _serving(net, table)]
    for _, row in _serving(net, "switch"):
        if row.et == "b" and bool(row.closed):
            pairs.append((int(row.bus), int(row.element)))
    return tuple(sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b and {a, b} <= known}))
