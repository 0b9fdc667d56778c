"""What a coalition holds about the honest coefficients, and what follows from it.

    z = α_H + masks  ~  N(α_H, 2σ_l² L_H)      in every coordinate l, and nothing else depends on α_H

    D_KL(α, α') = ¼ Σ_l σ_l⁻² Δ_lᵀ L_H† Δ_l    if Δ = α' − α sums to zero on every component of G_H, else ∞

Three readings: the worst collective direction (Fiedler's), a swap between two agents (their effective
resistance R_ij), and the cheapest alternative story for one agent (its honest degree). Knowing the
coefficients of some honest agents exactly replaces L_H by its Kron reduction, which never lowers μ₂.
Links may have scales s_e: then L_H = Σ s_e² (e_i − e_j)(e_i − e_j)ᵀ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import InputError, VacuousError
from tacit.showing import Readable
from tacit.typing import Array

_ZERO = 1e-9  # relative: a sum below this fraction of what was added up is zero


class Leakage(Readable):
    """z ~ N(α_H, 2σ²L): the law of what the coalition sees, for honest agents in a fixed order."""

    def __init__(self, agents: Sequence[Any], laplacian: Array, sigmas: Sequence[float]) -> None:
        self.agents, self.sigmas = tuple(agents), tuple(float(s) for s in sigmas)
        self.laplacian = laplacian
        self._index = {agent: i for i, agent in enumerate(self.agents)}

    def __str__(self) -> str:
        widths = ", ".join(f"{sigma:g}" for sigma in self.sigmas)
        pieces = f" in {self._pieces} pieces" if self._pieces > 1 else ""
        return (
            f"What is seen of {len(self.agents)} honest agents{pieces}, with σ = {widths}: two worlds 1 apart are "
            f"at most D = {self.collective(1.0):.4g} apart."
        )

    def divergence(self, change: ArrayLike) -> float:
        """Return D_KL between two worlds that differ by *change*: a row per honest agent, a column per unknown."""
        delta = np.asarray(change, dtype=np.float64)
        delta = delta[:, None] if delta.ndim == 1 else delta
        if len(delta) != len(self.agents):
            raise InputError(f"a change has one row per honest agent: {len(self.agents)}, not {len(delta)}.")
        sigmas = np.broadcast_to(self.sigmas, delta.shape[1:]) if len(self.sigmas) == 1 else np.array(self.sigmas)
        if sigmas.shape != delta.shape[1:]:
            raise InputError(f"the change has {delta.shape[1]} columns and there are {len(sigmas)} sigmas.")
        total = 0.0
        for piece in range(self._pieces):
            members = np.flatnonzero(self._piece == piece)
            part = delta[members]
            if (np.abs(part.sum(axis=0)) > _ZERO * np.abs(part).sum(axis=0)).any():
                return math.inf
            solved = self._solve(members, part)
            total += float((part * solved / sigmas**2).sum()) / 4.0
        return total

    def collective(self, distance: float) -> float:
        """Return D_KL of the worst change of that size inside one component: Theorem 2."""
        return distance**2 / (4.0 * min(self.sigmas) ** 2 * self._least_mu())

    def swap(self, first: Any, second: Any, amount: float) -> float:
        """Return D_KL of moving *amount* from one agent's coefficient to another's: amount²·R/4σ²."""
        return amount**2 * self.resistance(first, second) / (4.0 * min(self.sigmas) ** 2)

    def story(self, agent: Any, amount: float) -> float:
        """Return D_KL of the cheapest world in which one agent differs by *amount*: amount²/(4σ²·degree)."""
        degree = self.laplacian[self._at(agent), self._at(agent)]
        return amount**2 / (4.0 * min(self.sigmas) ** 2 * degree) if degree > 0 else math.inf

    def resistance(self, first: Any, second: Any) -> float:
        """Return the effective resistance between two agents; ∞ in different components."""
        i, j = self._at(first), self._at(second)
        if self._piece[i] != self._piece[j]:
            return math.inf
        members = np.flatnonzero(self._piece == self._piece[i])
        tip = np.zeros((len(members), 1))
        tip[members == i], tip[members == j] = 1.0, -1.0
        return float((tip * self._solve(members, tip)).sum()) if i != j else 0.0

    def deviation(self, agent: Any) -> float:
        """Return the coalition's uncertainty about one coefficient: σ√(2·degree) without prior knowledge."""
        return min(self.sigmas) * math.sqrt(2.0 * self.laplacian[self._at(agent), self._at(agent)])

    def deviations(self) -> dict[Any, float]:
        """Return the uncertainty about every honest agent."""
        spread = min(self.sigmas) * np.sqrt(2.0 * np.diag(self.laplacian))
        return dict(zip(self.agents, spread.tolist(), strict=True))

    def knowing(self, known: Iterable[Any]) -> Leakage:
        """Return the law for an observer who also knows the coefficients of *known* honest agents."""
        inside = np.zeros(len(self.agents), dtype=bool)
        inside[[self._at(agent) for agent in known]] = True
        if not inside.any():
            return self
        if inside.sum() >= len(self.agents) - 1:
            raise VacuousError("all coefficients but one are known: the last is the known sum less the others.")
        L = self.laplacian
        between = L[np.ix_(~inside, inside)]
        rest = L[np.ix_(~inside, ~inside)] - between @ np.linalg.pinv(L[np.ix_(inside, inside)]) @ between.T
        rest[np.abs(rest) < _ZERO * np.abs(L).max()] = 0.0
        return Leakage([a for a, k in zip(self.agents, inside, strict=True) if not k], rest, self.sigmas)

    def posterior_deviation(self, agent: Any, prior: float) -> float:
        """Return the uncertainty about one coefficient if all have independent priors of deviation *prior*."""
        if not (math.isfinite(prior) and prior > 0):
            raise InputError(f"prior = {prior} must be a positive number: the deviation of the prior.")
        values, vectors = np.linalg.eigh(2.0 * min(self.sigmas) ** 2 * self.laplacian)
        noise = np.maximum(values, 0.0)
        left = noise / (1.0 + noise / prior**2)  # prior²·noise/(prior² + noise), along every eigenvector
        return math.sqrt(float((vectors[self._at(agent)] ** 2 * left).sum()))

    def _least_mu(self) -> float:
        mus = [0.0]
        for piece in range(self._pieces):
            members = np.flatnonzero(self._piece == piece)
            if len(members) > 1:
                mus.append(float(np.linalg.eigvalsh(self.laplacian[np.ix_(members, members)])[1]))
        if len(mus) == 1:
            raise VacuousError("no two honest agents are linked: every coefficient is exposed.")
        return min(mus[1:])

    @cached_property
    def _piece(self) -> NDArray[np.integer[Any]]:
        """The number of every agent's piece of the honest graph."""
        from scipy.sparse.csgraph import connected_components  # heavy, and a certificate alone does not ask

        return np.asarray(connected_components(np.abs(self.laplacian) > 0, directed=False)[1])

    @property
    def _pieces(self) -> int:
        return int(self._piece.max(initial=-1)) + 1

    def _solve(self, members: Any, rhs: Array) -> Array:
        """Return L†·rhs on one component, whose columns sum to zero."""
        if len(members) == 1:
            return np.zeros_like(rhs)
        from scipy.linalg import solve  # heavy, and most certificates need no solution

        block = self.laplacian[np.ix_(members, members)]
        solved = solve(block + np.trace(block) / len(members) ** 2, rhs, assume_a="pos")
        return np.asarray(solved - solved.mean(axis=0))

    def _at(self, agent: Any) -> int:
        if agent not in self._index:
            raise InputError(f"{agent!r} is not an honest agent here.")
        return self._index[agent]
