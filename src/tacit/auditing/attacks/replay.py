"""Gradient replay: one agent's run, read backwards from what it sent.

Run the algorithm as agent i runs it, with a cost of which nothing is known: every gradient that it asks for is an
unknown G, every message from a neighbour who was not overheard another one, U. All that the agent says is then

    s = A (G, U) + b        A from the algorithm's own `step`, b from x₀ and from what was overheard

and so are the points at which gradients were taken. What these equations determine is read. If all neighbours of i
are overheard that is every gradient; if not, mostly the first: all agents start at the same public point. A
proximal step is the gradient at its end, prox(v) = v − t G; of a part without a gradient it is another unknown.

The step of no algorithm is written down here. For DGD the equations are ∇h_i(x^k) = (W x^k − x^{k+1})_i/γ_k, for
ADMM those of Zhang, Ahmad, Wang, IEEE TIFS 14(3), 2019, for gradient tracking of arXiv 2509.18134.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.readings import Reading, estimated
from tacit.auditing.attacks.rehearsal import Enough, Heard, Opaque, opening, said
from tacit.auditing.public import Public
from tacit.auditing.view import Exchange, View
from tacit.typing import Array, Numbers, Rows

_UNKNOWNS = 160  # up to which equations are written down
_DETERMINED = 1e-7


@dataclass(frozen=True, slots=True)
class Replay:
    """Read what the coalition's neighbours sent, for at most so many exchanges."""

    exchanges: int = 50
    name: str = "replay"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nobody gossips, or no gradient enters what is said in a linear way."""
        if public.algorithm is None or not said(view, public):
            return "nobody gossips: sums are attacked by themselves"
        try:
            opening(public)
            agents = _overheard(view, public)
            if agents:
                _equations(agents[0], view, public, self.exchanges)
        except Opaque as error:
            return str(error)
        return None

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="the algorithm's own step, read backwards")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return all gradients that can be read, with the points where they were taken."""
        return [
            reading for agent in _overheard(view, public) for reading in _read(agent, view, public, self.exchanges)
        ]


def _overheard(view: View, public: Public) -> list[int]:
    """Return the honest agents whom members hear."""
    heard = {int(i) for exchange in said(view, public)[:1] for i in exchange.senders}
    return sorted(heard - set(view.coalition.tolist()))


class Query(NamedTuple):
    """A gradient that was asked for, and where it was taken."""

    gradient: Array
    point: Array


class Unknowns:
    """Numbers that nobody knows, each in a column of its own: [m as they are | one by one | all of them at once].

    Everything is run in m + d + 1 coordinates. The first m are the run with all unknowns zero; coordinate d is the
    run in which nothing but unknown d is one; in the last, unknowns have arbitrary values: it must be a sum of the
    others.
    """

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

    @property
    def smoothness(self) -> NoReturn:
        """Refuse."""
        raise Opaque("what is said depends on curvatures")

    strong_convexity = penalty = smoothness


class Alone:
    """`Peers` of one agent, with what was overheard on the network; keeps what the agent says itself."""

    resolution = 0.0

    def __init__(self, agent: int, view: View, public: Public, unknowns: Unknowns, exchanges: int) -> None:
        self.said: list[Array] = []
        self._heard = said(view, public)[:exchanges]
        self._opening = opening(public)
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
        messages = _messages(exchange, self._opening[place] if place < len(self._opening) else None)
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
    return {int(agent): row for agent, row in zip(exchange.senders, exchange.values, strict=True)}


class Equations(NamedTuple):
    """What an agent said, and where it took gradients, in terms of what is not known."""

    A: Array  # (k, d)
    b: Array  # (k, m)
    queries: list[Query]
    unknowns: int
    m: int


def _equations(agent: int, view: View, public: Public, exchanges: int) -> Equations:
    """Run the algorithm as one agent runs it, twice: its step must be linear in every unknown by itself."""
    first, second = (_run(agent, view, public, exchanges, seed) for seed in (0, 1))
    if first.A.shape != second.A.shape or not np.allclose(first.A, second.A, rtol=1e-9, atol=1e-9):
        raise Opaque("what is said is not linear in gradients")
    return first


def _run(agent: int, view: View, public: Public, exchanges: int, seed: int) -> Equations:
    algorithm = public.algorithm
    if algorithm is None:
        raise Opaque("no algorithm runs here")
    unknowns = Unknowns(public.unknowns, seed)
    probe, peers = Probe(unknowns, rough=public.rough), Alone(agent, view, public, unknowns, exchanges)
    try:
        with np.errstate(all="ignore"):
            state = algorithm.init(unknowns.known(public.start), probe)
            for _ in range(exchanges):
                state = algorithm.step(state, peers, probe)
    except Enough:
        pass
    except Opaque:
        raise
    except Exception as error:  # whatever a stranger's algorithm raises on costs that it did not expect
        raise Opaque(f"{type(algorithm).__name__} does not run with gradients that are not known") from error
    spoken, m, used = np.stack(peers.said), public.unknowns, unknowns.used
    A = spoken[:, m : m + used]
    off = np.abs(A @ unknowns.weights[:used] - spoken[:, -1]).max(initial=0.0)
    if not off <= 1e-9 * max(float(np.abs(spoken[:, -1]).max(initial=0.0)), 1e-300):
        raise Opaque("what is said is not linear in gradients")
    return Equations(A, spoken[:, :m], probe.queries, used, m)


def _read(agent: int, view: View, public: Public, exchanges: int) -> list[Reading]:
    """Solve the equations of one agent, for whatever they determine."""
    equations = _equations(agent, view, public, exchanges)
    heard = said(view, public)[: len(equations.A)]
    seen = [k for k, exchange in enumerate(heard) if agent in exchange.senders]
    sent = np.stack([heard[k].values[np.flatnonzero(heard[k].senders == agent)[0]] for k in seen])
    A = equations.A[seen]
    inverse = np.linalg.pinv(A, rcond=1e-12)
    solved, resolved = inverse @ (sent - equations.b[seen]), inverse @ A

    def known(form: Array) -> Array | None:
        """Return the value of a form in the unknowns; None where the equations leave it open."""
        left = np.abs(form @ resolved - form).max(initial=0.0)
        return np.asarray(form @ solved) if left <= _DETERMINED * max(np.abs(form).max(initial=0.0), 1.0) else None

    readings = []
    m, used = equations.m, equations.unknowns
    for query in equations.queries:
        gradient, at = known(query.gradient[m : m + used]), known(query.point[m : m + used])
        if gradient is not None and at is not None:
            readings.append(Reading(agent, query.point[:m] + at, gradient))
    return readings
