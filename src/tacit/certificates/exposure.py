"""What several runs together tell of one agent, or of few, exactly: as data, and in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tacit.listing import conjoined
from tacit.showing import Readable

ExposureKind = Literal[
    "cost",  # what an agent brought to a run
    "change",  # how that differs from what it brought to another one
    "changes",  # a combination of several such differences
    "combination",  # of what it brought to several runs that is no difference: it tells of the data themselves
    "unclear",  # so much is different that a single changed record would not be noticed
    "sum",  # over few agents: what is different at them between two runs
]


@dataclass(frozen=True, slots=True)
class Exposure(Readable):
    """Something that follows exactly from the *runs* named, for a *coalition* and its own numbers."""

    agents: tuple[str, ...]
    """Whose; more than one for a sum over them."""
    runs: tuple[str, ...]
    coalition: tuple[str, ...] = ()
    """To whom; empty for everybody who knows the sums."""
    kind: ExposureKind = "cost"
    between: tuple[str, ...] = ()
    """The first runs that had the data in question: one for a cost, two for a change."""
    parts: tuple[str, ...] = ()
    """The parts of the data, such as columns, that are concerned; empty for all of them."""

    @property
    def agent(self) -> str:
        """The agent, or the first of those who are added up."""
        return self.agents[0]

    @property
    def is_change(self) -> bool:
        """Whether it tells how an agent's data have changed, and not what they are."""
        return self.kind in ("change", "changes", "unclear")

    def to_dict(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        return {name: getattr(self, name) for name in ("kind", "agents", "coalition", "between", "runs", "parts")}

    def contains(self, other: Exposure) -> bool:
        """Whether *other* is known to whoever knows this: the same thing, to no fewer agents."""
        same = (self.agents, self.kind, self.between) == (other.agents, other.kind, other.between)
        covered = not self.parts or (other.parts != () and set(other.parts) <= set(self.parts))
        return same and set(self.coalition) <= set(other.coalition) and covered

    def __str__(self) -> str:
        to = f" to {', '.join(self.coalition)}" if self.coalition else ""
        return _SENTENCES[self.kind](self, to)


def newly_exposed(before: Iterable[Exposure], after: Iterable[Exposure]) -> tuple[Exposure, ...]:
    """Return the exposures in *after* to coalitions that did not know it, nor contain one that did."""
    known = list(before)
    return tuple(new for new in after if not any(old.contains(new) for old in known))


def least(exposures: Iterable[Exposure]) -> tuple[Exposure, ...]:
    """Put together what concerns several parts; drop what a smaller coalition is told as well."""
    joined: dict[tuple[object, ...], Exposure] = {}
    for each in exposures:
        key = (each.agents, each.coalition, each.kind, each.between)
        other = joined.setdefault(key, each)
        parts = tuple(dict.fromkeys((*other.parts, *each.parts))) if other.parts and each.parts else ()
        joined[key] = replace(other, parts=parts)
    kept: list[Exposure] = []
    for exposure in sorted(joined.values(), key=lambda e: len(e.coalition)):
        kept += newly_exposed(kept, [exposure])
    return tuple(kept)


def _cost(e: Exposure, to: str) -> str:
    if len(e.runs) == 1:
        return f"exposed: agent {e.agent}{to}, alone in its component in run {e.runs[0]}"
    if len(e.runs) == 2:
        return f"exposed: agent {e.agent}{to}, because runs {conjoined(e.runs)} differ only in it"
    return f"exposed: agent {e.agent}{to}, by adding and subtracting runs {', '.join(e.runs)}"


def _change(e: Exposure, to: str) -> str:
    start, end = e.between
    how = "" if set(e.runs) <= {start, end} else f", by adding and subtracting runs {', '.join(e.runs)}"
    return f"exposed: what changed at agent {e.agent} between run {start} and run {end}{to}{how}"


def _combination(e: Exposure, to: str) -> str:
    return f"exposed: a combination of what agent {e.agent} brought to runs {', '.join(e.between)}{to}"


def _changes(e: Exposure, to: str) -> str:
    return f"exposed: a combination of what changed at agent {e.agent} between runs {', '.join(e.between)}{to}"


def _unclear(e: Exposure, to: str) -> str:
    parts = f" ({conjoined(e.parts)})" if e.parts else ""
    return (
        f"unclear: what is different at {conjoined(e.agents)}{parts} since run {e.between[0]} cannot be told from "
        f"a change of single records{to}"
    )


def _sum(e: Exposure, to: str) -> str:
    return (
        f"told: the sum of what is different at {conjoined(e.agents)} between run {' and run '.join(e.between)}{to}"
    )


_SENTENCES = {
    "cost": _cost,
    "change": _change,
    "changes": _changes,
    "combination": _combination,
    "unclear": _unclear,
    "sum": _sum,
}
