r"""How large every agent's noise share must be, so that those of the honest agents suffice.

    z_H ~ N(θ_H, M),   M = 2σ²L_H + τ²I            what a coalition C is left with, once it takes its own part off
    μ²  = |Δ|² max_i [M⁻¹]_ii                      one record moves one θ_i by Δ: exactly μ-GDP, for every coalition
        → |Δ|² / (|H_l| τ²)                        σ = ∞, secret sums: the sum over a component H_l is all there is

A coalition that grows sees more, so that those of exactly t agents are the worst. All are tried where they are few
enough; elsewhere the bound

    [M⁻¹]_ii ≤ 1/(n_H τ²) + (1 − 1/n_H) / (2σ² m + τ²),     m = μ₂(G) − t ≤ μ₂(G − C)

holds for all of them. Noise in the answer has deviation √n·τ, against |Δ|/μ of a curator who sees all records:
√(n/(n − t)) times as much where masks are wide and t agents cannot cut the network.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from tacit.differential.promise import DifferentialPrivacy
from tacit.errors import NotPrivateError
from tacit.network import Network, small_vertex_cut
from tacit.typing import Array

_TRIED = 2e7  # numbers in all honest Laplacians, up to which every coalition is tried
_CLOSE = 1e-12  # relative, of a share that was found by bisection; it errs upwards
_FLAT = 1e-10  # of the largest eigenvalue: less may be rounding, and counts as zero, which is the safe side


class Sharing(NamedTuple):
    """The shares for one promise on one network, for a record that moves what is released by 1."""

    mu: float
    """The promise, in the currency that adds up."""
    share: float
    """τ, the deviation of every agent's share."""
    agents: int
    any: int
    coalition: tuple[int, ...] | None
    """A worst coalition, by positions; None where a bound stands for all."""

    @property
    def noise(self) -> float:
        """The deviation of all shares together: of the noise in what is released."""
        return self.share * math.sqrt(self.agents)

    @property
    def beyond_curator(self) -> float:
        """How much noise there is beyond that of a curator, whom everybody would have to trust: 1 for as much."""
        return self.noise * self.mu

    @property
    def exact(self) -> bool:
        """Whether μ is reached against some coalition, and not only a bound."""
        return self.coalition is not None


def share_out(
    network: Network, promise: DifferentialPrivacy, *, sigma: float = math.inf, scales: Array | None = None
) -> Sharing:
    """Return the smallest shares that keep *promise* against every coalition that it names.

    *sigma* is the deviation of the masks that hide the released numbers, in units of what a record can move;
    infinite for secret sums. *scales* multiplies it link by link.
    """
    n, t, mu = len(network), promise.any, promise.mu
    promise.refuse_few(n)
    if math.isinf(sigma):
        least, coalition = _smallest_piece(network, t)
        return Sharing(mu, 1.0 / (mu * math.sqrt(least)), n, t, coalition)
    links = np.ones(len(network.links)) if scales is None else np.asarray(scales, dtype=np.float64)
    if math.comb(n, t) * n * n > _TRIED:
        return Sharing(mu, _bounded(network, t, mu, sigma * float(links.min())), n, t, None)
    spectra = [_spectrum(network, coalition, sigma**2 * links**2) for coalition in combinations(range(n), t)]
    levels, weights = np.array([s for s, _ in spectra]), np.array([w for _, w in spectra])
    most = mu**2

    def worst(share: float) -> Array:
        """Return max_i [M⁻¹]_ii of every coalition."""
        return np.asarray((weights / (levels + share**2)[:, None, :]).sum(axis=-1).max(axis=-1))

    share = _smallest(lambda tau: float(worst(tau).max()) <= most, 1.0 / (mu * math.sqrt(n - t)), 1.0 / mu)
    place = int(worst(share).argmax())
    return Sharing(mu, share, n, t, next(islice(combinations(range(n), t), place, None)))


def spent(network: Network, any: int, share: float, *, sigma: float = math.inf) -> float:
    """Return μ for a record that moves what is released by 1, where every agent's share has deviation *share*."""
    n = len(network)
    if math.isinf(sigma):
        return 1.0 / (share * math.sqrt(_smallest_piece(network, any)[0]))
    squares = np.full(len(network.links), sigma**2)
    spectra = (_spectrum(network, coalition, squares) for coalition in combinations(range(n), any))
    return math.sqrt(max(float((w / (s + share**2)).sum(axis=-1).max()) for s, w in spectra))


def _spectrum(network: Network, coalition: tuple[int, ...], squares: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of 2σ²L_H, and every agent's part u_ki² in them, (n_H, n_H)."""
    honest = np.setdiff1d(np.arange(len(network)), coalition)
    i, j = network.links.T
    L = np.zeros((len(network), len(network)))
    L[i, j] = L[j, i] = -squares / squares.max()
    L = L[np.ix_(honest, honest)]
    np.fill_diagonal(L, 0.0)
    np.fill_diagonal(L, -L.sum(axis=1))
    values, vectors = np.linalg.eigh(L)
    return 2.0 * squares.max() * np.where(values > _FLAT * values[-1], values, 0.0), vectors**2


def _smallest_piece(network: Network, t: int) -> tuple[int, tuple[int, ...]]:
    """Return the size of the smallest piece that *t* agents can cut off, and who they are."""
    n = len(network)
    if small_vertex_cut(network, t) is None:
        return n - t, tuple(range(t))
    if math.comb(n, t) * n > _TRIED / 100:
        raise NotPrivateError(
            f"{t} agents who collude can cut this network, and there are too many coalitions to see how small a "
            "piece they leave; add links, so that no coalition of that size cuts it."
        )
    neighbours = [set(network.neighbours(k).tolist()) for k in range(n)]
    pieces = ((_piece(neighbours, set(coalition)), coalition) for coalition in combinations(range(n), t))
    return min(pieces)


def _piece(neighbours: list[set[int]], coalition: set[int]) -> int:
    """Return the size of the smallest component without *coalition*."""
    left, smallest = set(range(len(neighbours))) - coalition, len(neighbours)
    while left:
        reached, front = set(), {left.pop()}
        while front:
            reached |= front
            front = set().union(*(neighbours[k] for k in front)) - reached - coalition
        left -= reached
        smallest = min(smallest, len(reached))
    return smallest


def _bounded(network: Network, t: int, mu: float, sigma: float) -> float:
    """Return shares that suffice by the bound on all coalitions."""
    honest, gap = len(network) - t, network.algebraic_connectivity - t
    if gap <= 0.0:
        raise NotPrivateError(
            f"there are too many coalitions of {t} agents to try them all, and the network is too thin for a bound "
            "that holds for all of them; use secret sums, or add links."
        )

    def enough(tau: float) -> bool:
        return 1.0 / (honest * tau**2) + (1.0 - 1.0 / honest) / (2.0 * sigma**2 * gap + tau**2) <= mu**2

    return _smallest(enough, 1.0 / (mu * math.sqrt(honest)), 1.0 / mu)


def _smallest(enough: Callable[[float], bool], low: float, high: float) -> float:
    """Return nearly the smallest number that is *enough*, and never one that is not."""
    high *= 1.0 + _CLOSE
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
