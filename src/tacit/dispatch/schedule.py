"""The answer of a dispatch, in MW, $/MWh and $."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tacit.dispatch.flows import LineFlow, Overload
from tacit.showing import Shown, frame
from tacit.solving import RunRecord
from tacit.typing import Array

Limit = Literal["lower", "upper"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule(Shown):
    """Prices, outputs and what they cost. Whoever dispatches a grid in one process holds all of it."""

    grid: str
    agents: str
    """What the agents were: bus, area or generator."""
    links: int
    price: Array
    """$/MWh of every period, (T,)."""
    output: Array = field(repr=False)
    """MW of every generator in service in every period, (G, T)."""
    units: tuple[str, ...] = field(repr=False)
    """The generators' names; MATPOWER's are their rows, from 1."""
    buses: tuple[Any, ...] = field(repr=False)
    """Where they are."""
    demand: Array
    """MW of the whole grid in every period, (T,)."""
    cost: Array
    """$ of every period, (T,)."""
    at_limits: tuple[Limit, ...] = field(repr=False)
    """Of every period, whether all units must run at their lower or their upper limits. Then many prices balance;
    secret sums find the marginal one, at which the first unit would leave its limit, and gossip any."""
    share: Array = field(repr=False)
    """Where in their room marginal units run in every period, (T,)."""
    records: tuple[RunRecord, ...] = field(repr=False)
    """The runs: the capacity, the price, and the split."""
    seconds: float
    overloads: tuple[Overload, ...] = field(repr=False)
    """Lines that these outputs would overload: limits are no part of the dispatch. Known to a simulation only."""
    flows: tuple[LineFlow, ...] = field(repr=False)
    """MW on every line, where the source says enough to compute them. Known to a simulation only."""
    lines_checked: int | None = field(repr=False)
    """Lines with a limit whose flows were looked at; None where the source does not say enough for that."""
    says: tuple[str, ...] = field(repr=False)
    """What was hidden from whom."""
    protection: dict[str, Any] = field(repr=False)
    """The same as data, as the run of the price has it: private, stamps and hidden_difference."""
    exposed: tuple[Any, ...] = field(repr=False)
    """Agents with one neighbour, who knows all their masks."""
    helpful: tuple[tuple[Any, Any], ...] = field(repr=False)
    """Links that would protect them."""

    @property
    def total_cost(self) -> float:
        """$ of all periods."""
        return float(self.cost.sum())

    @property
    def balance_error(self) -> float:
        """MW by which outputs miss the demand, in the worst period."""
        return float(np.abs(self.output.sum(axis=0) - self.demand).max())

    @property
    def rounds(self) -> int:
        """Rounds of all runs."""
        return sum(record.phase2.rounds for record in self.records)

    @property
    def exchanges(self) -> int:
        """How often agents waited for their neighbours, in all runs."""
        return sum(record.phase2.exchanges for record in self.records)

    @property
    def algorithm(self) -> str:
        """What found the price."""
        return self.records[1].phase2.algorithm

    def largest(self, count: int) -> list[int]:
        """Return the numbers of the generators with the largest outputs in any period."""
        return np.argsort(-np.abs(self.output).max(axis=1), kind="stable")[:count].tolist()

    def to_json(self) -> str:
        """Return everything but the runs' histories, as JSON."""
        return json.dumps(
            {
                "grid": self.grid,
                "agents": self.agents,
                "price": self.price.tolist(),
                "at_limits": list(self.at_limits),
                "demand": self.demand.tolist(),
                "cost": self.cost.tolist(),
                "total_cost": self.total_cost,
                "balance_error": self.balance_error,
                "output": [
                    {"generator": name, "bus": bus, "mw": path}
                    for name, bus, path in zip(self.units, self.buses, self.output.tolist(), strict=True)
                ],
                "lines_checked": self.lines_checked,
                "overloads": [
                    {"line": o.line, "period": o.period, "mw": o.mw, "limit": o.limit, "percent": o.loading}
                    for o in self.overloads
                ],
                "algorithm": self.algorithm,
                "rounds": self.rounds,
                "exchanges": self.exchanges,
                "seconds": self.seconds,
                **self.protection,
                "privacy": list(self.says),
                "exposed": list(self.exposed),
                "helpful": [list(link) for link in self.helpful],
            }
        )

    def __str__(self) -> str:
        from tacit.dispatch.summary import summary  # it reads schedules

        return "\n".join(f"{name}: {sentence}" for name, sentence in summary(self))

    def to_frame(self) -> Any:
        """Return MW of every generator as a table of pandas, a column per period."""
        rows = [
            {"generator": name, "bus": bus, **{f"mw_{t + 1}": float(mw) for t, mw in enumerate(path)}}
            for name, bus, path in zip(self.units, self.buses, self.output, strict=True)
        ]
        return frame(rows, "generator")

    def to_csv(self) -> str:
        """Return a table with one line per generator and one column of MW per period."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        periods = [f"mw_{t + 1}" for t in range(len(self.price))] if len(self.price) > 1 else ["mw"]
        table.writerow(["generator", "bus", *periods])
        for name, bus, path in zip(self.units, self.buses, self.output, strict=True):
            table.writerow([name, bus, *(repr(float(mw)) for mw in path)])
        return text.getvalue()
