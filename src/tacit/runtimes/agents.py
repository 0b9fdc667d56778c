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
from tacit.runtimes.neighbours import Neighbours
from tacit.runtimes.stopping import Progress, Watch, drift
from tacit.typing import Array, Cost

Moved = tuple[Array, Array, float]
_LOST: Any = object()  # what a failing agent leaves in its neighbours' queues, so that nobody waits for it


class Wires:
    """The links of one agent: a queue to and a queue from every neighbour."""

    def __init__(self, outgoing: list[SimpleQueue[Array]], incoming: list[SimpleQueue[Array]]) -> None:
        self._outgoing, self._incoming = outgoing, incoming

    def exchange(self, messages: list[Array]) -> list[Array]:
        """Send and receive one message per neighbour. What arrives is a copy: no memory is shared."""
        for queue, message in zip(self._outgoing, messages, strict=True):
            queue.put(message.copy())
        received = [queue.get() for queue in self._incoming]
        if any(message is _LOST for message in received):
            raise TacitError("a neighbour stopped in the middle of a round.")
        return received

    def close(self) -> None:
        """Tell the neighbours not to wait any more."""
        for queue in self._outgoing:
            queue.put(_LOST)


class Agent:
    """One agent: its cost, its peers, its state."""

    def __init__(
        self,
        job: Job,
        peers: Neighbours,
        wires: Wires,
        cost: Cost,
        source: Keystream,
        scales: Array | None,
    ) -> None:
        self._job, self._peers, self._wires = job, peers, wires
        self._cost, self._source, self._scales = cost, source, scales
        self._state: Any = None

    def advance(self, rounds: int) -> Moved:
        """Run some rounds, phase 1 before the first; return x before the last round and after it, and the drift."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                if self._state is None:
                    self._begin()
                before = self._state
                for _ in range(rounds):
                    before = self._state
                    self._state = self._job.algorithm.step(self._state, self._peers, self._cost)
                return before.x, self._state.x, drift(before, self._state)
        except BaseException:
            self._wires.close()
            raise

    def _begin(self) -> None:
        job = self._job
        if job.privacy is not None:
            lattice = job.privacy.lattice(agents=len(job.network), links=len(job.network.links))
            self._cost = job.privacy.hide(self._cost, self._peers, self._source, lattice, self._scales)
        self._state = job.algorithm.init(job.x0, self._cost)


def run(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run both phases with every agent by itself."""
    agents, counter = _assemble(job)
    watch = Watch(job.rule, floor=job.floor, exact=job.exact, on_progress=on_progress)
    done, verdict = 0, None
    with ThreadPoolExecutor(max_workers=len(agents)) as pool:
        while verdict is None:
            rounds = watch.next_check(done) - done
            futures = [pool.submit(agent.advance, rounds) for agent in agents]
            before, x, moved = (np.stack(rows) for rows in zip(*_results(futures), strict=True))
            done += rounds
            verdict = watch.look(done, before, x, float(moved.max()))
    return Run(x=x, rounds=done, exchanges=counter.exchanges, verdict=verdict, history=tuple(watch.history))


def _results(futures: list[Future[Moved]]) -> list[Moved]:
    """Wait for all agents; raise the first agent's own error rather than a neighbour's echo of it."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise next((error for error in errors if type(error) is not TacitError), errors[0])
    return [future.result() for future in futures]


def _assemble(job: Job) -> tuple[list[Agent], Neighbours]:
    n = len(job.network)
    keys = agent_keys(n, seed=job.privacy.seed if job.privacy else None)
    W = mixing_weights(job.network, job.weights).toarray()
    queues: dict[tuple[int, int], SimpleQueue[Array]] = {}
    for i, j in job.network.links:
        queues[i, j], queues[j, i] = SimpleQueue(), SimpleQueue()
    scales = None if job.privacy is None else job.privacy.row_scales(job.network)
    starts = np.cumsum(job.network.degrees) - job.network.degrees
    agents = []
    for i in range(n):
        mine = job.network.neighbours(i)
        wires = Wires([queues[i, j] for j in mine], [queues[j, i] for j in mine])
        peers = Neighbours(wires, own_weight=float(W[i, i]), weights=W[i, mine])
        mine_only = None if scales is None else scales[starts[i] : starts[i] + len(mine)]
        agents.append(Agent(job, peers, wires, job.costs[i], Keystream(keys[i]), mine_only))
    return agents, agents[0]._peers
