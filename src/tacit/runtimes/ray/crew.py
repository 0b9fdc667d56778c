"""All workers of a run: they begin together, go from look to look, and are replaced where one is lost.

What is lost with a worker is its state since the last checkpoint, which all have in common. So all go back there:
whoever is still there is told to wait no longer, a successor gets the block's costs, its effective coefficients
and its state, and the rounds since then run again, to the same bits. Looks that were taken before are compared.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self, cast

import numpy as np
import ray
from ray.util.placement_group import placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from tacit.errors import InputError, NetworkError, TacitError
from tacit.masks import drawn_afresh, drawn_once
from tacit.network import Network
from tacit.runtimes.job import Job
from tacit.runtimes.ray.share import Share
from tacit.runtimes.ray.worker import BlockEnd, Worker
from tacit.typing import Array

_PATIENCE = 60.0  # seconds for Ray to find places
_LOSSES = 5  # since the last checkpoint, before something else must be wrong
_PROCESS = 200 << 20  # bytes that a worker takes before it has anything to do
_ARRAYS = 24  # of a block's x: states, gradients and what lies between them
_GIB = 2.0**30


class LostWorker(Exception):  # noqa: N818  # an event, which is dealt with
    """A worker, or its machine, is gone."""


class Crew:
    """The workers, by block. Ends them all when it is left, however that is."""

    def __init__(
        self, job: Job, parts: Sequence[tuple[Share, Any]], *, checkpoint_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._job, self._seconds, self._clock = job, checkpoint_seconds, clock
        bare: Any = None
        self._shared = ray.put(dataclasses.replace(job, costs=(), stack=None, network=bare))
        self._network = None if job.privacy is None else ray.put(Network(job.network))
        self._hops = 2 * job.network.tree.depth if job.algorithm.sums else 0
        self._memory = max(_memory_of(share, cost, job) for share, cost in parts)
        self._blocks = [(ray.put(share), ray.put(cost)) for share, cost in parts]
        self._workers: list[Any] = []
        self._group: Any = None
        self._epoch = self._losses = self._reached = 0
        self._broken = False
        self._stops: list[int] = []  # rounds of looks since the checkpoint
        self._looks: list[Array] = []  # and what was said there
        self._kept: list[Any] = [None] * len(parts)
        self._effective: list[Any] = [None] * len(parts)
        self._phase1: list[Any] = []
        self._kept_at = clock()

    def __enter__(self) -> Self:
        try:
            self._group = _places(len(self._blocks), self._memory)
            self._workers = [self._hired(block) for block in range(len(self._blocks))]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            ray.kill(worker)
        if self._group is not None:
            remove_placement_group(self._group)

    def _hired(self, block: int) -> Any:
        share, cost = self._blocks[block]
        actor: Any = Worker
        return actor.options(**self._place(block)).remote(self._shared, share, cost, self._hops)

    def _place(self, block: int) -> dict[str, Any]:
        """Return where a worker goes: to its reserved place, or anywhere where that is gone for good."""
        if self._group.wait(_PATIENCE) and placement_group_table(self._group)["state"] == "CREATED":
            place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=block)
            return {"num_cpus": 1, "memory": self._memory, "scheduling_strategy": place}
        return {"num_cpus": 0, "scheduling_strategy": "SPREAD"}

    def begin(self) -> None:
        """Run phase 1, again and with new keys if somebody is lost in the middle: nothing was published by then."""
        while True:
            try:
                self._replace_lost()
                hidden = self._all("hide", *self._of_each(self._network))
                if all(hidden):
                    self._phase1 = self._all("counted")
                    self._effective = self._held("effective")
                    return
            except LostWorker:
                pass
            self._count_loss()

    def until(self, round_: int) -> Array:
        """Go on to that round, and return what all agents say of it (`tacit.runtimes.looking`)."""
        self._stops.append(round_)
        while self._reached < len(self._stops):
            try:
                if self._broken:
                    self._go_back()
                self._advance()
            except LostWorker:
                self._count_loss()
                self._broken = True
        largest = self._looks[-1]
        if self._clock() - self._kept_at >= self._seconds:
            self._keep()
        return largest

    def _note(self, maxima: Array) -> None:
        """Keep what was said in a round; where it was reached before, see that it is the same."""
        if self._reached < len(self._looks):
            if not np.array_equal(self._looks[self._reached], maxima, equal_nan=True):
                raise NetworkError(
                    "after the loss of a worker the rounds since the last checkpoint came out otherwise: the "
                    "machines of this cluster do not compute alike; run it on machines of one kind."
                )
        else:
            self._looks.append(maxima)
        self._reached += 1

    def finish(self) -> list[BlockEnd]:
        """Return what every block ends with; whoever is lost now is replaced once more."""
        while True:
            try:
                if self._broken:
                    self._go_back()
                    while self._reached < len(self._stops):
                        self._advance()
                return self._all("finish")
            except LostWorker:
                self._count_loss()
                self._broken = True

    def _advance(self) -> None:
        maxima = self._all("advance", *self._of_each(self._stops[self._reached]))
        if any(each is None for each in maxima):
            raise LostWorker
        self._note(np.maximum.reduce(maxima))

    def _keep(self) -> None:
        """Take a checkpoint: copies on this machine, so that no other one is needed to go on from it."""
        try:
            self._kept = self._held("keep")
        except LostWorker:
            self._broken = True  # the one before stays
            return
        self._stops, self._looks, self._reached, self._losses = [], [], 0, 0
        self._kept_at = self._clock()

    def _go_back(self) -> None:
        """Replace who was lost, and let all go on from the last checkpoint."""
        self._refuse_what_cannot_go_on()
        self._replace_lost()
        if drawn_once(self._job.privacy):
            self._all("follow", *self._effective)
        elif not all(self._all("hide", *self._of_each(self._network), seeded=False)):
            raise LostWorker
        pairs = list(zip(self._kept, self._phase1, strict=True))
        self._answers([worker.go_back.remote(*pair) for worker, pair in zip(self._workers, pairs, strict=True)])
        self._broken, self._reached = False, 0

    def _refuse_what_cannot_go_on(self) -> None:
        privacy = self._job.privacy
        if drawn_afresh(privacy) and privacy.answer is not None:
            _refuse("the promise about the answer counts every sum, and none may be taken twice")
        if drawn_once(privacy) and any(ray.get(each) is None for each in self._effective):
            _refuse("the noise of costs that are functions belongs to keys that were lost with it")
        if privacy is not None and not drawn_once(privacy) and not drawn_afresh(privacy):
            _refuse("what these masks need to go on is known to them alone")

    def _replace_lost(self) -> None:
        """Let nobody wait, see who answers, and begin a new epoch with successors of the others."""
        for worker in self._workers:
            worker.give_up.remote(self._epoch - 1 if not self._broken and not self._losses else self._epoch)
        for block, worker in enumerate(self._workers):
            try:
                self._answers([worker.is_there.remote()])
            except LostWorker:
                self._workers[block] = self._hired(block)
        self._epoch += 1
        self._all("meet", *self._of_each(self._epoch), workers=self._workers)

    def _count_loss(self) -> None:
        self._losses += 1
        if self._losses > _LOSSES:
            raise NetworkError(
                f"workers were lost {self._losses} times since the last checkpoint: probably their machines have "
                "too little memory, or another tacit than this one, or none; use more machines, or fewer workers "
                "on each, and install the same tacit on all."
            )

    def _of_each(self, value: Any) -> list[Any]:
        return [value] * len(self._workers)

    def _all(self, verb: str, *each: Any, **shared: Any) -> list[Any]:
        """Let all workers do something, each with its own of *each*, and return their answers."""
        arguments = [(one,) for one in each] if each else [()] * len(self._workers)
        calls = zip(self._workers, arguments, strict=True)
        return self._answers([getattr(worker, verb).remote(*own, **shared) for worker, own in calls])

    def _held(self, verb: str) -> list[Any]:
        """Return references to all workers' answers, once copies of all are on this machine."""
        references = [getattr(worker, verb).remote() for worker in self._workers]
        self._answers(references)
        return references

    def _answers(self, references: list[Any]) -> list[Any]:
        try:
            return cast(list[Any], ray.get(references))
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, TacitError):
                raise error.cause from None
            if isinstance(error.cause, ray.exceptions.RayActorError | ray.exceptions.ObjectLostError):
                raise LostWorker from error
            raise
        except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as error:
            raise LostWorker from error


def _refuse(reason: str) -> NoReturn:
    raise NetworkError(f"a worker was lost, and {reason}: the run cannot go on; begin a new one.")


def _places(workers: int, memory: int) -> Any:
    """Reserve a processor and memory for every worker, spread over the machines; refuse what is not there."""
    total = ray.cluster_resources()
    processors, room = int(total.get("CPU", 0)), int(total.get("memory", 0))
    if processors < workers:
        raise InputError(f"{workers} workers need as many processors, and there are {processors}; ask for fewer.")
    if room < workers * memory:
        raise InputError(
            f"{workers} workers need {workers * memory / _GIB:.1f} GiB of memory together, and Ray has "
            f"{room / _GIB:.1f} GiB; use more or larger machines."
        )
    group = placement_group([{"CPU": 1, "memory": memory}] * workers, strategy="SPREAD")
    if not group.wait(_PATIENCE):
        remove_placement_group(group)
        raise InputError(
            f"no machine has a processor and {memory / _GIB:.1f} GiB of memory free for each of {workers} workers; "
            "wait until others have ended, or ask for more workers with smaller blocks."
        )
    return group


def _memory_of(share: Share, cost: Any, job: Job) -> int:
    """Return about how much memory a worker needs: its costs, states, and rows of links where there are masks."""
    sizes: list[int] = []
    text = ray.cloudpickle.dumps(cost, protocol=5, buffer_callback=lambda part: sizes.append(part.raw().nbytes))
    rows = len(share.agents) * _ARRAYS + (6 * len(share.neighbours) if job.privacy is not None else 0)
    return _PROCESS + len(text) + sum(sizes) + 8 * rows * len(job.x0) + 40 * len(share.neighbours)
