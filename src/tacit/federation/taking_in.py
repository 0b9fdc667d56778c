"""Taking a newcomer in, between runs: the manifest of the next run, and what the two runs together tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tacit.certificates import Certificate, Exposure
from tacit.errors import InputError
from tacit.federation.cards import Card
from tacit.federation.drawing_up import finished
from tacit.federation.earlier import remembered, told_together
from tacit.federation.foreign import refuse_acting
from tacit.federation.guarantees import certified
from tacit.federation.manifest import Manifest
from tacit.federation.sections import Member
from tacit.later import later
from tacit.listing import conjoined
from tacit.showing import Readable

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


@dataclass(frozen=True, slots=True)
class TakingIn(Readable):
    """The next run, with newcomers. Nobody's masks or messages are carried into it: it is a run of its own."""

    before: Manifest
    after: Manifest
    newcomers: tuple[str, ...]
    exposures: tuple[Exposure, ...]
    """What the two runs together tell exactly of single members."""
    certificate: Certificate | None
    """What holds in the next run by itself; None where nothing is hidden, or nothing can be."""

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.costs])

    @property
    def headline(self) -> str:
        """Who comes, and to whom it is linked."""
        near = self.after.neighbours()
        links = "; ".join(f"{name} is linked to {conjoined(near[name])}" for name in self.newcomers)
        return (
            f"With {conjoined(self.newcomers)}: {len(self.after.members)} members in run {self.after.run}. {links}."
        )

    @property
    def costs(self) -> list[str]:
        """What it costs whom, in ledgers and beyond."""
        if self.before.privacy.level == "none":
            return ["Nothing is hidden in these runs, so there is nothing to lose."]
        return [*self._costs_of_newcomers(), *self._costs_of_others()]

    def _costs_of_newcomers(self) -> Iterator[str]:
        who, colluders = conjoined(self.newcomers), self.after.privacy.any
        promised = self.after.promised()
        if promised is not None:
            yield (
                f"What it costs {who}: μ = {promised.guarantee.mu:.4g}, as everybody. Nothing is told by "
                "subtraction: the answer carries noise of its own."
            )
            return
        if len(self.newcomers) == 1:
            yield (
                f"What it costs {who}: all it brings. The sums of the runs before and of this one differ in {who} "
                "alone, so that everybody who knows both can subtract them, exactly. A newcomer who must not be "
                f"told comes together with {colluders + 1} or more others."
            )
        elif self.exposures:
            yield (
                f"What it costs {who}: the sums of the runs before and of this one tell what they bring together, "
                f"and so up to {colluders} of them learn exactly what another one of them brings. Newcomers who "
                f"must not be told come at least {colluders + 2} at a time."
            )
        else:
            yield (
                f"What it costs {who}: the sums of the runs before and of this one tell what they bring together, "
                "and nothing of one of them."
            )

    def _costs_of_others(self) -> Iterator[str]:
        if self.after.promised() is None:
            yield (
                "What it costs the others: nothing, while their records are those of before: the sums over them "
                "were told already. Ledgers of whoever has changed some say what that tells."
            )
        if self.certificate is not None:
            aware = ", and the word that one knows the above" * bool(self.exposures)
            yield f"What it costs in everybody's ledger: ε = {self.certificate.epsilon:.3g}{aware}."

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "session": self.after.session(),
            "run": self.after.run,
            "members": list(self.after.members),
            "newcomers": list(self.newcomers),
            "links": self.after.links,
            "costs": self.costs,
            "exposures": [exposure.to_dict() for exposure in self.exposures],
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }


def take_in(manifest: Manifest, cards: Iterable[Card]) -> TakingIn:
    """Return the run that follows from that of a manifest, with newcomers, and all that is to be known before it.

    Links stay as they are, and every newcomer gets as many as whoever has the fewest: no smaller coalition than
    before can cut the members apart. Penalties are those of before, in total.
    """
    new: dict[str, Member] = {}
    for card in cards:
        refuse_acting({"name": card.name, "address": card.address})
        if card.name in manifest.members or card.name in new:
            raise InputError(f"{card.name} is a member already.")
        new[card.name] = Member(card.address, card.certificate)
    if not new:
        raise InputError("give the card of whoever is to be taken in.")
    model = manifest.model
    after = finished(
        msgspec.structs.replace(
            manifest,
            run=manifest.run + manifest.repeat.runs,
            members=manifest.members | new,
            links=_linked(manifest, list(new)),
            model=None if model is None else msgspec.structs.replace(model, shares=None),
            epoch=0,
            previous="",
            left=[],
            follows=manifest.session(),
            earlier=remembered(manifest),
        )
    )
    return TakingIn(manifest, after, tuple(new), told_together(after), certified(after))


def _linked(manifest: Manifest, names: list[str]) -> list[tuple[str, str]]:
    """Return the links with those of newcomers, each to the members who have the fewest."""
    graph: nx.Graph[str] = nx.Graph(manifest.links)
    graph.add_nodes_from(manifest.members)
    order = {name: k for k, name in enumerate((*manifest.members, *names))}
    degree = min(dict(graph.degree).values())
    links = list(manifest.links)
    for name in names:
        near = sorted(graph, key=lambda other: (graph.degree[other], order[other]))[:degree]
        graph.add_edges_from((name, other) for other in near)
        links += [(other, name) for other in sorted(near, key=order.__getitem__)]
    return links
