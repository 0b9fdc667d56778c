"""n separate agents in one process: proof that nobody needs more than its own cost and its neighbours.

Every agent is a thread with its own cost, its own keystream, its own arrays and one queue from each
neighbour. The algorithm text is the one that the stacked runtime runs. Only the stopping rule looks
from outside: between checks the agents are on their own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np

from tacit.errors import TacitError
from tacit.masks import Keystream, agent_keys
from tacit.network import mixing_weights
from tacit.runtimes.job import Job, Run
from tacit.runtimes.neighbours import Message, Neighbours
from tacit.runtimes.stopping import Motion, Progress
from tacit.runtimes.traffic import Traffic
from tacit.typing import Cost, Peers

_LOST: Any = object()  # what a failing agent leaves in its neighbours' queues, so that nobody waits for it


class Wires:
    """The links of one agent: a queue to and a queue from every neighbour."""

    def __init__(self, outgoing: list[SimpleQueue[Message]], incoming: list[SimpleQueue[Message]]) -> None:
        self._outgoing, self._incoming = outgoing, incoming

    def send(self, neighbour: int, message: Message) -> None:
        """Put a copy into the neighbour's queue: no memory is shared."""
        self._outgoing[neighbour].put(message.copy())

    def receive(self, neighbour: int) -> Message:
        """Wait for the neighbour's next message."""
        message = self._incoming[neighbour].get()
        if message is _LOST:
            raise TacitError("a neighbour stopped in the middle of a round.")
        return message

    def close(self) -> None:
        """Tell the neighbours not to wait any more."""
        for queue in self._outgoing:
            queue.put(_LOST)


class Agent:
    """One agent: its cost, its peers, its state."""

    def __init__(
        self, job: Job, neighbours: Neighbours, wires: Wires, cost: Cost, source: Keystream, rows: slice
    ) -> None:
        self._job, self._wires = job, wires
        self._cost, self._source, self._rows = cost, source, rows
        self._peers: Peers = neighbours
        self.traffic = neighbours.traffic
        self._state: Any = None

    def advance(self, rounds: int) -> Motion:
        """Run some rounds, phase 1 before the first; return what the last one did."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                if self._state is None:
                    self._begin()
                before = self._state
                for _ in range(rounds):
                    before = self._state
                    self._state = self._job.algorithm.step(self._state, self._peers, self._cost)
                return Motion.between(before, self._state)
        except BaseException:
            self._wires.close()
            raise

    def _begin(self) -> None:
        job = self._job
        if job.privacy is not None:
            self._cost, self._peers = job.privacy.hide(
                self._cost, self._peers, self._source, network=job.network, rows=self._rows
            )
        self._state = job.algorithm.init(job.x0, self._cost)


def run(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run both phases with every agent by itself."""
    agents = _assemble(job)
    watch = job.watch(on_progress)
    done, verdict = 0, None
    with ThreadPoolExecutor(max_workers=len(agents)) as pool:
        while verdict is None:
            rounds = watch.next_check(done) - done
            futures = [pool.submit(agent.advance, rounds) for agent in agents]
            motion = Motion.of_all(_results(futures))
            done += rounds
            verdict = watch.look(done, motion)
    traffic = _together([agent.traffic for agent in agents])
    return Run(x=motion.x, rounds=done, traffic=traffic, verdict=verdict, history=tuple(watch.history))


def _together(each: list[Traffic]) -> Traffic:
    """Return all agents' traffic: exchanges happen at the same time, messages add up."""
    return Traffic(
        exchanges=max(t.exchanges for t in each),
        messages=sum(t.messages for t in each),
        bytes=sum(t.bytes for t in each),
    )


def _results(futures: list[Future[Motion]]) -> list[Motion]:
    """Wait for all agents; raise the first agent's own error rather than a neighbour's echo of it."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise next((error for error in errors if type(error) is not TacitError), errors[0])
    return [future.result() for future in futures]


def _assemble(job: Job) -> list[Agent]:
    n = len(job.network)
    keys = agent_keys(n, seed=job.privacy.seed if job.privacy else None)
    W = mixing_weights(job.network, job.weights).toarray()
    queues: dict[tuple[int, int], SimpleQueue[Message]] = {}
    for i, j in job.network.links:
        queues[i, j], queues[j, i] = SimpleQueue(), SimpleQueue()
    starts = np.cumsum(job.network.degrees) - job.network.degrees
    agents = []
    for i in range(n):
        mine = job.network.neighbours(i)
        wires = Wires([queues[i, j] for j in mine], [queues[j, i] for j in mine])
        peers = Neighbours(
            wires, me=i, neighbours=mine.tolist(), agents=n, own_weight=float(W[i, i]), weights=W[i, mine]
        )
        rows = slice(int(starts[i]), int(starts[i]) + len(mine))
        agents.append(Agent(job, peers, wires, job.costs[i], Keystream(keys[i]), rows))
    return agents
