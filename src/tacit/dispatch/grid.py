"""A grid as a dispatch needs it: buses with demands, generators with costs, and the branches between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from tacit.dispatch.flows import Lines
from tacit.dispatch.generators import Generator
from tacit.errors import InputError
from tacit.typing import Array

Bus = int | str
DAY = (0.67, 0.63, 0.60, 0.59, 0.59, 0.60, 0.74, 0.86, 0.95, 0.96, 0.96, 0.95,
       0.95, 0.95, 0.93, 0.94, 0.99, 1.00, 1.00, 0.96, 0.91, 0.83, 0.73, 0.63)  # fmt: skip
"""A winter weekday, hour by hour, of the IEEE Reliability Test System: shares of its peak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Buses in service, in MW and $ an hour. Holds everybody's private numbers: it is never sent or shown."""

    name: str
    buses: tuple[Bus, ...]
    demand: Array = field(repr=False)
    """MW of every bus in every period, (buses, periods)."""
    generators: tuple[Generator, ...] = field(repr=False)
    """Those in service."""
    branches: tuple[tuple[Bus, Bus], ...] = field(repr=False)
    """Lines, transformers and DC lines in service, without parallel ones."""
    areas: dict[Bus, Any] = field(repr=False, default_factory=dict)
    """The area of every bus, where areas are given."""
    lines: Lines | None = field(repr=False, default=None)
    """What flows are computed from, where the source says it. No limit of a line is part of a dispatch."""

    def __post_init__(self) -> None:
        if not self.generators:
            raise InputError(f"{self.name}: no generator is in service, so nothing can be dispatched.")
        if self.demand.shape[0] != len(self.buses) or self.demand.ndim != 2 or not self.demand.shape[1]:
            raise InputError(f"{self.name}: {len(self.buses)} buses need one row of demands each.")
        if not np.isfinite(self.demand).all():
            raise InputError(f"{self.name}: the demand of a bus is missing or infinite.")

    @property
    def periods(self) -> int:
        """How many periods are dispatched together."""
        return int(self.demand.shape[1])

    @property
    def has_ramps(self) -> bool:
        """Whether some generator cannot go through its whole range from one period to the next."""
        return self.periods > 1 and any(g.ramp < g.high - g.low for g in self.generators)

    def over(self, profile: ArrayLike) -> Grid:
        """Return the grid over several periods: one factor for all demands, or one row per bus in MW.

        >>> from tacit.dispatch import Generator, Curve
        >>> unit = Generator("g", 1, Curve(np.array([3.0, 3.0]), np.array([0.0, 9.0])))
        >>> grid = Grid(name="one", buses=(1,), demand=np.array([[4.0]]), generators=(unit,), branches=())
        >>> grid.over([0.5, 1.0, 2.0]).demand
        array([[2., 4., 8.]])
        """
        factors = np.asarray(profile, dtype=np.float64)
        if factors.ndim == 1:
            demand = self.demand[:, :1] * factors
        elif factors.ndim == 2 and len(factors) == len(self.buses):
            demand = factors
        else:
            raise InputError(
                f"a profile of shape {factors.shape} fits neither all demands (one factor a period) nor "
                f"{len(self.buses)} buses (one row each)."
            )
        return replace(self, demand=demand)

    def islands(self) -> list[tuple[Bus, ...]]:
        """Return the pieces that no branch joins, the largest first; buses with nothing to balance are in none."""
        graph: nx.Graph[Bus] = nx.Graph()
        graph.add_nodes_from(self.buses)
        graph.add_edges_from(self.branches)
        busy = {bus for bus, need in zip(self.buses, self.demand, strict=True) if need.any()}
        busy |= {unit.bus for unit in self.generators}
        order = {bus: k for k, bus in enumerate(self.buses)}
        pieces = [tuple(sorted(piece, key=order.__getitem__)) for piece in nx.connected_components(graph)]
        return sorted(
            (piece for piece in pieces if busy & set(piece)), key=lambda piece: (-len(piece), order[piece[0]])
        )

    def island(self, bus: Bus) -> Grid:
        """Return what branches join to *bus*, or to the one that is written so, as a grid of its own."""
        bus = next((other for other in self.buses if str(other) == str(bus)), bus)
        piece = next((set(piece) for piece in self.islands() if bus in piece), None)
        if piece is None:
            raise InputError(f"{self.name}: no island with demand or generators has a bus {bus!r}.")
        return replace(
            self,
            name=f"{self.name}, island of bus {bus}",
            buses=tuple(b for b in self.buses if b in piece),
            demand=self.demand[[b in piece for b in self.buses]],
            generators=tuple(unit for unit in self.generators if unit.bus in piece),
            branches=tuple(pair for pair in self.branches if pair[0] in piece),
            areas={b: area for b, area in self.areas.items() if b in piece},
        )

    def without_ramps(self) -> Grid:
        """Return the grid with generators that change their output at will."""
        return replace(self, generators=tuple(replace(g, ramp=np.inf) for g in self.generators))
