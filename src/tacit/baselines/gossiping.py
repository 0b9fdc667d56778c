"""The baselines that gossip, ready to be compared: each with the settings that suit the problem best.

Noise and steps that their papers leave open are tried on the problem itself, and the best are taken: nobody
could in practice, and so an error in the table is a lower bound of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np

from tacit.algorithms import Landscape
from tacit.baselines.approach import Demonstration
from tacit.baselines.correlated_noise import CorrelatedNoise, calibrated, directions
from tacit.baselines.domain import Domain
from tacit.baselines.hidden_steps import HiddenSteps
from tacit.baselines.noise import noise_seed
from tacit.baselines.noisy_messages import NoisyMessages
from tacit.baselines.noisy_objective import basis_of, diameter, perturbed
from tacit.baselines.optimum import reference
from tacit.baselines.staged import Staged, demonstrated
from tacit.errors import TacitError
from tacit.runtimes import Job, StoppingRule, stacked
from tacit.solving import Problem, prepare
from tacit.typing import Algorithm

_TRIED = 3  # runs of every choice of settings
Settings = TypeVar("Settings", NoisyMessages, HiddenSteps, CorrelatedNoise)


def _unfit(problem: Problem) -> str | None:
    if problem.stack.is_rough:
        return "needs costs with a gradient, and these have rough terms."
    if not np.isfinite(problem.stack.smoothness).all():
        return "needs costs with a Lipschitz gradient, and one of these has none."
    return None


def _job(problem: Problem, algorithm: Algorithm, rounds: int) -> Job:
    return Job(
        network=problem.network, costs=problem.costs, stack=problem.stack, x0=problem.x0, algorithm=algorithm,
        exact=True, weights="metropolis", privacy=None, rule=StoppingRule(tolerance=1e-12, max_rounds=rounds),
    )  # fmt: skip


def _best(problem: Problem, choices: Iterable[Settings], rounds: int) -> Settings:
    """Return the settings that end nearest to the optimum, over a few runs of each."""
    optimum = reference(problem)

    def missed(choice: Settings) -> float:
        runs = [stacked.run(_job(problem, replace(choice, seed=k), rounds)) for k in range(_TRIED)]
        away = float(np.mean([np.linalg.norm(run.x - optimum, axis=1).max() for run in runs]))
        return away if np.isfinite(away) else np.inf

    return min(choices, key=missed)


def _shown(
    problem: Problem,
    settle: Callable[[Sequence[int]], Settings],
    rounds: int,
    how: str,
    coalitions: Sequence[Sequence[int]],
    *,
    seed: int | None,
    repeats: int,
    promise: str = "",
) -> Demonstration:
    def stage(k: int, who: Sequence[int]) -> Staged:
        algorithm = settle(who)
        noisy = replace(algorithm, seed=noise_seed(seed, k))
        return Staged(_job(problem, noisy, rounds), replace(algorithm, seed=None), how)

    promises = [promise] * len(coalitions) if promise else ()
    return demonstrated(problem, stage, coalitions, repeats=repeats, promises=promises)


@dataclass(frozen=True, slots=True)
class MessageNoise:
    """Laplace noise in messages that shrinks from round to round."""

    epsilon: float = 1.0
    rounds: int = 150
    name: str = "noise in messages"
    source: str = "Huang, Mitra & Vaidya 2015"
    assumes: str = "a public bound on x and on gradients; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        return _unfit(problem)

    def demonstrate(
        self, problem: Problem, coalitions: Sequence[Sequence[int]], *, seed: int | None, repeats: int
    ) -> Demonstration:
        """Run with the best of some settings."""
        domain = Domain.around(problem, reference(problem))
        choices = [
            NoisyMessages(
                step_size=factor / domain.smoothness, q=q, p=(q + 1.0) / 2.0, epsilon=self.epsilon,
                steepest=domain.steepest, radius=domain.radius, centre=tuple(problem.x0.tolist()),
            )
            for factor, q in product((0.01, 0.1, 0.5), (0.5, 0.8, 0.95))
        ]  # fmt: skip
        best = _best(problem, choices, self.rounds)
        how = f"DGD, Laplace noise, q = {best.q:g}, p = {best.p:g}"
        promise = f"ε = {self.epsilon:g} for every agent's whole cost, whoever listens."
        return _shown(
            problem, lambda who: best, self.rounds, how, coalitions, seed=seed, repeats=repeats, promise=promise
        )


@dataclass(frozen=True, slots=True)
class ObjectiveNoise:
    """Laplace noise in every cost, once; then any algorithm."""

    epsilon: float = 1.0
    name: str = "noise in the objective"
    source: str = "Nozari, Tallapragada & Cortés 2018"
    assumes: str = "a public bound on how far costs lie apart; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        if not (problem.stack.strong_convexity > 0).all():
            return _unfit(problem) or "needs every cost strongly convex, and one is not."
        return _unfit(problem)

    def demonstrate(
        self, problem: Problem, coalitions: Sequence[Sequence[int]], *, seed: int | None, repeats: int
    ) -> Demonstration:
        """Add noise, and let tacit choose the algorithm that follows."""
        distance = diameter(problem)
        basis = "quadratic" if basis_of(problem).bends_costs else "linear"

        def stage(k: int, who: Sequence[int]) -> Staged:
            noisy = perturbed(problem, epsilon=self.epsilon, distance=distance, seed=noise_seed(seed, k))
            job = prepare(noisy, max_rounds=5000).job
            return Staged(
                job, job.algorithm, f"{type(job.algorithm).__name__}, Laplace noise in {basis} coefficients"
            )

        promise = (
            f"ε = {self.epsilon:g} between any two of these costs in their {basis} coefficients, whoever listens."
        )
        return demonstrated(problem, stage, coalitions, repeats=repeats, promises=[promise] * len(coalitions))


@dataclass(frozen=True, slots=True)
class StepHiding:
    """Steps, and when they are taken, that nobody else knows."""

    rounds: int = 2000
    name: str = "hidden step sizes"
    source: str = "Lou, Yu, Wang & Yi 2017"
    assumes: str = "that costs are unlike from round to round; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        return _unfit(problem)

    def demonstrate(
        self, problem: Problem, coalitions: Sequence[Sequence[int]], *, seed: int | None, repeats: int
    ) -> Demonstration:
        """Run with the best of some steps."""
        domain = Domain.around(problem, reference(problem))
        mean = Landscape(problem.stack, problem.network).mean_strong_convexity
        slow = 1.0 / mean if mean > 0 else 10.0 / domain.smoothness
        choices = [
            HiddenSteps(step_size=factor * slow, radius=domain.radius, centre=tuple(problem.x0.tolist()))
            for factor in (0.3, 1.0, 3.0)
        ]
        best = _best(problem, choices, self.rounds)
        return _shown(
            problem, lambda who: best, self.rounds, "asynchronous DGD, private steps", coalitions, seed=seed,
            repeats=repeats,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decor:
    """Noise that mostly cancels between neighbours, fresh in every round."""

    epsilon: float = 1.0
    delta: float = 1e-5
    rounds: int = 200
    ratio: float = 10.0
    name: str = "correlated noise"
    source: str = "DECOR: Allouah et al. 2024"
    assumes: str = "a public clip of gradients, seeds shared by neighbours; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        return _unfit(problem)

    def demonstrate(
        self, problem: Problem, coalitions: Sequence[Sequence[int]], *, seed: int | None, repeats: int
    ) -> Demonstration:
        """Run with the best of some steps and clips; calibrated against the largest coalition."""
        domain = Domain.around(problem, reference(problem))
        worst = max(coalitions, key=len, default=())
        reverse, _ = directions(problem.network)
        choices = []
        for factor, share in product((0.03, 0.1, 0.3), (0.03, 0.3)):
            clip = share * domain.steepest
            own = calibrated(
                problem.network, epsilon=self.epsilon, delta=self.delta, rounds=self.rounds, clip=clip,
                ratio=self.ratio, coalition=worst,
            )  # fmt: skip
            choices.append(
                CorrelatedNoise(
                    step_size=factor / domain.smoothness,
                    clip=clip,
                    pairwise=self.ratio * own,
                    own=own,
                    reverse=reverse,
                )
            )
        best = _best(problem, choices, self.rounds)
        promise = (
            f"(ε, δ) = ({self.epsilon:g}, {self.delta:g}) for every agent's clipped gradients over all "
            f"{self.rounds} rounds, against these {len(worst)}."
        )
        return _shown(
            problem, lambda who: replace(best, silent=directions(problem.network, who)[1]), self.rounds,
            f"DGD, σ_cor = {self.ratio:g} σ_cdp", coalitions, seed=seed, repeats=repeats, promise=promise,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FunctionSharing:
    """Random polynomials that neighbours trade, as in the basis masks, and then DGD."""

    sigma: float = 1e3
    name: str = "function sharing"
    source: str = "Gade & Vaidya 2016–2018"
    assumes: str = "authenticated links; no server, any graph"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        try:
            self._prepared(problem, None)
        except TacitError as error:
            return str(error)
        return _unfit(problem)

    def demonstrate(
        self, problem: Problem, coalitions: Sequence[Sequence[int]], *, seed: int | None, repeats: int
    ) -> Demonstration:
        """Share functions, and descend with steps that diminish."""

        def stage(k: int, who: Sequence[int]) -> Staged:
            job = self._prepared(problem, None if seed is None else seed + k)
            return Staged(job, job.algorithm, "linear functions, then DGD with diminishing steps")

        return demonstrated(problem, stage, coalitions, repeats=repeats)

    def _prepared(self, problem: Problem, seed: int | None) -> Job:
        from tacit.masks import BasisMasks

        return prepare(
            problem, privacy=BasisMasks(self.sigma, seed=seed), algorithm="dgd-diminishing", max_rounds=5000
        ).job
