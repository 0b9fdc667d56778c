"""The algorithms as everybody can run them: what all agents would send, if every gradient were P_i x + q_i.

Arrays are (n, m, K): K trials side by side. One generator per algorithm, each yielding what is exchanged in turn;
the equations are those of the papers cited beside the algorithms themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from itertools import islice

import numpy as np

from tacit.auditing.attacks.first_message import opapc_steps
from tacit.auditing.public import Public
from tacit.typing import Array

Gradient = Callable[[Array], Array]
Messages = Iterator[Array]
Gossip = Generator[Array, None, Array]


def messages(public: Public, x0: Array, P: Array, q: Array, count: int) -> list[Array]:
    """Return the first *count* exchanges of gossip, (n, m, K) each, for gradients P_i x + q_i from x0."""

    def mix(x: Array) -> Array:
        return (public.weights @ x.reshape(len(x), -1)).reshape(x.shape)

    def grad(x: Array) -> Array:
        return np.matmul(P, x) + q

    x0 = np.broadcast_to(x0, q.shape).astype(np.float64)
    return list(islice(_RULES[public.algorithm](public, x0, mix, grad, P, q), count))


def follows(algorithm: str) -> bool:
    """Tell whether there is a rule for this algorithm."""
    return algorithm in _RULES


def _dgd(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    step, decay, k = public.setting("step_size"), public.setting("decay"), 0
    while True:
        yield x
        k += 1
        x = mix(x) - step / k**decay * grad(x)


def _extra(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    alpha, c = public.setting("step_size"), np.zeros_like(x)
    while True:
        yield x
        mixed = mix(x)
        x, c = mixed - alpha * grad(x) + c, c + (mixed - x) / 2


def _nids(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    alpha, d = public.setting("step_size"), np.zeros_like(x)
    while True:
        v = x - alpha * (grad(x) + d)
        yield v
        u = (v - mix(v)) / 2
        x, d = v - u, d + u / alpha


def _gradient_tracking(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    alpha, g = public.setting("step_size"), grad(x)
    y = g
    while True:
        half = x - alpha * y
        yield half
        x = mix(half)
        g, before = grad(x), g
        tracked = y + g - before
        yield tracked
        y = mix(tracked)


def _admm(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    rho, dual = public.setting("penalty"), np.zeros_like(x)
    degree = public.network.degrees.astype(np.float64)[:, None, None]
    A = public.network.adjacency.toarray()
    t = 1.0 / (2.0 * rho * degree)
    inverse = np.linalg.inv(P + np.eye(P.shape[-1]) / t)
    while True:
        yield x
        theirs = (A @ x.reshape(len(x), -1)).reshape(x.shape)
        dual = dual + rho * (degree * x - theirs)
        v = (x + theirs / degree) / 2 - t * dual
        x = np.matmul(inverse, v / t - q)


def _opapc(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    tau, eta, mu, theta = opapc_steps(public)
    ahead, y = x, np.zeros_like(x)
    while True:
        x_g = tau * x + (1.0 - tau) * ahead
        pull = grad(x_g) - mu * x_g
        half = (x - eta * (pull + y)) / (1.0 + eta * mu)
        y = y + theta * (yield from _polynomial(public, half, mix))
        after = (x - eta * (pull + y)) / (1.0 + eta * mu)
        x, ahead = after, x_g + 2.0 * tau / (2.0 - tau) * (after - x)


def _multi_consensus(public: Public, x: Array, mix: Gradient, grad: Gradient, P: Array, q: Array) -> Messages:
    L, mu = public.setting("mean_smoothness"), public.setting("mean_strong_convexity")
    beta, g = math.sqrt(mu / L), grad(x)
    y, s = x, g
    while True:
        g, before = grad(y), g
        s = yield from _average(public, s + g - before, mix)
        after = yield from _average(public, y - s / L, mix)
        x, y = after, after + (1.0 - beta) / (1.0 + beta) * (after - x)


def _polynomial(public: Public, x: Array, mix: Gradient) -> Gossip:
    """Yield what Chebyshev gossip exchanges, and return P(I − W) x."""
    exchanges, gap, largest = public.settings["gossip"]
    if exchanges == 1 or gap >= 1.0:
        yield x
        return x - mix(x)
    c2, c3 = (1.0 + gap) / (1.0 - gap), 2.0 / ((1.0 + gap) * largest)
    a_before, a = 1.0, c2
    yield x
    before, current = x, c2 * (x - c3 * (x - mix(x)))
    for _ in range(exchanges - 1):
        a_before, a = a, 2.0 * c2 * a - a_before
        yield current
        contracted = current - c3 * (current - mix(current))
        before, current = current, 2.0 * c2 * contracted - before
    return x - current / a


def _average(public: Public, x: Array, mix: Gradient) -> Gossip:
    """Yield what Chebyshev gossip exchanges, and return x with little disagreement left."""
    _, gap, largest = public.settings["gossip"]
    if gap >= 1.0:
        yield x
        return x - (x - mix(x)) / largest
    return x - (yield from _polynomial(public, x, mix))


_RULES: dict[str, Callable[[Public, Array, Gradient, Gradient, Array, Array], Messages]] = {
    "admm": _admm,
    "dgd": _dgd,
    "dgd-diminishing": _dgd,
    "extra": _extra,
    "gradient-tracking": _gradient_tracking,
    "multi-consensus": _multi_consensus,
    "nids": _nids,
    "opapc": _opapc,
    "pg-extra": _extra,
}
