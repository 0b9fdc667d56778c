"""The algorithm as everybody can run it: on made-up costs, with the public network, and with open ears.

An algorithm is public, and so are its settings, the network and the weights: whoever attacks a run can run the same
`init` and `step` on any costs it likes. Whatever is registered, or handed to `solve` as it is, is rehearsed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.auditing.attacks.imagined import Imagined
from tacit.auditing.knowledge.public import Public
from tacit.errors import InputError
from tacit.typing import Algorithm, Array, Numbers, Rows


class Opaque(Exception):  # noqa: N818
    """An algorithm that cannot be rehearsed; says why, in a few words."""


class Enough(Exception):  # noqa: N818
    """As much was said as is wanted."""


class Heard(NamedTuple):
    """What all agents said in one exchange of gossip."""

    kind: str
    values: Array
    """A row for every agent; where they swap, a row for every directed link, by sender and receiver."""


class Rehearsed:
    """`Peers` of all agents at once, on the public network: all that is said is kept, up to so many exchanges."""

    resolution = 0.0

    def __init__(self, public: Public, exchanges: int) -> None:
        network = public.network
        self.messages: list[Heard] = []
        self._exchanges, self._weights = exchanges, public.weights
        self._adjacency = network.adjacency.toarray()
        self.degree: Array = network.degrees.astype(np.float64)[:, None]
        ends = directed(public)
        self.links, self.first = len(ends), ends[:, 0] < ends[:, 1]
        self._reverse = np.lexsort((ends[:, 0], ends[:, 1]))
        self._starts = np.concatenate([[0], np.cumsum(network.degrees)[:-1]])

    def mix(self, x: Array) -> Array:
        """Return W x."""
        self._say("mix", x)
        return np.asarray(self._weights @ x)

    def gather(self, x: Array) -> Array:
        """Return the sums over the neighbours."""
        self._say("gather", x)
        return np.asarray(self._adjacency @ x)

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Let rows trade places."""
        if only is not None:
            r = np.where(only[:, None], r, r.dtype.type(0))
        if known is None:
            self._say("more" if more else "swap", np.asarray(r, dtype=np.float64))
        return r[self._reverse] if known is None else known

    def total(self, r: Numbers) -> Numbers:
        """Add up the rows that each agent owns."""
        return np.add.reduceat(r, self._starts, axis=0)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum over the agents."""
        total = v[0]
        for row in v[1:]:
            total = add(total, row)
        return total

    def _say(self, kind: str, values: Array) -> None:
        if len(self.messages) >= self._exchanges:
            raise Enough
        self.messages.append(Heard(kind, values.copy()))
        if len(self.messages) >= self._exchanges:
            raise Enough


def rehearse(public: Public, cost: Imagined, start: Array, exchanges: int) -> list[Heard]:
    """Return the first *exchanges* of gossip of a run on made-up costs, from the same start, (K·m,), for all."""
    algorithm = public.algorithm
    if algorithm is None:
        raise InputError("no algorithm runs here: there is nothing to rehearse.")
    peers = Rehearsed(public, exchanges)
    x = start if algorithm.sums else np.tile(start, (public.agents, 1))
    run_until_enough(algorithm, x, peers, cost, rounds=exchanges, where="on made-up quadratic costs")
    return peers.messages


def run_until_enough(algorithm: Algorithm, start: Any, peers: Any, cost: Any, *, rounds: int, where: str) -> None:
    """Run so many rounds, or until `Enough` was said; whatever cannot run *where* it is asked to is `Opaque`."""
    try:
        with np.errstate(all="ignore"):
            state = algorithm.init(start, cost)
            for _ in range(rounds):
                state = algorithm.step(state, peers, cost)
    except Enough:
        pass
    except Opaque:
        raise
    except Exception as error:  # whatever a stranger's algorithm raises on costs that it did not expect
        raise Opaque(f"{type(algorithm).__name__} does not run {where}") from error


def directed(public: Public) -> Array:
    """Return sender and receiver of every directed link, sorted, (2E, 2)."""
    i, j = public.links.T
    ends = np.stack([np.concatenate([i, j]), np.concatenate([j, i])], axis=1)
    return np.asarray(ends[np.lexsort((ends[:, 1], ends[:, 0]))])


def opening(public: Public, exchanges: int = 2) -> list[Heard]:
    """Return the exchanges at the beginning in which nobody says anything of its own, as all agents can tell."""
    runs = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        n, m = public.agents, public.unknowns
        P = rng.uniform(1.0, 2.0, (n, 1, 1)) * np.eye(m)
        blur = rng.normal(size=(n, m)) if public.rough else None
        runs.append(rehearse(public, Imagined(P, rng.normal(size=(n, m)), blur), public.start, exchanges))
    messages: list[Heard] = []
    for one, other in zip(*runs, strict=False):
        if one.kind != other.kind or not np.array_equal(one.values, other.values):
            break
        messages.append(one)
    return messages


def is_linear(public: Public, P: Array, exchanges: int = 12) -> bool:
    """Tell whether what is said in a run is an affine function of all q: whether two of them superpose."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, public.agents, P.shape[-1]))
    start = np.resize(public.start, P.shape[-1])
    runs = [rehearse(public, Imagined(P, q), start, exchanges) for q in (0.0 * a, a, b, a + b)]
    if len({len(run) for run in runs}) > 1:
        return False
    for zero, one, other, both in zip(*(_values(run) for run in runs), strict=True):
        size = max(float(np.abs(each).max(initial=0.0)) for each in (zero, one, other, both))
        if not np.abs(one + other - zero - both).max(initial=0.0) <= 1e-9 * max(size, 1e-300):
            return False
    return True


def _values(run: list[Heard]) -> list[Any]:
    return [each.values for each in run]
