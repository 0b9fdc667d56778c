"""The peers of one agent, as whoever listened on the network can play them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.auditing.attacks.probe import Unknowns, parts
from tacit.auditing.attacks.rehearsal import Enough, Heard, Opaque
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange
from tacit.typing import Array, Numbers, Rows


class Overheard(NamedTuple):
    """What is known of a run to whoever replays one agent of it."""

    exchanges: Sequence[Exchange]
    messages: Sequence[Mapping[int, Array]]
    """Of every exchange, what each agent said."""
    openly: Sequence[Heard]
    """The first of them, where nobody says anything of its own."""
    totals: Sequence[Array]
    """Sums over the whole network."""


class Alone:
    """`Peers` of one agent, with what was overheard on the network; keeps what was heard of the agent itself."""

    resolution = 0.0

    def __init__(self, agent: int, overheard: Overheard, public: Public, unknowns: Unknowns) -> None:
        self.messages: list[tuple[Array, Array]] = []
        """What the agent says, in terms of the unknowns, and what was heard of it."""
        self._exchanges = list(zip(overheard.exchanges, overheard.messages, strict=True))
        self._openly, self._totals = list(overheard.openly), list(overheard.totals)
        self._me, self._public, self._unknowns = agent, public, unknowns
        self._neighbours = public.network.neighbours(agent)
        self._names = self._neighbours.tolist()
        self.degree = self.links = len(self._neighbours)
        self.first: Rows = np.asarray(agent < self._neighbours)

    def mix(self, x: Array) -> Array:
        """Return the weighted average of the own x and the neighbours'."""
        weights = self._public.weights[self._me]
        return np.asarray(weights[self._me] * x + self._from_neighbours("mix", x, weights[self._neighbours]))

    def gather(self, x: Array) -> Array:
        """Return the sum of the neighbours' x."""
        return self._from_neighbours("gather", x, np.ones(self.degree))

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Return what neighbours send in the place of the own rows: known where they are members."""
        exchange, _ = self._next("more" if more else "swap")
        ends = list(zip(exchange.senders.tolist(), exchange.receivers.tolist(), strict=True))
        came: list[Any] = []
        for row, j in zip(r, self._neighbours.tolist(), strict=True):
            if (self._me, j) in ends:
                self._say(row, exchange.values[ends.index((self._me, j))])
            theirs = exchange.values[ends.index((j, self._me))] if (j, self._me) in ends else None
            came.append(self._unknowns.like(row, theirs))
        return np.stack(came)

    def total(self, r: Numbers) -> Numbers:
        """Return the sum of the own rows."""
        return r.sum(axis=0)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the next of the totals that everybody is told, whatever the agent adds to it."""
        if not self._totals:
            raise Enough
        total: Any = self._totals.pop(0)
        result: Any = (
            total if total.shape == v.shape else self._unknowns.like(np.asarray(v, dtype=np.float64), total)
        )
        return result

    def _from_neighbours(self, kind: str, x: Array, weights: Array) -> Array:
        _, messages = self._next(kind)
        if self._me in messages:
            self._say(x, messages[self._me])
        rows = [messages.get(j) for j in self._names]
        known = np.array([row is not None for row in rows], dtype=bool)
        total = np.zeros_like(x)
        if known.any():
            values = np.array([row for row in rows if row is not None])
            total = total + self._unknowns.like(x, np.tensordot(weights[known], values, 1))
        if not known.all() and weights[~known].any():
            total = total + self._unknowns.like(x, None)
        return total

    def _next(self, kind: str) -> tuple[Exchange, Mapping[int, Array]]:
        """Return the next exchange, and what each agent is known to have said in it."""
        if not self._exchanges:
            raise Enough
        exchange, messages = self._exchanges.pop(0)
        if exchange.kind != kind:
            raise Opaque("what was said is not what the algorithm says")
        return exchange, dict(enumerate(self._openly.pop(0).values)) if self._openly else messages

    def _say(self, form: Any, heard: Array) -> None:
        forms = parts(np.asarray(form, dtype=np.float64), self._unknowns.width)
        self.messages += zip(forms, parts(heard, self._unknowns.m), strict=True)
