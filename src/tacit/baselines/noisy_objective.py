"""Differential privacy by noise in the objective.

    ĥ_i = h_i + Σ_k η_ik φ_k        η_ik ~ Lap(b) independently, once and for all

φ_k are the coordinates, and the products of two of them where costs are quadratic. If the coefficients of two
costs are at most d apart in the Euclidean norm, they are √K d apart in the sum of magnitudes, and b = √K d/ε
makes every agent's cost ε-differentially private: whoever listens, and whichever algorithm follows. What noise
has taken of the convexity is given back by projection, and the answer is brought back into the public ball |x − x₀|
≤ R, which costs no privacy. The noises of all agents add up, and move the optimum.

Nozari, Tallapragada, Cortés, Differentially Private Distributed Convex Optimization via Functional
Perturbation, IEEE Transactions on Control of Network Systems 5(1), 2018, arXiv 1512.00369; here with finitely
many basis functions of equal weights. Of costs that are no quadratics it hides the linear part alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.domain import Domain, clipped
from tacit.baselines.gossiping import unfit
from tacit.baselines.noise import drawn_from, noise_seed
from tacit.baselines.optimum import reference
from tacit.baselines.staged import Staged, demonstrated
from tacit.costs import Quadratic
from tacit.errors import InputError
from tacit.masks import Linear, Quadratics
from tacit.solving import Problem, prepare
from tacit.typing import Array


def perturbed(problem: Problem, *, epsilon: float, distance: float, seed: int) -> Problem:
    """Return the problem with noise in every cost, for costs that are at most *distance* apart."""
    if not epsilon > 0:
        raise InputError(f"epsilon = {epsilon} must be a positive number.")
    basis = basis_of(problem)
    theta = basis.read(problem.stack)
    scale = np.sqrt(theta.shape[1]) * distance / epsilon
    noisy = theta + drawn_from(seed, 0).laplace(0.0, scale, theta.shape)
    if not basis.bends_costs:
        costs = [cost.with_affine(row) for cost, row in zip(problem.costs, noisy, strict=True)]
        return Problem(problem.network, costs, x0=problem.x0)
    lowest, highest = float(problem.stack.strong_convexity.min()), float(problem.stack.smoothness.max())
    m = problem.dim
    rows, columns = np.triu_indices(m)
    P = np.zeros((len(noisy), m, m))
    P[:, rows, columns] = P[:, columns, rows] = noisy[:, :-m]
    return Problem(
        problem.network,
        [Quadratic(_projected(each, lowest, highest), q) for each, q in zip(P, noisy[:, -m:], strict=True)],
        x0=problem.x0,
    )


def basis_of(problem: Problem) -> Linear | Quadratics:
    """Return what noise is added along."""
    return Quadratics() if Quadratics().covers(problem.stack) and not problem.stack.is_rough else Linear()


def diameter(problem: Problem) -> float:
    """Return how far two agents' costs lie apart at most: what costs are to be hidden among."""
    theta = basis_of(problem).read(problem.stack)
    return max(float(np.linalg.norm(theta - row, axis=1).max()) for row in theta) or 1.0


def _projected(P: Array, lowest: float, highest: float) -> Array:
    """Return the nearest curvature between the public bounds."""
    values, vectors = np.linalg.eigh(P)
    P = (vectors * np.clip(values, max(lowest, 1e-6), highest)) @ vectors.T
    return np.asarray((P + P.T) / 2.0)


@dataclass(frozen=True, slots=True)
class ObjectiveNoise:
    """Laplace noise in every cost, once, and then any algorithm; to be compared."""

    epsilon: float = 1.0
    name: str = "noise in the objective"
    source: str = "Nozari, Tallapragada & Cortés 2018"
    assumes: str = "a public bound on x and on how far costs lie apart; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        if not (problem.stack.strong_convexity > 0).all():
            return unfit(problem) or "needs every cost strongly convex, and one is not."
        return unfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Add noise, let tacit choose the algorithm that follows, and bring the answer back into the ball."""
        distance, domain = diameter(problem), Domain.around(problem, reference(problem))
        basis = "quadratic" if basis_of(problem).bends_costs else "linear"

        def stage(k: int, who: Sequence[int]) -> Staged:
            seed = noise_seed(listeners.seed, k)
            noisy = perturbed(problem, epsilon=self.epsilon, distance=distance, seed=seed)
            job = prepare(noisy, max_rounds=5000).job
            return Staged(
                job, job.algorithm, f"{type(job.algorithm).__name__}, Laplace noise in {basis} coefficients"
            )

        pledge = Pledge(
            f"ε = {self.epsilon:g} for {basis} coefficients",
            f"ε = {self.epsilon:g} between costs whose {basis} coefficients lie no farther apart than any two of "
            "these, whoever listens.",
        )
        shown = demonstrated(problem, stage, listeners, promises=listeners.each(pledge))
        return replace(shown, x=problem.x0 + clipped(shown.x - problem.x0, domain.radius))
