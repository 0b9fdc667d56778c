"""Going on without somebody: the next epoch's manifest, what that costs, and whom it exposes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tacit.certificates import Certificate
from tacit.federation.epochs import without
from tacit.federation.guarantees import certified
from tacit.federation.manifest import Manifest
from tacit.listing import conjoined
from tacit.showing import Readable


@dataclass(frozen=True, slots=True)
class Leaving(Readable):
    """The same run without some members and links. Whether that costs anything depends on what was published."""

    before: Manifest
    after: Manifest
    members: tuple[str, ...]
    """Who has left."""
    links: tuple[tuple[str, str], ...]
    """Which are down, between members who stay."""
    certificate: Certificate | None
    """What holds for those who stay; None where nothing is hidden, or nothing can be."""

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.costs])

    @property
    def headline(self) -> str:
        """Who is left out, and what is left."""
        gone = [*self.members, *(f"the link of {a} and {b}" for a, b in self.links)]
        return (
            f"Without {conjoined(gone)}: {len(self.after.members)} of {len(self.before.members)} members stay, and "
            f"{len(self.after.links)} of {len(self.before.links)} links."
        )

    @property
    def costs(self) -> list[str]:
        """What going on tells; that depends on whether anything was published, which no manifest knows."""
        if self.before.privacy.level == "none":
            return ["Nothing is hidden in this run, so there is nothing to lose by going on."]
        return [*self._costs_of_members(), *self._costs_of_links()]

    def _costs_of_members(self) -> Iterator[str]:
        if not self.members:
            return
        who, alone = conjoined(self.members), len(self.members) == 1
        promised = self.after.promised()
        if promised is not None:
            yield (
                f"What it costs {who}, and those who stay: nothing by subtraction, since sums before and after "
                "carry noise of their own. If anything was published before, it counts as an answer: a record "
                f"of those who stay has spent μ = {promised.guarantee.mu:.4g} twice, and squares add up."
            )
            return
        its, summed = ("its", "") if alone else ("their", ", summed over them at least")
        exposure = (
            f"the sums at the points visited so far, with and without {who}, tell {its} contribution there{summed}"
            if self.before.privacy.level == "sums"
            else f"whoever saw all effective costs before and after learns what {its} masks hid, exactly{summed}"
        )
        yield (
            f"What it costs {who}: nothing, if nothing was published yet, since all draw new masks then. Once "
            f"anything was published: {exposure}."
        )
        yield (
            f"What it costs those who stay: {who} count{'s' * alone} as corrupted from now on. What "
            "holds for them is below."
        )
        model = self.before.model
        if model is not None and (model.l1 or model.l2):
            yield "Everybody keeps its share of the penalties, so in total they shrink."

    def _costs_of_links(self) -> Iterator[str]:
        if not self.links:
            return
        loss = "What the link costs" if len(self.links) == 1 else "What the links cost"
        if self.before.privacy.level == "sums":
            yield f"{loss}: masks go over fewer links now; what holds is below."
        else:
            yield (
                f"{loss}: nothing, once anything was published; the terms stay in the masks of both ends, and "
                "still cancel. Before that, all draw new masks over fewer links."
            )

    @property
    def warnings(self) -> list[str]:
        """Why those who stay would not be private any more, if that is so."""
        stay, colluders = len(self.after.members), self.after.privacy.any
        if self.after.privacy.level == "none":
            return []
        if self.certificate is None:
            return ["two members would stay, and each learns the other's part from the sum."]
        if not self.certificate.is_private:
            return [
                f"some {colluders} of those who stay can cut the others apart, and learn more than sums over "
                "all of them, exactly."
            ]
        if colluders > stay - 2:
            return [
                f"{colluders} members may collude, and {stay} would stay: fewer than two of them are honest then."
            ]
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "session": self.after.session(),
            "epoch": self.after.epoch,
            "members": list(self.after.members),
            "links": self.after.links,
            "costs": self.costs,
            "warnings": self.warnings,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }


def leave_out(manifest: Manifest, *, members: Iterable[str] = (), links: Iterable[tuple[str, str]] = ()) -> Leaving:
    """Return the next epoch of a run, without some members and links, and all that is to be known before it."""
    gone, down = tuple(dict.fromkeys(members)), tuple(links)
    after = without(manifest, members=gone, links=down)
    return Leaving(manifest, after, gone, down, certified(after))
