"""`compare`: one problem, every approach, the same network, the same attacks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, overload

import msgspec
import numpy as np

from tacit.algorithms import AnyAlgorithm
from tacit.auditing.conduct import OnProgress
from tacit.baselines import Approach, Listeners, reference
from tacit.certificates import certify
from tacit.comparing.approaches import approaches, chosen_from
from tacit.comparing.comparison import ComparedRow, ComparisonReport
from tacit.comparing.race import Race, race
from tacit.comparing.recovery import NOTHING, recover
from tacit.errors import InputError, TacitError
from tacit.masks import Mechanism
from tacit.solving import Problem, ProblemFile
from tacit.typing import Array


@overload
def compare(
    problem: Problem | ProblemFile,
    *,
    algorithms: Sequence[str | AnyAlgorithm] | str,
    privacy: Mechanism | None = None,
    seeds: int = 3,
    max_exchanges: int = 4000,
    title: str = "Race",
    on_progress: OnProgress | None = None,
) -> Race: ...


@overload
def compare(
    problem: Problem | ProblemFile,
    *,
    only: Sequence[str] | None = None,
    sigma: float = 1e3,
    epsilon: float = 1.0,
    repeats: int = 20,
    seed: int | None = None,
    title: str = "Comparison",
    on_progress: OnProgress | None = None,
) -> ComparisonReport: ...


def compare(
    problem: Problem | ProblemFile,
    *,
    algorithms: Sequence[str | AnyAlgorithm] | str | None = None,
    privacy: Mechanism | None = None,
    seeds: int = 3,
    max_exchanges: int = 4000,
    only: Sequence[str] | None = None,
    sigma: float = 1e3,
    epsilon: float = 1.0,
    repeats: int = 20,
    seed: int | None = None,
    title: str = "Comparison",
    on_progress: OnProgress | None = None,
) -> ComparisonReport | Race:
    """Run every approach on one problem, attack each alike, and return what they give and what they give away.

    With *algorithms*, "all" or some of them, your own settings too, it is a race of those instead, behind the masks
    of *privacy* drawn *seeds* times, and not beyond *max_exchanges*.

    *only* names approaches. *sigma* is that of masks, and *epsilon* the budget of differential privacy. Masks and
    noise are drawn *repeats* times for the attacks; *seed* makes them reproducible.
    """
    if algorithms is not None:
        return race(
            problem, algorithms, privacy=privacy, seeds=seeds, max_exchanges=max_exchanges, title=title,
            on_progress=on_progress,
        )  # fmt: skip
    if isinstance(problem, ProblemFile):
        problem = problem.problem
    if len(problem.network) < 3:
        raise InputError(f"{len(problem.network)} agents: a comparison needs three, of whom one attacks.")
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon = {epsilon} must be a positive number: the budget of differential privacy.")
    if repeats < 1:
        raise InputError(f"repeats = {repeats} must be at least 1.")
    start, tell = time.perf_counter(), on_progress or (lambda share, what: None)
    chosen = chosen_from(approaches(sigma=sigma, epsilon=epsilon), only)
    listeners = Listeners(attackers(problem), repeats, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say of privacy is in the table, measured
        optimum = reference(problem)
        rows = []
        for k, approach in enumerate(chosen):
            tell(k / len(chosen), approach.name)
            rows.append(_row(problem, approach, listeners, optimum))
    tell(1.0, "done")
    return ComparisonReport(
        tacit=version("tacit"),
        title=title,
        agents=len(problem.network),
        links=len(problem.network.links),
        unknowns=problem.dim,
        families=list(problem.families),
        rows=rows,
        seconds=time.perf_counter() - start,
    )


def attackers(problem: Problem) -> list[list[int]]:
    """Return one agent, and two, by position: those against whom masks on this network protect least."""
    coalitions = []
    for size in (1, 2):
        if size > len(problem.network) - 2:
            break
        members: Sequence[Any] | None = certify(problem.network, any=size, sigma=1.0, quick=False).coalition
        if members is None or len(members) < size:
            order = np.argsort(-problem.network.degrees, kind="stable")
            members = [problem.network.agents[i] for i in order[:size]]
        coalitions.append(sorted(problem.network.index[member] for member in members))
    return coalitions


def _row(problem: Problem, approach: Approach, listeners: Listeners, optimum: Array) -> ComparedRow:
    row = ComparedRow(approach=approach.name, source=approach.source, assumes=approach.assumes)
    why = approach.misses(problem)
    if why is not None:
        return msgspec.structs.replace(row, missing=why)
    try:
        shown = approach.demonstrate(problem, listeners)
    except TacitError as error:  # a library that did not come to an end leaves a row, and not a hole in the table
        return msgspec.structs.replace(row, missing=str(error))
    names = [str(agent) for agent in problem.network.agents]
    promises = shown.promises or listeners.each(NOTHING)
    distance = float(np.linalg.norm(optimum - problem.x0)) or 1.0
    away = float(np.linalg.norm(shown.x - optimum, axis=1).max()) / distance
    return msgspec.structs.replace(
        row,
        how=shown.how,
        error=away if np.isfinite(away) else None,
        rounds=shown.rounds,
        messages=shown.traffic.messages,
        sent_bytes=shown.traffic.bytes,
        seconds=shown.seconds,
        recoveries=[recover(runs, names, promise) for runs, promise in zip(shown.overheard, promises, strict=True)],
    )
