"""Running a job with somebody listening, and what that somebody knew before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.contents import points_of
from tacit.auditing.attacks.heard import decoded
from tacit.auditing.attacks.records import follow
from tacit.auditing.attacks.rehearsal import Opaque
from tacit.auditing.knowledge.public import Public, RecordShape
from tacit.auditing.knowledge.view import Own, Published, View
from tacit.auditing.recording.recorder import Recorder
from tacit.auditing.recording.scales import scales_of_links
from tacit.costs import Logistic, pack, stack
from tacit.errors import InputError, TacitError
from tacit.masks import Hidden, Quadratics, Source, drawn_once
from tacit.masks.mechanism import EVERY_ROW, Rounded
from tacit.network import Network, mixing_weights
from tacit.runtimes import Hide, Job, Progress, Run, agents, peers, stacked
from tacit.solving import Problem
from tacit.spelling import did_you_mean
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
    publication = Publication(job, point) if worst_case and job.privacy is not None else None
    if publication is not None and runtime == "peers":
        raise InputError(
            "the worst case needs all effective costs in one place; use the stacked or agents runtime."
        )
    recorder = Recorder(job.network, job.weights, coalition)
    run = _run(job, runtime, recorder, None if publication is None else publication.hide, on_progress)
    view = View(
        coalition=np.array(sorted(coalition), dtype=np.int64),
        own=_own(job, coalition, point),
        exchanges=recorder.exchanges(),
        published=None if publication is None else publication.published(recorder.words),
    )
    view = _with_own_sums(view, job, coalition)
    return Watched(view, None if publication is None else publication.effective(), run.rounds)


def watch_again(job: Job, coalition: Sequence[int], effective: Any) -> View:
    """Run phase 2 once more, on effective costs as they were; return what the coalition hears of it."""
    resolution = len(job.network) * job.privacy.terms(job.network, 1).step / 2.0 if job.privacy is not None else 0.0

    def hide(cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW) -> Hidden:
        return Hidden(effective, Rounded(peers, resolution))

    recorder = Recorder(job.network, job.weights, coalition)
    stacked.run(job, tap=recorder, hide=hide)
    return View(
        coalition=np.array(sorted(coalition), dtype=np.int64),
        own=_own(job, coalition, public_point(job)),
        exchanges=recorder.exchanges(),
    )


def _run(
    job: Job,
    runtime: str,
    recorder: Recorder,
    hide: Hide | None,
    on_progress: Callable[[Progress], None] | None,
) -> Run:
    if runtime == "peers":
        return peers.run(job, on_progress, tap=recorder)
    runners = {"agents": agents.run, "stacked": stacked.run}
    if runtime not in runners:
        raise InputError(
            f"no runtime is called {runtime!r} that an audit can listen to; choose stacked, agents or peers."
            f"{did_you_mean(runtime, [*runners, 'peers'])}"
        )
    return runners[runtime](job, on_progress, tap=recorder, hide=hide)


class Publication:
    """All effective costs, as the proof of Theorem 2 assumes that phase 2 publishes them."""

    def __init__(self, job: Job, point: Array) -> None:
        self._job, self._point = job, point
        self._starts = np.concatenate([[0], np.cumsum(job.network.degrees)[:-1]])
        self._costs: dict[int, Any] = {}

    def hide(self, cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW) -> Hidden:
        """Run phase 1 as the mechanism does, and keep the effective costs."""
        masks = self._job.privacy
        if masks is None:
            return Hidden(cost, peers)
        hidden = masks.hide(cost, peers, source, network=network, rows=rows)
        if drawn_once(masks):
            first = 0 if rows == EVERY_ROW else int(np.flatnonzero(self._starts == rows.start)[0])
            self._costs[first] = hidden.cost
        return hidden

    def effective(self) -> Any:
        """Return all effective costs as one object; None where none was made."""
        if len(self._costs) <= 1:
            return self._costs.get(0)
        return stack([self._costs[i] for i in range(len(self._job.network))])

    def published(self, words: list[NDArray[Any]]) -> Published:
        """Return all that was published."""
        cost = self.effective()
        if cost is None:
            return Published(words=words)
        at = np.tile(self._point, (len(self._job.network), 1))
        try:
            curvatures = pack(np.broadcast_to(cost.hess(at), (*at.shape, at.shape[1])))
        except TacitError:  # a cost may come without its Hessian
            curvatures = None
        return Published(gradients=cost.grad(at), curvatures=curvatures, values=cost.value(np.zeros_like(at)))


def public_point(job: Job) -> Array:
    """Return where gradients are taken that masks hide: at x₀, or where the algorithm takes its first one instead.

    Where curvature is masked it is the origin.
    """
    if drawn_once(job.privacy) and job.privacy.basis.at_origin:
        return np.zeros_like(job.x0)
    try:
        points = points_of(job.algorithm, job.x0)
    except Opaque:
        return job.x0
    elsewhere = points and not any(np.array_equal(point, job.x0) for point in points)
    return points[0] if elsewhere else job.x0


def public_knowledge(problem: Problem, job: Job) -> Public:
    """Return what everybody knows about a run, and what its theorem concedes."""
    masks, network, point = job.privacy, job.network, public_point(job)
    terms = None if masks is None else masks.terms(network, problem.dim)
    open_parts = masks is None or masks.kind == "affine"
    at = np.tile(point, (len(network), 1))
    quadratic = open_parts and Quadratics().covers(problem.stack) and not problem.stack.is_rough
    logistic = open_parts and all(type(cost) is Logistic for cost in problem.costs)
    label_rows = _label_rows(problem) if open_parts else None
    families = {type(cost) for cost in problem.costs}
    return Public(
        links=network.links,
        weights=mixing_weights(network, job.weights).toarray(),
        algorithm=job.algorithm,
        start=job.x0,
        point=point,
        mechanism="none" if masks is None else masks.kind,
        sigma=None if terms is None else terms.sigma,
        link_scales=scales_of_links(masks, network),
        step=0.0 if terms is None else terms.step,
        rough=problem.stack.is_rough,
        words=1 if terms is None or terms.words is None else terms.words,
        curvatures=np.broadcast_to(problem.stack.hess(at), (*at.shape, problem.dim)) if quadratic else None,
        features=[cost.A for cost in problem.costs if isinstance(cost, Logistic)] if logistic else None,
        slopes=problem.stack.grad(at) - problem.stack.affine if label_rows is not None else None,
        label_rows=label_rows,
        records=_records(problem) if masks is None or masks.fresh_each_sum else None,
        family=families.pop() if len(families) == 1 else None,
    )


def _label_rows(problem: Problem) -> list[Array] | None:
    """Return the features beside which labels are hidden, where all of them are there."""
    labels = [part for cost in problem.costs if (part := cost.labels) is not None]
    whole = len(labels) == len(problem.costs) and all(len(part.rows) == part.records for part in labels)
    return [part.rows for part in labels] if whole and labels[0].rows.shape[1] == problem.dim else None


def _records(problem: Problem) -> RecordShape | None:
    """Return what a record is, by the shapes of all costs, where all are of one kind."""
    secrets = [part for cost in problem.costs if (part := cost.secrets) is not None]
    if len(secrets) < len(problem.costs) or len({part.key for part in secrets}) > 1:
        return None
    return RecordShape(
        counts=np.array([part.records for part in secrets]),
        numbers=secrets[0].numbers,
        invent=secrets[0].invent,
        of_rows=secrets[0].of_rows,
        penalties=np.stack([part.penalty for part in secrets]),
    )


def _with_own_sums(view: View, job: Job, coalition: Sequence[int]) -> View:
    """Return the view with what members put into every sum: each knows that of itself."""
    if not job.algorithm.sums or not coalition:
        return view
    terms = None if job.privacy is None else job.privacy.terms(job.network, len(job.x0))
    words = 1 if terms is None or terms.words is None else terms.words
    step = 0.0 if terms is None else terms.step
    known = [decoded(exchange.values[0], words, step) for exchange in view.only("down")]
    try:
        sums = follow(job.algorithm, job.x0, stack([job.costs[i] for i in sorted(coalition)]), known)
    except Opaque:
        return view
    return msgspec.structs.replace(view, own=msgspec.structs.replace(view.own, sums=sums))


def _own(job: Job, coalition: Sequence[int], point: Array) -> Own:
    members = [job.costs[i] for i in sorted(coalition)]
    m = len(point)
    gradients = np.stack([cost.grad(point) for cost in members]) if members else np.empty((0, m))
    try:
        curvatures = np.stack([cost.hess(point) for cost in members]) if members else np.empty((0, m, m))
    except (InputError, NotImplementedError):  # a cost may come without its Hessian
        curvatures = np.full((len(members), m, m), np.nan)
    return Own(gradients=gradients, curvatures=curvatures)
