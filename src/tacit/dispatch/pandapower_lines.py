"""The lines of a pandapower network, as its own power flow sees them.

pandapower turns lines, two- and three-winding transformers, impedances and switches into branches of one kind, and
ratings into MW (`to_ppc`): currents at nominal voltage times `max_loading_percent`. Nothing is converted twice.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from tacit.dispatch.flows import Lines

_START, _END, _X, _RATE, _TAP, _SHIFT, _STATUS = 0, 1, 3, 5, 8, 9, 10  # columns of a branch table


def lines_of(net: Any, buses: list[int]) -> Lines | None:
    """Return the branches in service; None where pandapower cannot make them out of this network."""
    try:
        from pandapower.converter.pypower import to_ppc

        own = copy.deepcopy(net)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ppc = to_ppc(own, calculate_voltage_angles=True, mode="opf", init="flat")
        branch = np.real(ppc["branch"])
        places, ranges = own._pd2ppc_lookups["bus"], own._pd2ppc_lookups["branch"]
        names = [_name(own, ranges, k) for k in range(len(branch))]
        node: dict[int | str, int] = {bus: int(places[bus]) for bus in buses}
    except Exception:  # foreign code, and a network may lack what a power flow needs: then flows are not looked at
        return None
    rows = np.flatnonzero((branch[:, _STATUS] > 0) & (branch[:, _START] != branch[:, _END]))
    tap, rate = branch[rows, _TAP], branch[rows, _RATE]
    return Lines(
        names=tuple(names[k] for k in rows),
        start=branch[rows, _START].astype(np.intp),
        end=branch[rows, _END].astype(np.intp),
        reactance=branch[rows, _X] * np.where(tap == 0, 1.0, tap),
        shift=np.deg2rad(branch[rows, _SHIFT]),
        limit=np.where(rate > 0, rate, np.inf),
        base=float(ppc["baseMVA"]),
        node=node,
    )


def _name(net: Any, ranges: dict[str, tuple[int, int]], row: int) -> str:
    """Return what pandapower calls a branch: its table, and its place there."""
    for table, (first, last) in ranges.items():
        if first <= row < last:
            index = getattr(net, table).index if hasattr(net, table) else range(last - first)
            return f"{table} {index[(row - first) % len(index)]}"
    return f"branch {row}"
