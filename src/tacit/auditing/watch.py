"""Running a job with somebody listening, and what that somebody knew before."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.algorithms import ALGORITHMS, Direct
from tacit.auditing.public import Public
from tacit.auditing.recorder import Listener, Overheard
from tacit.auditing.scales import scales_of_links
from tacit.auditing.view import Exchange, Own, Published, View
from tacit.costs import Logistic, Quadratics, pack, stack
from tacit.errors import InputError
from tacit.masks import AffineMasks, GaussianMasks, Hidden, Mechanism, QuadraticMasks, Source, SumMasks
from tacit.masks.mechanism import EVERY_ROW
from tacit.network import Network, mixing_weights
from tacit.runtimes import Job, Progress, agents, peers, stacked
from tacit.solving import Problem
from tacit.typing import Array, Peers


class Watched(NamedTuple):
    """A view, and what the simulation alone knows about the run."""

    view: View
    effective: Any
    """All effective costs as one object, to run on again; None where they were not published."""
    rounds: int


def watch(
    job: Job,
    coalition: Sequence[int],
    *,
    runtime: str = "stacked",
    worst_case: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> View:
    """Run *job*, and return what the agents at the positions in *coalition* saw.

    *worst_case* adds all effective costs, as the paper's proof concedes them; peers, who are processes of their
    own, have no place where all of them meet.
    """
    return watch_effective(job, coalition, runtime=runtime, worst_case=worst_case, on_progress=on_progress).view


def watch_effective(
    job: Job,
    coalition: Sequence[int],
    *,
    runtime: str = "stacked",
    worst_case: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
) -> Watched:
    """Do as `watch` does, and return also what the simulation alone knows."""
    point = public_point(job)
    publishing = Publishing(job.privacy, job.network, point) if worst_case and job.privacy is not None else None
    if publishing is not None and runtime == "peers":
        raise InputError(
            "the worst case needs all effective costs in one place; use the stacked or agents runtime."
        )
    observed = job if publishing is None else dataclasses.replace(job, privacy=publishing)
    exchanges, words, rounds = _run(observed, coalition, runtime, on_progress)
    view = View(
        coalition=np.array(sorted(coalition), dtype=np.int64),
        own=_own(job, coalition, point),
        exchanges=exchanges,
        published=None if publishing is None else publishing.published(words),
    )
    return Watched(view, None if publishing is None else publishing.effective(), rounds)


def _run(
    job: Job, coalition: Sequence[int], runtime: str, on_progress: Callable[[Progress], None] | None
) -> tuple[list[Exchange], list[NDArray[Any]], int]:
    if runtime == "stacked":
        words: list[NDArray[Any]] = []
        heard: list[Overheard] = []

        def together(network: Network, weights: str) -> Overheard:
            heard.append(Overheard(network, weights, coalition, words=words))
            return heard[0]

        done = stacked.run(job, on_progress, together=together)
        return heard[0].exchanges, words, done.rounds
    runners = {"agents": agents.run, "peers": peers.run}
    if runtime not in runners:
        raise InputError(f"no runtime is called {runtime!r}; choose stacked, agents or peers.")
    listener = Listener(coalition)
    done = partial(runners[runtime], tap=listener)(job, on_progress)
    return listener.exchanges(), [], done.rounds


class Publishing:
    """A mechanism that also publishes every effective cost, as the proof of Theorem 2 assumes phase 2 does."""

    def __init__(self, masks: Mechanism, network: Network, point: Array) -> None:
        self._masks, self._point, self._agents = masks, point, len(network)
        self._starts = np.concatenate([[0], np.cumsum(network.degrees)[:-1]])
        self._rows: dict[int, tuple[Array, Array, Array]] = {}
        self._costs: dict[int, Any] = {}
        self.seed = masks.seed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._masks, name)

    def hide(self, cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW) -> Hidden:
        """Run phase 1 as the mechanism does; note what the effective costs are."""
        hidden = self._masks.hide(cost, peers, source, network=network, rows=rows)
        if isinstance(self._masks, GaussianMasks):
            first = 0 if rows == EVERY_ROW else int(np.flatnonzero(self._starts == rows.start)[0])
            self._costs[first] = hidden.cost
            shape = hidden.cost.affine.shape
            at = np.broadcast_to(self._point, shape)
            told = (hidden.cost.grad(at), hidden.cost.hess(at), hidden.cost.value(np.zeros(shape)))
            told = (told[0], pack(np.broadcast_to(told[1], (*shape, shape[-1]))), told[2])
            for k in range(self._agents if rows == EVERY_ROW else 1):
                self._rows[first + k] = tuple(t[k] if rows == EVERY_ROW else t for t in told)  # type: ignore[assignment]
        return hidden

    def effective(self) -> Any:
        """Return all effective costs as one object; None where none was made."""
        if len(self._costs) <= 1:
            return self._costs.get(0)
        return stack([self._costs[i] for i in range(self._agents)])

    def published(self, words: list[NDArray[Any]]) -> Published:
        """Return all that was published."""
        if not self._rows:
            return Published(words=words)
        rows = [self._rows[i] for i in range(self._agents)]
        gradients, curvatures, values = (np.stack(part) for part in zip(*rows, strict=True))
        return Published(gradients=gradients, curvatures=curvatures, values=values)


def public_point(job: Job) -> Array:
    """Return where gradients are taken that masks hide: x₀, or the origin where curvature is masked or summed."""
    at_origin = isinstance(job.privacy, QuadraticMasks) or isinstance(job.algorithm, Direct)
    return np.zeros_like(job.x0) if at_origin else job.x0


def public_knowledge(problem: Problem, job: Job) -> Public:
    """Return what everybody knows about a run, and what its theorem concedes."""
    masks, network, point = job.privacy, job.network, public_point(job)
    terms = None if masks is None else masks.terms(network, problem.dim)
    open_parts = masks is None or isinstance(masks, AffineMasks)
    at = np.tile(point, (len(network), 1))
    quadratic = open_parts and Quadratics().covers(problem.stack) and not problem.stack.is_rough
    logistic = open_parts and all(type(cost) is Logistic for cost in problem.costs)
    name = next((name for name, kind in ALGORITHMS.items() if kind is type(job.algorithm)), "another")
    settings: dict[str, Any] = dataclasses.asdict(job.algorithm) if dataclasses.is_dataclass(job.algorithm) else {}
    return Public(
        links=network.links,
        weights=mixing_weights(network, job.weights).toarray(),
        algorithm=name,
        settings=msgspec.to_builtins(settings),
        start=job.x0,
        point=point,
        mechanism=_kind(masks),
        sigma=None if terms is None else terms.sigma,
        link_scales=scales_of_links(masks, network),
        step=0.0 if terms is None else terms.step,
        rough=problem.stack.is_rough,
        words=1 if terms is None or terms.words is None else terms.words,
        curvatures=np.broadcast_to(problem.stack.hess(at), (*at.shape, problem.dim)) if quadratic else None,
        features=[cost.A for cost in problem.costs if isinstance(cost, Logistic)] if logistic else None,
        slopes=problem.stack.grad(at) - problem.stack.affine if logistic else None,
    )


def _kind(masks: Mechanism | None) -> str:
    if masks is None:
        return "none"
    if isinstance(masks, SumMasks):
        return "sums"
    return (
        "affine"
        if isinstance(masks, AffineMasks)
        else "quadratic"
        if isinstance(masks, QuadraticMasks)
        else "basis"
    )


def _own(job: Job, coalition: Sequence[int], point: Array) -> Own:
    members = [job.costs[i] for i in sorted(coalition)]
    m = len(point)
    gradients = np.stack([cost.grad(point) for cost in members]) if members else np.empty((0, m))
    try:
        curvatures = np.stack([cost.hess(point) for cost in members]) if members else np.empty((0, m, m))
    except (InputError, NotImplementedError):  # a cost may come without its Hessian
        curvatures = np.full((len(members), m, m), np.nan)
    return Own(gradients=gradients, curvatures=curvatures)
