"""One agent's run with nothing known of its cost: every gradient is an unknown, and all else is linear in them.

An algorithm is run in many coordinates at once, [m as they are | unknown by unknown | all of them at once]. The
first m are the run with all unknowns zero; in the coordinate of an unknown nothing but that is one; in the last,
unknowns have arbitrary values, and what comes out must be the sum of the others: else the algorithm is not linear
in gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple, NoReturn

import numpy as np

from tacit.auditing.attacks.rehearsal import Enough, Heard, Opaque
from tacit.auditing.public import Public
from tacit.auditing.view import Exchange, received
from tacit.typing import Array, Numbers, Rows

_UNKNOWNS = 160  # up to which a run is followed


class Query(NamedTuple):
    """A gradient that was asked for, and where it was taken."""

    gradient: Array
    point: Array


class Unknowns:
    """Numbers that nobody knows, each in a coordinate of its own."""

    def __init__(self, unknowns: int, seed: int) -> None:
        self.m = unknowns
        self.width = unknowns + _UNKNOWNS + 1
        self.weights = np.random.default_rng(seed).uniform(1.0, 2.0, _UNKNOWNS)
        self.used = 0

    def known(self, values: Array) -> Array:
        """Return numbers that are known."""
        out = np.zeros(self.width)
        out[: self.m] = values
        return out

    def fresh(self) -> Array:
        """Return one more unknown."""
        if self.used == _UNKNOWNS:
            raise Enough
        out = np.zeros(self.width)
        out[self.m + self.used], out[-1] = 1.0, self.weights[self.used]
        self.used += 1
        return out


class Probe:
    """`Cost` of one agent of which nothing is known: ∇h(x) = C(x) + α, and C is the same at the same point."""

    def __init__(self, unknowns: Unknowns, *, rough: bool) -> None:
        self._unknowns, self.is_rough = unknowns, rough
        self._own = self.affine = unknowns.fresh()
        """α, as it is and as it is said to be."""
        self.queries: list[Query] = []
        self._seen: dict[bytes, Array] = {}

    @property
    def dim(self) -> int:
        """All coordinates."""
        return self._unknowns.width

    @property
    def limits(self) -> Array:
        """No limits."""
        return np.repeat([-np.inf, np.inf], self.dim)

    def grad(self, x: Array) -> Array:
        """Return C(x) + α."""
        x = np.broadcast_to(x, self.dim)
        curved = self._seen.get(x.tobytes())
        if curved is None:
            curved = self._seen[x.tobytes()] = self._unknowns.fresh()
            self.queries.append(Query(curved + self._own, x.copy()))
        return curved + self.affine

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return v − t(C + α), with the gradient at its end."""
        curved = self._unknowns.fresh()
        if self.is_rough:
            return curved
        out = np.asarray(v - np.asarray(t) * (curved + self.affine))
        self.queries.append(Query(curved + self._own, out))
        return out

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return v, or an unknown where costs have parts without a gradient."""
        return self._unknowns.fresh() if self.is_rough else v

    def with_affine(self, affine: Array) -> Probe:
        """Return the same cost, said to have another α."""
        other = copy(self)
        other.affine = np.broadcast_to(affine, self.dim)
        return other

    def value(self, x: Array) -> NoReturn:
        """Refuse."""
        raise Opaque("what is said depends on values of costs")

    def hess(self, x: Array) -> NoReturn:
        """Refuse."""
        raise Opaque("what is said depends on curvatures")

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return the gradient in other coordinates."""
        return np.asarray(self.grad(x) @ B)

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return any curvature in other coordinates."""
        return np.asarray(B.T @ self.hess(x) @ B)

    factored = False

    @property
    def lowest(self) -> Array:
        """Nothing is known."""
        return np.asarray(-np.inf)

    @property
    def smoothness(self) -> NoReturn:
        """Refuse."""
        raise Opaque("what is said depends on curvatures")

    strong_convexity = penalty = smoothness


class Alone:
    """`Peers` of one agent, with what was overheard on the network; keeps what the agent says itself."""

    resolution = 0.0

    def __init__(
        self, agent: int, heard: Sequence[Exchange], openly: Sequence[Heard], public: Public, unknowns: Unknowns
    ) -> None:
        self.said: list[Array] = []
        self._heard, self._openly = heard, openly
        self._me, self._public, self._unknowns = agent, public, unknowns
        self._neighbours = public.network.neighbours(agent)
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
        """Refuse: agents that say something else to every neighbour are attacked by observability."""
        raise Opaque("agents say something else to every neighbour")

    def total(self, r: Numbers) -> Numbers:
        """Return the sum of the own rows."""
        return r.sum(axis=0)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Refuse: sums are attacked by themselves."""
        raise Opaque("agents also add up over the whole network")

    def _from_neighbours(self, kind: str, x: Array, weights: Array) -> Array:
        place = len(self.said)
        if place == len(self._heard):
            raise Enough
        exchange = self._heard[place]
        if exchange.kind != kind:
            raise Opaque("what was said is not what the algorithm says")
        self.said.append(np.broadcast_to(x, self._unknowns.width).copy())
        messages = _messages(exchange, self._openly[place] if place < len(self._openly) else None)
        known = np.array([int(j) in messages for j in self._neighbours])
        values = [messages[int(j)] for j in self._neighbours[known]]
        total = self._unknowns.known(weights[known] @ np.stack(values)) if values else 0.0
        if not known.all() and weights[~known].any():
            total = total + self._unknowns.fresh()
        return np.asarray(total)


def _messages(exchange: Exchange, public: Heard | None) -> dict[int, Array]:
    """Return what each agent is known to have said in one exchange."""
    if public is not None:
        return dict(enumerate(public.values))
    return received(exchange)
