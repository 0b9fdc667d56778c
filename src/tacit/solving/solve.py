"""`solve`: choose, hide, agree, record."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.algorithms import AnyAlgorithm, name_of
from tacit.differential import AnswerGuarantee
from tacit.errors import InputError
from tacit.masks import Mechanism, drawn_once
from tacit.runtimes import MAX_ROUNDS, TOLERANCE, Cluster, Job, Progress, Run, StoppingRule
from tacit.solving import confined
from tacit.solving.answer import Answer
from tacit.solving.by_name import runtime_called
from tacit.solving.choice import Choice, choose
from tacit.solving.floor import rounding_floor
from tacit.solving.problem import Problem
from tacit.solving.promised import promised
from tacit.solving.protection import Protection, mechanism_for
from tacit.solving.reconsidered import reconsidered
from tacit.solving.recorded import recorded
from tacit.solving.stamping import stamped
from tacit.solving.telling import Telling, stamps_of, telling
from tacit.stamps import Stamp

_NOTICED = 1e-5  # an error of the answer that is worth a warning


class NotPrivateWarning(UserWarning):
    """The run hides less than its reader may think."""


class InexactWarning(UserWarning):
    """The algorithm, or the masks' lattice, does not end at the optimum, or not within the rounds allowed."""


class CollinearWarning(InexactWarning):
    """Unknowns that cannot be told apart to the digits that the numbers have; says by how much that can matter."""


def solve(
    problem: Problem,
    *,
    privacy: Mechanism | None = None,
    protect: Protection | None = None,
    hide: float | None = None,
    algorithm: str | AnyAlgorithm = "auto",
    tree: bool = True,
    weights: str | None = None,
    tolerance: float = TOLERANCE,
    max_rounds: int = MAX_ROUNDS,
    runtime: str | Cluster = "stacked",
    on_progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Find argmin Σ h_i with every cost hidden as *privacy* says, and return the answer with its record.

    *privacy* is AffineMasks(sigma), QuadraticMasks(sigma), SumMasks() or None. *protect* says what must be hidden,
    "affine" parts or "whole" costs: a mechanism that does less is refused, and without one secret sums are used.
    *hide* is how large a difference between two worlds is to be hidden, in the units of the coefficients: a size
    that you declare, never one measured on private numbers; certificates then say how often a guess is right.
    *algorithm* is "auto", a name, or settings such as `tacit.algorithms.EXTRA(step_size=0.01)`. *tree* = False
    allows gossip only, no sums over a spanning tree. *weights* overrides the mixing weights that the algorithm
    prefers. *runtime* is a name, or a `tacit.runtimes.Cluster`. A run that does not converge is returned, not
    raised: see `answer.status` and `answer.sentence`.
    """
    runs = runtime_called(runtime)
    if hide is not None and not (np.isfinite(hide) and hide > 0):
        raise InputError(f"hide = {hide} must be a positive number: how large a difference is to be hidden.")
    job, choice, stamps, cautions, tells, guarantee = prepare(
        problem,
        privacy=privacy,
        protect=protect,
        algorithm=algorithm,
        tree=tree,
        weights=weights,
        tolerance=tolerance,
        max_rounds=max_rounds,
    )
    privacy = job.privacy
    for stamp in stamps:
        if stamp.voids and stamp.reason != "no masks":  # which is as asked
            warnings.warn(str(stamp), NotPrivateWarning, stacklevel=2)
    for sentence in cautions:
        warnings.warn(sentence, InexactWarning, stacklevel=2)
    start = time.perf_counter()
    run = runs(job, on_progress)
    seconds = time.perf_counter() - start
    if tells is not None:  # as many rounds as were needed, and not as many as were expected
        tells = tells.after(run.rounds)
        stamps = [stamp for stamp in stamps if stamp.reason != "answer tells"] + stamps_of(tells)
    sentences = [*cautions]
    coarse = _coarse(problem, privacy, run) if guarantee is None else None  # it looks at curvatures
    if coarse is not None:
        warnings.warn(coarse, InexactWarning, stacklevel=2)
        sentences.append(coarse)
    if guarantee is None:
        run = reconsidered(problem, run, choice.algorithm, job.floor)
    else:  # what noise leaves to gain says nothing, and looking would tell
        run = replace(run, verdict=run.verdict.of_noisy_answer())
    if run.doubt is not None:
        sentences.append(run.doubt.sentence())
        warnings.warn(sentences[-1], CollinearWarning, stacklevel=2)
    return Answer(
        record=recorded(
            job,
            run,
            reason=choice.reason,
            runtime=str(runtime),
            seconds=seconds,
            stamps=stamps,
            cautions=sentences,
            tells=tells,
            hide=hide,
            guarantee=guarantee,
        ),
        network=problem.network,
    )


class Prepared(NamedTuple):
    """A run before it starts. Holds private costs, as every job does."""

    job: Job
    choice: Choice
    stamps: list[Stamp]
    cautions: list[str]
    """What may be inexact, or take more rounds than are allowed, in sentences."""
    tells: Telling | None
    """How much of what is hidden the run will tell; None where nothing is hidden, or nothing is known of it."""
    guarantee: AnswerGuarantee | None = None
    """What will hold of the answer, where it is to be differentially private."""


def prepare(
    problem: Problem,
    *,
    privacy: Mechanism | None = None,
    protect: Protection | None = None,
    algorithm: str | AnyAlgorithm = "auto",
    tree: bool = True,
    weights: str | None = None,
    tolerance: float = TOLERANCE,
    max_rounds: int = MAX_ROUNDS,
) -> Prepared:
    """Choose, refuse what does not protect, and return the run that `solve` would start."""
    privacy = mechanism_for(problem, privacy, protect, tree=tree)
    guarantee, choice = None, None
    if privacy is not None and privacy.answer is not None:
        problem, choice, guarantee = promised(
            problem, privacy, privacy.answer, algorithm, weights=weights, tree=tree
        )
    if drawn_once(privacy):
        privacy.row_scales(problem.network)  # refuse scales of links that are not there
        privacy.basis.read(problem.stack)  # and costs that the basis does not fit
    if choice is None:
        choice = choose(problem, algorithm, weights=weights, privacy=privacy, tree=tree)
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
        floor=_floor(problem, privacy),
    )
    if guarantee is not None:
        return Prepared(job, choice, stamped(problem, privacy), [], None, guarantee)
    tells, more = telling(problem, job)
    cautions = [*_cautions(problem, privacy, choice), *confined.caution(problem, privacy, choice, max_rounds)]
    return Prepared(job, choice, [*stamped(problem, privacy), *more], cautions, tells)


def _floor(problem: Problem, privacy: Mechanism | None) -> float:
    """Return the rounding floor of x; zero where curvature is a secret that nothing may depend on."""
    if privacy is not None and privacy.answer is not None and privacy.kind != "affine":
        return 0.0
    return rounding_floor(
        privacy,
        problem.network,
        problem.dim,
        curvature=problem.least_curvature,
        exact=privacy is None or privacy.coverage(problem.stack).exact,
    )


def _cautions(problem: Problem, privacy: Mechanism | None, choice: Choice) -> list[str]:
    if choice.algorithm.exact:
        return []
    terms = privacy.terms(problem.network, problem.dim) if privacy else None
    tail = f", a bias that grows with sigma = {terms.sigma:g}" if terms and terms.sigma else ""
    return [f"{name_of(type(choice.algorithm))} is inexact: it ends near the optimum, not at it{tail}."]


def _coarse(problem: Problem, privacy: Mechanism | None, run: Run) -> str | None:
    """Say how far the rounding before masks can have moved the answer, if that is worth saying."""
    if privacy is None:
        return None
    network, m = problem.network, problem.dim
    terms, size = privacy.terms(network, m), float(np.abs(run.x).max())
    rounds_curvature = terms.words is not None or privacy.bends(network, m) > 0
    error = len(network) * terms.step / 2.0 * (np.sqrt(m) + (m * size if rounds_curvature else 0.0))
    least = problem.least_curvature
    error /= len(network) * (least if least > 0 else 1e-2)
    if not error > _NOTICED * max(size, 1e-3):
        return None
    finer = "a smaller sigma" if terms.sigma else "words=2"
    return (
        f"numbers are rounded to {terms.step:.1e} before they are masked: the answer may be off by {error:.1e}; "
        f"use {finer}, or a smaller public bound."
    )
