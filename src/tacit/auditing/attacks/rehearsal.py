"""The algorithm as everybody can run it: on made-up costs, with the public network, and with open ears.

    ∇h_i(x) = P_i x + q_i,      K choices of q side by side as one problem in K·m unknowns

An algorithm is public, and so are its settings, the network and the weights: whoever attacks a run can run the same
`init` and `step` on any costs it likes. Whatever is registered, or handed to `solve` as it is, is rehearsed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from tacit.auditing.public import Public
from tacit.auditing.view import Exchange, View, gossip
from tacit.errors import InputError
from tacit.typing import Array, Numbers, Rows


class Opaque(Exception):  # noqa: N818
    """An algorithm that cannot be rehearsed; says why, in a few words."""


class Enough(Exception):  # noqa: N818
    """As much was said as is wanted."""


def said(view: View, public: Public) -> list[Exchange]:
    """Return what agents said to their neighbours in phase 2."""
    return [] if public.mechanism == "sums" else gossip(view, masked=public.mechanism != "none")


class Heard(NamedTuple):
    """What all agents said in one exchange of gossip."""

    kind: str
    values: Array
    """A row for every agent; where they swap, a row for every directed link, by sender and receiver."""


@dataclass(frozen=True)
class Imagined:
    """`Cost` of all agents: ½xᵀP_i x + q_iᵀx, as often side by side as there are choices of q."""

    P: Array
    """(n, m, m)."""
    affine: Array
    """q, (n, K·m), choice by choice."""
    blur: Array | None = None
    """What proximal steps of an unknown part add, (n, K·m); None where costs have no such part."""

    @property
    def dim(self) -> int:
        """K·m."""
        return self.affine.shape[1]

    @property
    def smoothness(self) -> Array:
        """The largest curvatures, (n,)."""
        return np.asarray(np.linalg.eigvalsh(self.P)[:, -1], dtype=np.float64)

    @property
    def strong_convexity(self) -> Array:
        """The smallest curvatures, (n,)."""
        return np.asarray(np.linalg.eigvalsh(self.P)[:, 0], dtype=np.float64)

    @property
    def is_rough(self) -> bool:
        """Whether proximal steps do something unknown."""
        return self.blur is not None

    @property
    def penalty(self) -> Array:
        """No penalty, (n, 2·K·m)."""
        return np.zeros((len(self.P), 2 * self.dim))

    @property
    def limits(self) -> Array:
        """No limits, (n, 2·K·m)."""
        return np.tile(np.repeat([-np.inf, np.inf], self.dim), (len(self.P), 1))

    def value(self, x: Array) -> Array:
        """Return all choices' values added up, (n,)."""
        return np.asarray(((0.5 * self._times(self.P, x) + self.affine) * x).sum(axis=-1))

    def grad(self, x: Array) -> Array:
        """Return P x + q."""
        return self._times(self.P, x) + self.affine

    def hess(self, x: Array) -> Array:
        """Return P, once for every choice."""
        return np.asarray(np.kron(np.eye(self.dim // self.P.shape[-1]), self.P), dtype=np.float64)

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

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return (P + I/t)⁻¹(v/t − q), blurred where costs have a part without a gradient."""
        each = np.broadcast_to(np.asarray(t, dtype=np.float64), (len(self.P), 1))
        inverse: Array = np.asarray(np.linalg.inv(self.P + np.eye(self.P.shape[-1]) / each[:, :, None]))
        return self.rough_prox(self._times(inverse, v / t - self.affine), t)

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return v, blurred where costs have a part without a gradient."""
        return v if self.blur is None else v + self.blur

    def with_affine(self, affine: Array) -> Self:
        """Return the same with another q."""
        return replace(self, affine=affine)

    def _times(self, P: Array, x: Array) -> Array:
        x = np.broadcast_to(x, self.affine.shape)
        m = P.shape[-1]
        if m == 1:
            return P[:, :, 0] * x
        each = x.reshape(len(P), -1, m)
        return np.asarray((each @ P.swapaxes(1, 2)).reshape(x.shape))


class Rehearsed:
    """`Peers` of all agents at once, on the public network: all that is said is kept, up to so many exchanges."""

    resolution = 0.0

    def __init__(self, public: Public, exchanges: int) -> None:
        network = public.network
        self.said: list[Heard] = []
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
        if len(self.said) >= self._exchanges:
            raise Enough
        self.said.append(Heard(kind, values.copy()))
        if len(self.said) >= self._exchanges:
            raise Enough


def rehearse(public: Public, cost: Imagined, start: Array, exchanges: int) -> list[Heard]:
    """Return the first *exchanges* of gossip of a run on made-up costs, from the same start, (K·m,), for all."""
    algorithm = public.algorithm
    if algorithm is None:
        raise InputError("no algorithm runs here: there is nothing to rehearse.")
    peers = Rehearsed(public, exchanges)
    x = start if algorithm.sums else np.tile(start, (public.agents, 1))
    try:
        with np.errstate(all="ignore"):
            state = algorithm.init(x, cost)
            for _ in range(exchanges):
                state = algorithm.step(state, peers, cost)
    except Enough:
        pass
    except Exception as error:  # whatever a stranger's algorithm raises on costs that it did not expect
        raise Opaque(f"{type(algorithm).__name__} does not run on made-up quadratic costs") from error
    return peers.said


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
    found: list[Heard] = []
    for one, other in zip(*runs, strict=False):
        if one.kind != other.kind or not np.array_equal(one.values, other.values):
            break
        found.append(one)
    return found


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
