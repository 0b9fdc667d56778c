"""A race of algorithms: the same problem, network and masks, and what each takes to a given accuracy.

Every registered algorithm runs, and whatever settings one hands over; one that refuses the problem has a line that
says why. Errors are true ones, against the optimum, and not the algorithms' own estimates.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from statistics import median
from typing import Any

import msgspec
import numpy as np

from tacit.algorithms import ALGORITHMS, AnyAlgorithm, name_of
from tacit.auditing.conduct import OnProgress
from tacit.baselines import reference
from tacit.errors import InputError, TacitError
from tacit.masks import Keystreams, Mechanism, agent_keys, with_seed
from tacit.runtimes import Job, Stacked
from tacit.showing import Shown, frame
from tacit.solving import Problem, ProblemFile, prepare
from tacit.typing import Array, Peers

TARGETS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
_DIVERGED = 1e8


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """What it took to come so near, medians over the seeds."""

    target: float
    rounds: float
    exchanges: float
    sent_bytes: float
    seconds: float


class Runner(msgspec.Struct, frozen=True, kw_only=True):
    """One algorithm."""

    algorithm: str
    refused: str | None = None
    """Why it does not run here."""
    reached: list[Reached] = []
    exchanges: list[int] = []
    """Of the first seed, where errors were taken."""
    errors: list[float] = []


class Race(msgspec.Struct, Shown, frozen=True, kw_only=True):
    """All algorithms on one problem."""

    tacit: str
    title: str
    agents: int
    links: int
    unknowns: int
    masks: str
    seeds: int
    runners: list[Runner]

    def sentence(self) -> str:
        """Return who was first, in a sentence."""
        ran = [runner for runner in self.runners if runner.refused is None]
        finest = min((each.target for runner in ran for each in runner.reached), default=None)
        there = [(each.exchanges, runner.algorithm) for runner in ran for each in runner.reached
                 if each.target == finest]  # fmt: skip
        if not there:
            return f"{self.title}: no algorithm came within {TARGETS[0]:g} of the optimum."
        exchanges, first = min(there)
        return (
            f"{self.title}: {len(ran)} algorithms ran with {self.masks}; {first} reached {finest:g} with the "
            f"fewest exchanges, {exchanges:g}."
        )

    def headings(self) -> tuple[str, ...]:
        """Return the head of the table."""
        return ("algorithm", *(f"to {target:g}" for target in TARGETS))

    def notes(self) -> list[str]:
        """Return what the table leaves out."""
        draws = f"Medians over {self.seeds} draws of masks." if self.seeds > 1 else "One run of each."
        lines = [f"{draws} Seconds are of all agents in one process."]
        refused = [runner for runner in self.runners if runner.refused is not None]
        return lines + [f"{runner.algorithm} did not start: {runner.refused}" for runner in refused]

    def table(self) -> list[tuple[str, ...]]:
        """Return the table: rounds, exchanges, bytes and seconds to every accuracy."""
        return [_cells(runner) for runner in self.runners if runner.refused is None]

    def to_frame(self) -> Any:
        """Return one row for every algorithm and accuracy, as a table of pandas."""
        rows = [{"algorithm": runner.algorithm, **msgspec.to_builtins(each)} for runner in self.runners
                for each in runner.reached]  # fmt: skip
        return frame(rows, "algorithm")

    def to_json(self) -> str:
        """Return the race as indented JSON."""
        whole = {"sentence": self.sentence(), **msgspec.to_builtins(self)}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()

    def __str__(self) -> str:
        return self.sentence()


def race(
    problem: Problem | ProblemFile,
    algorithms: Sequence[str | AnyAlgorithm] | str = "all",
    *,
    privacy: Mechanism | None = None,
    seeds: int = 3,
    max_exchanges: int = 4000,
    finest: float = TARGETS[-1],
    title: str = "Race",
    on_progress: OnProgress | None = None,
) -> Race:
    """Run *algorithms* on the same network and masks, and return what each takes to 1e-2 … 1e-10.

    *algorithms* are "all", names, settings of your own, or several of these. Medians are over *seeds* draws of
    the masks. A run ends after *max_exchanges*, or where its error is below *finest*.
    """
    if isinstance(problem, ProblemFile):
        privacy, problem = privacy or problem.privacy, problem.problem
    if seeds < 1 or max_exchanges < 1:
        raise InputError(f"seeds = {seeds} and max_exchanges = {max_exchanges} must be at least 1.")
    named = [algorithms] if isinstance(algorithms, str) else algorithms
    chosen: list[str | AnyAlgorithm] = [
        each for name in named for each in (ALGORITHMS if isinstance(name, str) and name == "all" else (name,))
    ]
    tell = on_progress or (lambda share, what: None)
    runners = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimum = reference(problem)
        for k, algorithm in enumerate(chosen):
            name = algorithm if isinstance(algorithm, str) else name_of(type(algorithm))
            tell(k / len(chosen), name)
            runners.append(_run(problem, algorithm, name, privacy, optimum, seeds, (max_exchanges, finest)))
    tell(1.0, "done")
    return Race(
        tacit=version("tacit"),
        title=title,
        agents=len(problem.network),
        links=len(problem.network.links),
        unknowns=problem.dim,
        masks="no masks"
        if privacy is None
        else f"{privacy.kind} masks"
        if privacy.kind != "sums"
        else "secret sums",
        seeds=seeds if privacy is not None else 1,
        runners=sorted(runners, key=_order),
    )


def _run(
    problem: Problem,
    algorithm: str | AnyAlgorithm,
    name: str,
    privacy: Mechanism | None,
    optimum: Array,
    seeds: int,
    limits: tuple[int, float],
) -> Runner:
    runs = []
    for seed in range(seeds if privacy is not None else 1):
        masks = None if privacy is None else with_seed(privacy, seed)
        try:
            job = prepare(problem, privacy=masks, algorithm=algorithm).job
        except TacitError as error:
            if isinstance(algorithm, str) and algorithm not in ALGORITHMS:
                raise
            return Runner(algorithm=name, refused=str(error))
        runs.append(_course(job, optimum, *limits))
    reached = []
    for target in TARGETS:
        there = [row for run in runs if (row := _first(run, target)) is not None]
        if len(there) < len(runs):
            break
        rounds, exchanges, volume, seconds = (median(column) for column in zip(*there, strict=True))
        reached.append(
            Reached(target=target, rounds=rounds, exchanges=exchanges, sent_bytes=volume, seconds=seconds)
        )
    course = runs[0]
    return Runner(
        algorithm=name,
        reached=reached,
        exchanges=[int(row[2]) for row in course],
        errors=[min(row[0], 1e300) for row in course],
    )


_Row = tuple[float, int, int, int, float]  # error, round, exchanges, bytes, seconds


def _course(job: Job, optimum: Array, max_exchanges: int, finest: float) -> list[_Row]:
    """Return the true error after every round, and what it took so far; the looks at it do not count."""
    peers = Stacked(job.network, job.weights)
    cost: Any = job.stack
    talk: Peers = peers
    size = float(np.linalg.norm(optimum - job.x0)) or 1.0
    spent, start = 0.0, time.perf_counter()
    if job.privacy is not None:
        source = Keystreams(agent_keys(len(job.network), seed=job.privacy.seed), job.network.degrees)
        cost, talk = job.privacy.hide(cost, talk, source, network=job.network)[:2]
    x0 = job.x0 if job.algorithm.sums else np.tile(job.x0, (len(job.network), 1))
    rows: list[_Row] = []
    with np.errstate(all="ignore"):
        state = job.algorithm.init(x0, cost)
        spent += time.perf_counter() - start
        for k in range(1, max_exchanges + 1):
            start = time.perf_counter()
            state = job.algorithm.step(state, talk, cost)
            spent += time.perf_counter() - start
            away = np.linalg.norm(np.atleast_2d(state.x) - optimum, axis=1).max() / size
            traffic = peers.traffic
            rows.append((float(away), k, traffic.exchanges, traffic.bytes, spent))
            ends = not np.isfinite(away) or away > _DIVERGED or away <= finest
            if ends or traffic.exchanges >= max_exchanges:
                break
    return rows


def _first(run: Sequence[_Row], target: float) -> tuple[int, int, int, float] | None:
    """Return what it took until the error was below *target* for the first time."""
    return next((row[1:] for row in run if row[0] <= target), None)


def _order(runner: Runner) -> tuple[int, float]:
    """Sort by how near an algorithm came, and then by exchanges."""
    last = runner.reached[-1].exchanges if runner.reached else np.inf
    return (-len(runner.reached) + (runner.refused is not None), last)


def _cells(runner: Runner) -> tuple[str, ...]:
    cells = [
        f"{each.rounds:g} rounds, {each.exchanges:g} exchanges, "
        f"{each.sent_bytes / 1000:.3g} kB, {each.seconds:.2g} s"
        for each in runner.reached
    ]
    return (runner.algorithm, *cells, *["–"] * (len(TARGETS) - len(cells)))
