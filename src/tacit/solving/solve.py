"""`solve`: choose, hide, agree, record."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from tacit.algorithms import AnyAlgorithm
from tacit.errors import InputError
from tacit.lattice import Lattice
from tacit.masks import AffineMasks
from tacit.runtimes import MAX_ROUNDS, RUNTIMES, TOLERANCE, Job, Progress, Run, StoppingRule
from tacit.solving.answer import Answer
from tacit.solving.choice import Choice, choose
from tacit.solving.problem import Problem
from tacit.solving.record import Phase1, Phase2, RunRecord

_NOTICED = 1e-5  # an error of the answer that is worth a warning


class NotPrivateWarning(UserWarning):
    """The run hides less than its reader may think."""


class InexactWarning(UserWarning):
    """The algorithm, or the masks' lattice, does not end at the optimum."""


def solve(
    problem: Problem,
    *,
    privacy: AffineMasks | None = None,
    algorithm: str | AnyAlgorithm = "auto",
    weights: str | None = None,
    tolerance: float = TOLERANCE,
    max_rounds: int = MAX_ROUNDS,
    runtime: str = "stacked",
    on_progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Find argmin Σ h_i with every cost hidden as *privacy* says, and return the answer with its record.

    *algorithm* is "auto", a name, or settings such as `tacit.EXTRA(step_size=0.01)`. *weights* overrides the
    mixing weights that the algorithm prefers. A run that does not converge is returned, not raised: see
    `answer.status` and `answer.sentence`.
    """
    if runtime not in RUNTIMES:
        raise InputError(f"no runtime is called {runtime!r}; choose one of {', '.join(RUNTIMES)}.")
    if privacy is not None:
        if not isinstance(privacy, AffineMasks):
            raise InputError(f"privacy is AffineMasks(sigma) or None, not {type(privacy).__name__}.")
        privacy.row_scales(problem.network)  # refuse scales of links that are not there
    choice = choose(problem, algorithm, weights=weights)
    cautions = _cautions(problem, privacy, choice)
    for kind, sentence in cautions:
        warnings.warn(sentence, kind, stacklevel=2)
    job = Job(
        network=problem.network,
        costs=problem.costs,
        stack=problem.stack,
        x0=problem.x0,
        algorithm=choice.algorithm,
        exact=choice.algorithm.exact,
        weights=choice.weights,
        privacy=privacy,
        rule=StoppingRule(tolerance=tolerance, max_rounds=max_rounds),
        floor=_rounding_floor(problem, privacy),
    )
    start = time.perf_counter()
    run = RUNTIMES[runtime](job, on_progress)
    seconds = time.perf_counter() - start
    said = [sentence for _, sentence in cautions]
    return Answer(
        record=_record(problem, privacy, choice, run, runtime=runtime, seconds=seconds, cautions=said),
        network=problem.network,
    )


def _cautions(problem: Problem, privacy: AffineMasks | None, choice: Choice) -> list[tuple[type[UserWarning], str]]:
    found: list[tuple[type[UserWarning], str]] = []
    name = type(choice.algorithm).__name__
    if not choice.algorithm.exact:
        tail = f", a bias that grows with sigma = {privacy.sigma:g}" if privacy else ""
        found.append((InexactWarning, f"{name} is inexact: it ends near the optimum, not at it{tail}."))
    off = _lattice_error(problem, privacy)
    if privacy is not None and off > _NOTICED:
        found.append(
            (
                InexactWarning,
                f"sigma = {privacy.sigma:g} leaves coefficients rounded to {_lattice(problem, privacy).step:.1e}: "
                f"the answer may be off by {off:.1e}; use a smaller sigma, or a smaller public bound.",
            )
        )
    if privacy is not None and privacy.seed is not None:
        found.append(
            (NotPrivateWarning, "NOT PRIVATE: the masks come from a seed, and whoever knows it knows them.")
        )
    idle = [cost.hides for cost in problem.costs if cost.hides.startswith("nothing")]
    if privacy is not None and idle:
        found.append(
            (NotPrivateWarning, f"NOT PRIVATE: affine masks hide {idle[0]}, and {len(idle)} agent(s) have it.")
        )
    if privacy is not None and len(problem.network) == 2:
        found.append(
            (
                NotPrivateWarning,
                "NOT PRIVATE: of two agents, each learns the other's affine part from the sum.",
            )
        )
    return found


def _lattice(problem: Problem, privacy: AffineMasks) -> Lattice:
    return privacy.lattice(agents=len(problem.network), links=len(problem.network.links))


def _lattice_error(problem: Problem, privacy: AffineMasks | None) -> float:
    """Return how far the rounding of the coefficients can move the answer, at the curvature that is known."""
    if privacy is None:
        return 0.0
    return _lattice(problem, privacy).step / 2.0 / max(_known_curvature(problem), 1e-2)


def _known_curvature(problem: Problem) -> float:
    """Return a lower bound of the average cost's curvature."""
    below, _ = problem.stack.total_curvature()
    return float(np.linalg.eigvalsh(below)[0]) / len(problem.network)


def _rounding_floor(problem: Problem, privacy: AffineMasks | None) -> float:
    """Return how near float64 lets agents come: some ulps of the largest masked gradient over the curvature."""
    if privacy is None:
        return 0.0
    widest = max([1.0, *privacy.scale_of.values()])
    largest = 8.0 * widest * privacy.sigma * float(np.sqrt(2.0 * problem.network.degrees.max()))
    return 16.0 * float(np.finfo(float).eps) * largest / max(_known_curvature(problem), 1e-2)


def _record(
    problem: Problem,
    privacy: AffineMasks | None,
    choice: Choice,
    run: Run,
    *,
    runtime: str,
    seconds: float,
    cautions: list[str],
) -> RunRecord:
    network, last = problem.network, run.history[-1] if run.history else None
    messages = run.exchanges * 2 * len(network.links)
    return RunRecord(
        tacit=version("tacit"),
        agents=[str(agent) for agent in network.agents],
        links=[(int(i), int(j)) for i, j in network.links],
        families=problem.families,
        unknowns=problem.dim,
        runtime=runtime,
        private=privacy is not None and not any("NOT PRIVATE" in caution for caution in cautions),
        phase1=_phase1(problem, privacy),
        phase2=Phase2(
            algorithm=type(choice.algorithm).__name__,
            settings=dataclasses.asdict(choice.algorithm),
            weights=choice.weights,
            reason=choice.reason,
            exact=choice.algorithm.exact,
            rounds=run.rounds,
            exchanges=run.exchanges,
            messages=messages,
            bytes=messages * problem.dim * 8,
        ),
        status=run.verdict.status,
        sentence=run.verdict.sentence,
        converged=run.verdict.status == "converged",
        x=[value if np.isfinite(value) else None for value in run.x.mean(axis=0).tolist()],
        disagreement=last.disagreement if last else None,
        error=last.error if last else None,
        history=list(run.history),
        seconds=seconds,
        warnings=cautions,
    )


def _phase1(problem: Problem, privacy: AffineMasks | None) -> Phase1 | None:
    if privacy is None:
        return None
    lattice = _lattice(problem, privacy)
    return Phase1(
        mechanism="AffineMasks",
        sigma=privacy.sigma,
        bound=lattice.bound,
        lattice_step=lattice.step,
        link_scales=[
            (problem.network.index[a], problem.network.index[b], scale)
            for (a, b), scale in privacy.scale_of.items()
        ],
        hides=problem.stack.hides,
        splits_exactly=problem.stack.splits_exactly,
    )
