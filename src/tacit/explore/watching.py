"""A federation as it goes: who is up, in which round, waiting for whom and for how long, and its links.

What is known of a member is its bulletin; nothing in it depends on a cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import networkx as nx

from tacit.runtimes.peers import LinkTimes
from tacit.runtimes.peers.bulletin import Bulletin, LinkNews
from tacit.runtimes.peers.spells import Ends, Spell

Doings = Literal["up", "waits", "done", "away", "silent", "failed"]
_WORDS: dict[Doings, str] = {
    "up": "up", "waits": "waits", "done": "done", "away": "away", "silent": "silent",
    "failed": "its links have failed",
}  # fmt: skip
_OVER = ("ended", "parted", "erased")  # phases after the last round
HEAD_OF_NEWS = ("member", "state", "phase", "round", "waiting for", "links up")


@dataclass(frozen=True, slots=True)
class MemberNews:
    """How one member is."""

    member: str
    """Its name, or the address that was asked where nobody answers."""
    state: Doings
    bulletin: Bulletin | None = None
    trouble: str = ""
    """Why it is not up, in a few words."""
    place: str = ""
    """Where that was asked."""
    named: bool = True
    """Whether it is known who that is."""

    @classmethod
    def of(cls, bulletin: Bulletin, *, age: float = 0.0, fresh: float = 10.0) -> MemberNews:
        """Return what a bulletin of *age* seconds says; once it is not *fresh*, its agent counts as silent."""
        over = bulletin.phase in _OVER
        late = age > fresh and not over
        state: Doings = (
            "failed" if bulletin.failed else "done" if over else "silent" if late
            else "waits" if bulletin.awaited else "up"
        )  # fmt: skip
        return cls(bulletin.name, state, bulletin, f" for {age:.0f} s" if state == "silent" else "")

    @property
    def is_there(self) -> bool:
        """Whether it runs, or has ended well."""
        return self.state in ("up", "waits", "done")

    def row(self) -> tuple[str, ...]:
        """Return it as cells: member, state, phase, round, waiting for, links."""
        b, state = self.bulletin, f"{_WORDS[self.state]}{self.trouble}"
        if b is None:
            return (self.member, state, "–", "–", "–", "–")
        waiting = f"{b.awaited}, for {b.waited:.0f} s" if b.awaited and self.state == "waits" else "nobody"
        links = f"{sum(n.up for n in b.links)} of {len(b.links)}"
        return (b.name, state, b.phase, str(b.round), waiting, links)


def summary(news: Sequence[MemberNews]) -> str:
    """Return the whole federation in a sentence."""
    there = [each for each in news if each.is_there]
    if not there:
        return "Nobody answers."
    verb = "answers" if len(there) == 1 else "answer"
    if all(each.state == "done" for each in there):
        return f"{len(there)} of {len(news)} members {'is' if len(there) == 1 else 'are'} done."
    rounds = [each.bulletin.round for each in there if each.bulletin is not None]
    awaited = sorted({each.bulletin.awaited for each in there if each.bulletin and each.state == "waits"})
    where = "" if not rounds else f", in round {rounds[0]}"
    if rounds and min(rounds) != max(rounds):
        where = f", in rounds {min(rounds)} to {max(rounds)}"
    waiting = f"; {', '.join(awaited)} {'is' if len(awaited) == 1 else 'are'} waited for" if awaited else ""
    return f"{len(there)} of {len(news)} members {verb}{where}{waiting}."


@dataclass(slots=True)
class Vigil:
    """What was seen since somebody began to look."""

    start: float
    """When that was, on the clock of the looks."""
    news: tuple[MemberNews, ...] = ()
    """The latest."""
    _spells: dict[Ends, list[Spell]] = field(default_factory=dict)
    _up: set[Ends] = field(default_factory=set)
    _until: float = 0.0

    def take(self, news: Iterable[MemberNews], now: float) -> None:
        """Take what all members say at one moment; of a link, either end may say that it is up.

        Where nobody answers any more, those who did are shown with what they reported last.
        """
        self.news = tuple(each for new in news for each in self._remembered(new))
        self._until = now - self.start
        reported: dict[Ends, list[LinkNews]] = {}
        for each in self.news:
            for n in each.bulletin.links if each.bulletin is not None else ():
                one, other = sorted((each.member, n.neighbour))
                reported.setdefault((one, other), []).extend([n] if each.is_there else [])
        for link, ends in reported.items():
            self._note(link, any(n.up for n in ends), next((n.trouble for n in ends if n.trouble), "no answer"))

    def _remembered(self, new: MemberNews) -> list[MemberNews]:
        before = [each for each in self.news if each.place == new.place and each.named]
        if new.named or not before:
            return [new]
        return [
            each if each.state == "done" else replace(each, state="away", trouble=new.trouble) for each in before
        ]

    def _note(self, link: Ends, up: bool, trouble: str) -> None:
        spells = self._spells.setdefault(link, [])
        if up and link in self._up:
            spells[-1] = spells[-1]._replace(end=self._until)
        elif up:
            spells.append(Spell(self._until, self._until))
        elif link in self._up:
            spells[-1] = Spell(spells[-1].start, self._until, trouble)
        (self._up.add if up else self._up.discard)(link)

    def times(self) -> LinkTimes:
        """Return when links were up, since somebody began to look."""
        return LinkTimes(self._until, {link: tuple(spells) for link, spells in self._spells.items()})

    def graph(self) -> nx.Graph[Any]:
        """Return the members and their links, as they have named them."""
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(each.member for each in self.news)
        graph.add_edges_from(self._spells)
        return graph
