"""`algorithm="auto"`: which algorithm, and why.

Where sums are masked (`SumMasks`, and `QuadraticMasks` where a tree is allowed), the fewest of them:

    separable, with kinks that do not add up       bracket: slopes alone, such as those of |x − c|
    quadratic costs, with or without penalties     direct: one sum
    Hessians, and a run with them is over sooner   Newton: a few sums
    else, with rough terms                         FISTA: one gradient a round
    else                                           L-BFGS: one gradient and one value a round

What a run takes is reckoned beforehand (`effort`), and so is how many numbers it tells: where Newton's sums would
tell as many as the costs hide, and gradients alone would not, gradients are taken although they are slower.

Where messages are gossip:

    masks on the curvature                         multi-consensus: its rounds grow only like log σ
    not convex one by one                          multi-consensus: it needs only the sum convex
    no Lipschitz gradient                          ADMM: every agent takes proximal steps
    rough without a smooth part                    ADMM
    every cost strongly convex,
    and K√(L/μ) well below
    max(L/μ_g, 2/(1 − λ₂))                         OPAPC: fewer exchanges, with K of them a round
    else                                           NIDS: its step does not depend on the network

Where masks meet a box, or costs without a Lipschitz gradient, NIDS and ADMM start with dual variables at the masks'
scale (`chebyshev`): else rounds would grow in proportion to σ.

The last two numbers are exchanges per factor e of accuracy: OPAPC's theorem has every cost's own μ in it,
while NIDS profits from the curvature μ_g of the average cost.

A choice among sums looks at what is public only: the families and the number of unknowns. The network decides
between sums and gossip through what the user allows: 2·depth hops a sum are fewer than the rounds of gossip on any
network.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from tacit.algorithms import (
    ADMM,
    ALGORITHMS,
    FISTA,
    LBFGS,
    NIDS,
    OPAPC,
    AnyAlgorithm,
    Bracket,
    Direct,
    GradientTracking,
    Landscape,
    MultiConsensus,
    Newton,
    name_of,
)
from tacit.algorithms.chebyshev import Gossip
from tacit.algorithms.declarations import answering, refuse_costs, refuse_undeclared
from tacit.costs import CallableCost, Composite, Expansion, Family
from tacit.coverage import MASKS
from tacit.errors import AlgorithmError, CostError, ProtectionError
from tacit.masks import Mechanism, Quadratics, drawn_afresh, drawn_once
from tacit.solving.algorithm_section import weights_called
from tacit.solving.effort import NEWTON, ONCE, USUAL, with_gradients, with_hessians, worth_hessians
from tacit.solving.problem import Problem
from tacit.spelling import did_you_mean


class Choice(NamedTuple):
    """An algorithm with its settings, the weights it mixes with, and why it was taken."""

    algorithm: AnyAlgorithm
    weights: str
    reason: str


def choose(
    problem: Problem,
    algorithm: str | AnyAlgorithm = "auto",
    *,
    weights: str | None = None,
    privacy: Mechanism | None = None,
    tree: bool = True,
) -> Choice:
    """Return the algorithm to run: the one asked for, or the one that fits. *tree* = False forbids sums."""
    weights_called(weights)  # refuses what is none
    if not isinstance(algorithm, str):
        refuse_undeclared(algorithm)
        kinks = answering(algorithm).adds_slopes
        _refuse_misfit(type(algorithm), problem, privacy, tree=tree, kinks=kinks)
        _refuse_settings(algorithm)
        if algorithm.sums:
            refuse_costs(algorithm, Landscape(problem.stack, problem.network))
        return Choice(algorithm, weights or algorithm.weights, "given with its settings")
    if algorithm == "auto":
        kind, reason = _automatic(problem, privacy, tree=tree)
    elif algorithm in ALGORITHMS:
        kind, reason = ALGORITHMS[algorithm], "asked for by name"
    else:
        raise AlgorithmError(
            f"no algorithm is called {algorithm!r}; choose auto, {', '.join(ALGORITHMS)}."
            f"{did_you_mean(algorithm, ['auto', *ALGORITHMS])}"
        )
    _refuse_misfit(kind, problem, privacy, tree=tree, kinks=kind.adds_slopes)
    weights = weights or kind.weights
    bend = privacy.bends(problem.network, problem.dim) if privacy else 0.0
    limit = problem.dim * privacy.terms(problem.network, problem.dim).bound if privacy and bend else np.inf
    masked = privacy is not None and privacy.terms(problem.network, problem.dim).sigma is not None
    landscape = Landscape(problem.stack, problem.network, weights, bend=bend, limit=limit, is_masked=masked)
    return Choice(kind.tuned(landscape), weights, reason)


def _automatic(problem: Problem, privacy: Mechanism | None, *, tree: bool) -> tuple[type[AnyAlgorithm], str]:
    if drawn_afresh(privacy) or (problem.stack.outside and tree):
        return _by_sums(problem)
    if drawn_once(privacy) and privacy.basis.bends_costs:
        if tree and privacy.basis.covers(problem.stack):
            return _by_sums(problem)
        if problem.stack.is_rough:
            raise AlgorithmError(
                "no algorithm that gossips takes rough terms under masks on the curvature; allow a tree, or use "
                "affine masks."
            )
        if privacy.kind == "quadratic":
            why = "masks on the curvature leave no single cost convex, and its rounds grow only with log σ"
            return MultiConsensus, why if tree else f"no tree is allowed; {why}"
        raise AlgorithmError(
            "masks over functions of unknown curvature leave no step to choose; give one, as the step_size of "
            "'gradient-tracking', or write the costs in the basis, as expansions, and allow a tree."
        )
    unknown = not np.isfinite(problem.stack.strong_convexity).all()
    if privacy is None and tree and unknown:
        kind, why = _by_sums(problem)
        return kind, f"nothing is known of the costs' curvature; {why}"
    landscape = Landscape(problem.stack, problem.network)
    if privacy is None and tree and landscape.strong_convexity < 0 and not landscape.mean_strong_convexity > 0:
        kind, why = _by_sums(problem)
        return kind, f"single costs are not convex, and their average is not known to be strictly so; {why}"
    return _by_gossip(problem)


def among_sums(
    dim: int, *, depth: int = USUAL, rough: bool = False, hessians: bool = True, values: bool = True
) -> type[AnyAlgorithm]:
    """Return what is over soonest of the algorithms that add up: from public numbers alone, as members can.

    *hessians* and *values* say whether every cost has them, and may tell them.
    """
    if hessians and worth_hessians(dim, depth=depth, rough=rough):
        return Newton
    return FISTA if rough or not values else LBFGS


def _by_sums(problem: Problem) -> tuple[type[AnyAlgorithm], str]:
    smooth = [cost.smooth if isinstance(cost, Composite) else cost for cost in problem.costs]
    quadratic = Quadratics().covers(problem.stack)
    rough = " with penalties" if problem.stack.is_rough else ""
    depth = problem.network.tree.depth
    if not problem.stack.adds_up and problem.stack.separable and problem.stack.has_slopes:
        return Bracket, "every unknown by itself, with kinks of everybody's own: sums of slopes find the optimum"
    if quadratic and problem.dim <= ONCE:
        return Direct, f"quadratic costs{rough}: one sum says all, over a tree of depth {depth}"
    given = [_given(cost) for cost in smooth]
    has_hessians, has_values = all(cost.has_hessian for cost in given), all(cost.has_value for cost in given)
    fast = worth_hessians(problem.dim, depth=depth, rough=problem.stack.is_rough)
    newton = with_hessians(problem.dim, depth=depth)
    hidden = _hidden_numbers(smooth)
    tells = hidden <= newton.numbers and hidden > with_gradients(problem.dim, rough=problem.stack.is_rough).numbers
    kind = among_sums(
        problem.dim,
        depth=depth,
        rough=problem.stack.is_rough,
        hessians=has_hessians and not tells,
        values=has_values,
    )
    if kind is Newton:
        return kind, (
            f"twice differentiable costs{rough} and {problem.dim} unknown(s): a few sums of Hessians, over a tree "
            f"of depth {depth}, are the shortest run"
        )
    if not has_hessians:
        why = f"not all costs have {'Hessians' if has_values else 'values'}"
    elif not fast:
        why = f"{problem.dim} unknowns are too many for Hessians: what a run takes decided"
    else:
        why = (
            f"Newton's method would be the shorter run, and its sums of {newton.numbers // NEWTON} numbers would "
            "tell as many as the costs hide: what a run tells decided"
        )
    if problem.stack.is_rough:
        return kind, f"{why}; the costs have rough terms"
    return kind, why if has_values else f"{why}: gradients must do"


def _hidden_numbers(costs: list[Family]) -> float:
    """Return how many numbers all costs are made of; infinite where one says nothing of its shape."""
    secrets = [cost.secrets for cost in costs]
    return sum(np.inf if each is None else float(each.records * each.numbers) for each in secrets)


class _Given(NamedTuple):
    """What a cost can tell beside its gradient."""

    has_value: bool
    has_hessian: bool


def _given(cost: Family) -> _Given:
    if isinstance(cost, Expansion) and cost.rest is not None:
        return _given(cost.rest)
    if isinstance(cost, CallableCost):
        return _Given(cost.has_value, cost.has_value and cost.has_hessian)
    return _Given(has_value=True, has_hessian=True)


def _by_gossip(problem: Problem) -> tuple[type[AnyAlgorithm], str]:
    landscape = Landscape(problem.stack, problem.network)
    L, mu = landscape.smoothness, landscape.strong_convexity
    if mu < 0 and problem.stack.is_rough:
        raise AlgorithmError(
            "single costs are not convex and have rough terms: no algorithm that gossips takes both; smooth the "
            "rough term, share the curvature so that every cost is convex, or add up in secret."
        )
    if not np.isfinite(mu):
        raise AlgorithmError(
            "nothing is known of the costs' curvature, so no step can be chosen; give one, as the step_size "
            "of 'gradient-tracking', or allow a tree."
        )
    if mu < 0 and np.isfinite(landscape.mean_smoothness) and landscape.mean_strong_convexity > 0:
        return MultiConsensus, "single costs are not convex, and this follows their average alone"
    if mu < 0:
        return GradientTracking, "single costs are not convex, and this needs only their sum to be"
    if not np.isfinite(L):
        return ADMM, "the costs have no Lipschitz gradient, and proximal steps need none"
    if L == 0:
        return ADMM, "the costs have no curvature, and proximal steps need none"
    if mu > 0 and not problem.stack.is_rough:
        accelerated = Gossip.of(landscape.spectrum).exchanges * float(np.sqrt(L / mu))
        plain = max(L / _expected_curvature(landscape, problem), 2.0 / (1.0 - landscape.spectrum.second))
        if 1.5 * accelerated < plain:
            return OPAPC, f"the condition number is {L / mu:.0f}, and its rounds grow only with the square root"
    return NIDS, "smooth convex costs" + (" with a rough term" if problem.stack.is_rough else "")


def _expected_curvature(landscape: Landscape, problem: Problem) -> float:
    """Return μ_g where it is known, else between its lower bound and what the Hessians at x₀ have: a guess."""
    least = landscape.mean_strong_convexity
    below, above = problem.stack.total_curvature()
    if np.array_equal(below, above):
        return least
    start = np.tile(problem.x0, (len(problem.costs), 1))
    try:
        there = float(np.linalg.eigvalsh(problem.stack.total_hess(start))[0] / len(problem.costs))
    except CostError:  # a cost may come without its Hessian
        return least
    return float(np.sqrt(least * max(there, least)))


def _refuse_misfit(
    kind: type[AnyAlgorithm], problem: Problem, privacy: Mechanism | None, *, tree: bool, kinks: bool
) -> None:
    name = name_of(kind)
    if kind.sums and not tree:
        raise ProtectionError(
            f"{name!r} adds up over a spanning tree, and none is allowed; use an algorithm that gossips."
        )
    if problem.stack.outside and not kind.sums:
        raise AlgorithmError(
            f"{name!r} gossips, and would read all records anew in every round: records that stay in a file or a "
            "database are added up, by 'newton' for example; or load them, as arrays."
        )
    why = privacy.refuses(kind, problem.stack) if privacy is not None else None
    if privacy is not None and why is not None:
        raise ProtectionError(f"{name!r} with {MASKS[privacy.kind]} is refused: {why}")
    if problem.stack.is_rough and not kind.handles_rough:
        raise AlgorithmError(
            f"{name_of(kind)} has no step for costs without a gradient, such as |x|; use nids, pg-extra or admm"
            f"{', or direct, newton or fista with sums' if kind.sums else ''}."
        )
    if problem.stack.is_rough and not kind.sums and not np.isfinite(problem.stack.smoothness).all():
        raise AlgorithmError(
            "rough terms beside costs without a Lipschitz gradient: no algorithm that gossips takes both; add up "
            "in secret, or use an l2 penalty."
        )
    if kind.sums and problem.stack.is_rough and not kinks:
        _ = problem.stack.penalty  # refuses what does not add up
        limits = problem.stack.limits
        if not (limits == limits.reshape(-1, limits.shape[-1])[0]).all():
            raise AlgorithmError(
                "the boxes of the agents differ, or some have none, and sums cannot find their intersection; give "
                "all agents the same box, which is then public, or use an algorithm that gossips, such as 'nids'."
            )


def _refuse_settings(algorithm: AnyAlgorithm) -> None:
    for field in fields(algorithm):
        value = getattr(algorithm, field.name)
        if isinstance(value, int | float) and not (
            np.isfinite(value) and value >= 0 and (value or field.default == 0)
        ):
            raise AlgorithmError(f"{name_of(type(algorithm))}: {field.name} = {value} must be a positive number.")
