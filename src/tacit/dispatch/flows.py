"""What a plan would put on the lines: DC power flow, for whoever knows the whole plan.

    f = b (θ_from − θ_to − φ)                    b = 1/(x·tap), φ the phase shift
    Cᵀf = P                                      outputs less demands, at every bus

Losses, voltages and reactive power are left out, as in MATPOWER's `rundcpf` (`makeBdc`) and pandapower's `rundcpp`.
Reactances are public, but flows are not: they determine what every bus takes or gives. Here they are computed where
one process holds the plan anyway; between organisations they would count as told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.typing import Array, Indices

_FULL = 1e-6  # of a limit: a flow above it by no more than that is at it
_STIFF = 1e-4  # of the least reactance: what stands for none at all
_BALANCED = 1e-6  # of the power in a piece: an imbalance below that is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Lines and transformers in service: public numbers."""

    names: tuple[str, ...]
    start: Indices
    """The node at which every line starts, (L,)."""
    end: Indices
    reactance: Array = field(repr=False)
    """x·tap in p.u., (L,)."""
    shift: Array = field(repr=False)
    """Phase shifts in radians, (L,)."""
    limit: Array = field(repr=False)
    """MW that may flow, either way; infinite where no limit is given, (L,)."""
    base: float
    """MVA of one p.u."""
    node: Mapping[int | str, int] = field(repr=False)
    """The node of every bus; nodes inside transformers belong to none."""


class Overload(NamedTuple):
    """A line that a plan asks too much of, in its worst period."""

    line: str
    period: int
    """From 1."""
    mw: float
    limit: float

    @property
    def loading(self) -> float:
        """Percent of the limit."""
        return 100.0 * abs(self.mw) / self.limit


class LineFlow(NamedTuple):
    """What a plan puts on one line."""

    line: str
    start: int | str
    """The bus it starts at; a name of its own for a node inside a transformer."""
    end: int | str
    mw: Array
    """In every period, (T,), from start to end; NaN where it cannot be known."""
    limit: float
    """MW, either way; infinite where none is given."""


def line_flows(lines: Lines, flow: Array) -> tuple[LineFlow, ...]:
    """Return what `flows` has found, line by line."""
    bus: dict[int, int | str] = {}
    for name, node in lines.node.items():  # buses that a closed switch joins are one node
        bus.setdefault(node, name)
    ends = zip(lines.names, lines.start.tolist(), lines.end.tolist(), flow, lines.limit.tolist(), strict=True)
    return tuple(
        LineFlow(name, bus.get(a, f"inside {name}"), bus.get(b, f"inside {name}"), mw, limit)
        for name, a, b, mw, limit in ends
    )


def flows(lines: Lines, injected: Mapping[int | str, Array]) -> Array:
    """Return MW on every line in every period, (L, T); NaN in a piece of the grid that does not balance by itself.

    *injected* is what every bus gives, less what it takes, (T,) in MW.
    """
    from scipy.sparse.csgraph import connected_components  # heavy: `tacit dispatch --help` goes without
    from scipy.sparse.linalg import splu

    count = 1 + max([*lines.node.values(), *lines.start.tolist(), *lines.end.tolist()], default=0)
    periods = len(next(iter(injected.values())))
    power = np.zeros((count, periods))
    for bus, mw in injected.items():
        if bus in lines.node:  # another one has no line, and nothing to give unless the rest is off balance
            power[lines.node[bus]] += mw
    x = np.where(lines.reactance == 0, _STIFF * _least(lines.reactance), lines.reactance)
    b = lines.base / x
    C = sp.coo_array(
        (np.repeat([1.0, -1.0], len(x)), (np.tile(np.arange(len(x)), 2), np.r_[lines.start, lines.end])),
        shape=(len(x), count),
    ).tocsc()
    pushed = -(b * lines.shift)[:, None]  # what phase shifts drive
    pieces, piece = connected_components(C.T @ C, directed=False)
    totals = np.stack([np.bincount(piece, power[:, t], minlength=pieces) for t in range(periods)], axis=1)
    sizes = np.stack([np.bincount(piece, np.abs(power[:, t]), minlength=pieces) for t in range(periods)], axis=1)
    unbalanced = np.abs(totals) > _BALANCED * np.maximum(sizes, 1.0)
    held = np.zeros(count, dtype=bool)
    held[np.unique(piece, return_index=True)[1]] = True  # one angle of every piece is zero
    angle = np.zeros((count, periods))
    free = np.flatnonzero(~held)
    if len(free):
        B = (C.T @ sp.diags_array(b) @ C).tocsc()[free][:, free]
        angle[free] = splu(B.tocsc()).solve((power - C.T @ pushed)[free])
    flow = b[:, None] * (C @ angle) + pushed
    return np.where(unbalanced[piece[lines.start]], np.nan, flow)


def overloads(lines: Lines, flow: Array) -> tuple[Overload, ...]:
    """Return the lines above their limits, the worst first."""
    ratio = np.nan_to_num(np.abs(flow) / lines.limit[:, None], nan=0.0)
    worst = ratio.argmax(axis=1)
    full = [k for k in np.argsort(-ratio.max(axis=1), kind="stable") if ratio[k, worst[k]] > 1.0 + _FULL]
    return tuple(
        Overload(lines.names[k], int(worst[k]) + 1, float(flow[k, worst[k]]), float(lines.limit[k])) for k in full
    )


def _least(reactance: Array) -> float:
    sizes = np.abs(reactance[reactance != 0])
    return float(sizes.min()) if len(sizes) else 1.0
