"""Differential privacy by noise in the objective.

    ĥ_i = h_i + Σ_k η_ik φ_k        η_ik ~ Lap(b) independently, once and for all

φ_k are the coordinates, and the products of two of them where costs are quadratic. If the coefficients of two
costs are at most d apart in the Euclidean norm, they are √K d apart in the sum of magnitudes, and b = √K d/ε
makes every agent's cost ε-differentially private: whoever listens, and whichever algorithm follows. What noise
has taken of the convexity is given back by projection, which costs no privacy. The noises of all agents add up,
and move the optimum.

Nozari, Tallapragada, Cortés, Differentially Private Distributed Convex Optimization via Functional
Perturbation, IEEE Transactions on Control of Network Systems 5(1), 2018, arXiv 1512.00369; here with finitely
many basis functions of equal weights.
"""

from __future__ import annotations

import numpy as np

from tacit.baselines.noise import drawn_from
from tacit.costs import Quadratic
from tacit.errors import InputError
from tacit.masks import Linear, Quadratics
from tacit.solving import Problem
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
