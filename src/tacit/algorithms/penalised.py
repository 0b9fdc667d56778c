"""A quadratic model with penalties and limits, minimised by everybody for itself.

    minimise  gᵀ(u − x) + ½(u − x)ᵀH(u − x) + ψ(u),    ψ(u) = Σ l1|u| + ½ Σ l2 u²  on  lower ≤ u ≤ upper

This is what is left to do once Σ∇h, Σ∇²h and the penalties' sums are known to all: no message. Accelerated proximal
gradient steps guess which entries are zero or at a limit; from there an active-set method goes from face to face,
downhill on each, and ends at the minimiser to rounding. On a face that is flat it follows the slope until a kink or
a limit stops it, so collinear columns need no care (Nocedal & Wright, *Numerical Optimization*, 2006, 16.5).

Where a factor is known, H = RᵀR, faces are looked at by singular values of R's columns: they keep twice the digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.algorithms.directions import Sight
from tacit.algorithms.momentum import accelerate
from tacit.costs.rough import soft_threshold
from tacit.errors import AlgorithmError, UnboundedError
from tacit.typing import Array, Rows

_GUESSES = 200  # steps of the first guess; more of them where faces do not lead to the end
_ROUNDS = 4
_TIGHT = 1e-12  # share of all slopes in sight that counts as none
_EPS = float(np.finfo(float).eps)
_EXPLAINED = 16.0  # |slope| ≤ √λ |residuals| of rows: so many times the largest slope stand for the residuals
_ALL_BUT_FLAT = (
    "the sum of the costs with its penalties is all but flat, and its minimum could not be found to rounding; add "
    "data or a small l2 penalty."
)


class Penalty(NamedTuple):
    """ψ, summed over all agents. Limits are public, and the same for all."""

    l1: Array
    l2: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, summed: Array, limits: Array) -> Penalty:
        """Return ψ from the sum of all agents' penalties, and one agent's (or all agents' equal) limits."""
        lower, upper = np.split(limits.reshape(-1, limits.shape[-1])[0], 2)
        l1, l2 = np.split(summed, 2)
        return cls(np.maximum(l1, 0.0), np.maximum(l2, 0.0), lower, upper)

    @property
    def is_rough(self) -> bool:
        """Whether there is a kink or a limit anywhere."""
        return bool(self.l1.any() or np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u ψ(u) + |u − v|²/2t."""
        return np.clip(soft_threshold(v, t * self.l1) / (1.0 + t * self.l2), self.lower, self.upper)

    def value(self, x: Array) -> float:
        """Return ψ(x) at a point within the limits."""
        return float((self.l1 * np.abs(x) + 0.5 * self.l2 * x**2).sum())


def minimise(x: Array, g: Array, H: Array, penalty: Penalty, *, blur: float = 0.0) -> Array:
    """Return the minimiser of the model around x; entries of H are known to *blur*."""
    H = H + np.diag(penalty.l2)
    g = g + penalty.l2 * x
    if not penalty.is_rough:
        seen = Sight.plain(len(g))._replace(factored=np.array(0.0)).directions(H, blur)
        return np.asarray(x + seen.step(seen.slope(g)))
    diagonal = np.diag(H)
    D = 1.0 / np.sqrt(np.where(diagonal > blur, diagonal, 1.0))  # in units in which every unknown bends by one
    limits = penalty.lower / D, penalty.upper / D
    kinks = Penalty(penalty.l1 * D, np.zeros_like(g), *limits)
    coarse = blur * float(D.max()) ** 2
    smooth = _Hessian(x / D, g * D, H * D[:, None] * D, coarse, float(kinks.l1.max(initial=0.0)))
    u = _Faces(smooth, kinks).minimiser()
    return np.clip(D * u, penalty.lower, penalty.upper)


def minimise_rows(R: Array, c: Array, penalty: Penalty) -> Array:
    """Return the minimiser of ½|Ru + c|² + ψ(u), with what l2 weighs among the rows of R already."""
    size = np.linalg.norm(R, axis=0)
    D = 1.0 / np.where(size > 0, size, 1.0)
    limits = penalty.lower / D, penalty.upper / D
    kinks = Penalty(penalty.l1 * D, np.zeros_like(D), *limits)
    u = _Faces(_Factored(R * D, c, float(kinks.l1.max(initial=0.0))), kinks).minimiser()
    return np.clip(D * u, penalty.lower, penalty.upper)


class _Hessian:
    """A smooth part that is known by its Hessian: gᵀ(u − x) + ½(u − x)ᵀH(u − x)."""

    def __init__(self, x: Array, g: Array, H: Array, blur: float, kink: float) -> None:
        self.x, self.g, self.H, m = x, g, H, len(g)
        self.L = float(np.linalg.eigvalsh(H)[-1]) if m else 1.0
        self.flat = max((8.0 + m) * _EPS * max(self.L, 1.0), m * min(blur, 1e-3))
        self.small = _TIGHT * (float(np.abs(g).max()) + kink)

    def slope(self, u: Array) -> Array:
        """Return the slope at u."""
        return np.asarray(self.g + self.H @ (u - self.x))

    def slack(self, u: Array) -> float:
        """Return which slopes count as none at u: rounding of H(u − x) is among them."""
        far = float(np.abs(u - self.x).max(initial=0.0))
        return self.small + (64.0 + len(u)) * _EPS * max(self.L, 1.0) * far

    def on_face(self, u: Array, kink: Array, free: Rows) -> tuple[Array, Array, Array]:
        """Return curvatures, directions by columns, and slopes along them, of the entries *free*."""
        values, vectors = np.linalg.eigh(self.H[np.ix_(free, free)])
        return values, vectors, vectors.T @ (self.slope(u) + kink)[free]


class _Factored:
    """A smooth part that is known by rows, ½|Ru + c|²: small curvatures keep twice as many digits."""

    def __init__(self, R: Array, c: Array, kink: float) -> None:
        self.R, self.c, m = R, c, R.shape[1]
        self.x = np.zeros(m)
        self.g = np.asarray(R.T @ c)
        self.L = float(np.linalg.norm(R, 2)) ** 2 if R.size else 1.0
        self.flat = ((8.0 + m) * _EPS) ** 2 * max(self.L, 1.0)
        self.small = (8.0 + m) * _EPS * (float(np.linalg.norm(c)) + kink)

    def slope(self, u: Array) -> Array:
        """Return the slope at u."""
        return np.asarray(self.R.T @ (self.R @ u + self.c))

    def slack(self, u: Array) -> float:
        """Return which slopes count as none at u: rounding of Ru is among them."""
        return self.small + (8.0 + len(u)) * _EPS * float(np.abs(u).max(initial=0.0))

    def on_face(self, u: Array, kink: Array, free: Rows) -> tuple[Array, Array, Array]:
        """Return curvatures, directions by columns, and slopes along them, of the entries *free*."""
        Q, sizes, V = np.linalg.svd(self.R[:, free], full_matrices=True)
        sizes = np.append(sizes, np.zeros(len(V) - len(sizes)))
        rest = (Q.T @ (self.R @ u + self.c))[: len(V)]
        rest = np.append(rest, np.zeros(len(V) - len(rest)))
        return sizes**2, V.T, sizes * rest + V @ kink[free]


class _Faces:
    """The model in scaled units: a smooth part and Σ l1|u| within limits."""

    def __init__(self, smooth: _Hessian | _Factored, kinks: Penalty) -> None:
        self.smooth, self.kinks = smooth, kinks
        self.slope, self.slack = smooth.slope, smooth.slack

    def minimiser(self) -> Array:
        """Guess a face and go on from there; guess better where that does not end."""
        u = np.clip(self.smooth.x, self.kinks.lower, self.kinks.upper)
        for k in range(_ROUNDS):
            u = self._guess(u, _GUESSES * 10**k)
            u, done = self._from_face_to_face(u)
            if done:
                return u
        if self._violation(u).max() <= 1e3 * self.slack(u):
            return u
        raise AlgorithmError(_ALL_BUT_FLAT)

    def _guess(self, u: Array, steps: int) -> Array:
        """Return the point after some accelerated proximal gradient steps, where they lead down."""
        L, ahead, theta = max(self.smooth.L, np.finfo(float).tiny), u, np.array(1.0)
        for _ in range(steps):
            following = self.kinks.prox(ahead - self.slope(ahead) / L, 1.0 / L)
            ahead, theta = accelerate(u, ahead, following, theta)
            u, before = following, u
            if np.abs(u - before).max() <= 1e-9 * (1e-3 + np.abs(u).max()):
                break
        return u

    def _from_face_to_face(self, u: Array) -> tuple[Array, bool]:
        kinks = self.kinks
        u, signs = u.copy(), np.sign(u)
        free = (u > kinks.lower) & (u < kinks.upper) & ~((u == 0.0) & (kinks.l1 > 0))
        for _ in range(20 * len(u) + 100):
            if free.any() and not self._along(u, signs, free):
                continue  # a kink or a limit was met: the face is smaller now
            violation = self._violation(u)
            violation[free] = 0.0
            worst = int(violation.argmax())
            if violation[worst] <= self.slack(u):
                return u, True
            pull = self._pulls(u)[worst]
            free[worst] = True
            signs[worst] = np.sign(u[worst]) if u[worst] else -np.sign(pull)
        return u, False

    def _along(self, u: Array, signs: Array, free: Rows) -> bool:
        """Move u to the minimiser on its face, or to the first kink or limit; tell whether it got there."""
        kinks = self.kinks
        values, vectors, along = self.smooth.on_face(u, kinks.l1 * signs, free)
        flat = values <= self.smooth.flat
        level = np.abs(along[flat]).max(initial=0.0) <= self.slack(u)
        used = ~flat if level else flat
        step = -vectors[:, used] @ (along[used] / (values[used] if level else 1.0))
        p = np.zeros_like(u)
        p[free] = step
        p[np.abs(p) <= _EPS * np.abs(p).max(initial=0.0)] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where((kinks.l1 > 0) & (signs * p < 0), -u / p, np.inf)
            to_limit = np.where(p > 0, (kinks.upper - u) / p, np.where(p < 0, (kinks.lower - u) / p, np.inf))
        reach = np.where(free, np.minimum(to_zero, to_limit), np.inf)
        first = int(reach.argmin())
        if not level and np.isinf(reach[first]):
            hidden = _EXPLAINED * np.sqrt(self.smooth.flat) * float(np.abs(self.smooth.g).max(initial=0.0))
            if np.abs(along[flat]).max() <= hidden:
                raise AlgorithmError(_ALL_BUT_FLAT)  # curvature too small to be seen explains a slope as small
            raise UnboundedError("the sum of the costs is unbounded below; add data or a small l2 penalty.")
        if level and reach[first] > 1.0:
            u[free] += step
            return True
        u += max(float(reach[first]), 0.0) * p
        limit = kinks.upper[first] if p[first] > 0 else kinks.lower[first]
        u[first] = 0.0 if to_zero[first] <= to_limit[first] else limit
        free[first] = False
        return False

    def _pulls(self, u: Array) -> Array:
        return np.asarray(self.slope(u) + np.where(u == 0.0, 0.0, self.kinks.l1 * np.sign(u)))

    def _violation(self, u: Array) -> Array:
        """Return by how much −slope misses the subdifferential of ψ at u, entry by entry."""
        kinks, pull = self.kinks, self._pulls(u)
        held = (u == 0.0) & (kinks.l1 > 0)
        low, high = u <= kinks.lower, u >= kinks.upper
        down = np.where(held, pull - kinks.l1, pull)  # what is left to gain by going down, if positive
        up = np.where(held, -pull - kinks.l1, -pull)
        return np.asarray(np.maximum(np.where(low, 0.0, down), np.where(high, 0.0, up)).clip(0.0))
