"""n separate agents in one process: proof that nobody needs more than its own cost and its neighbours.

Every agent is a thread with its own cost, its own keystream, its own arrays, its own judgement of when to stop, and
one queue from each neighbour. The algorithm text is the one that the stacked runtime runs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np

from tacit.errors import TacitError
from tacit.masks import Hidden, Keystream, agent_keys
from tacit.network import mixing_weights
from tacit.runtimes.job import Hide, Job, Run
from tacit.runtimes.linked_peers import LinkedPeers, Message
from tacit.runtimes.phases import Outcome, row_ranges, run_agent
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap, tapped
from tacit.runtimes.traffic import Traffic
from tacit.typing import Peers

_LOST: Any = object()  # what a failing agent leaves in its neighbours' queues, so that nobody waits for it


class QueueLinks:
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

    def flush(self) -> None:
        """Do nothing: queues do not hold anything back."""

    def exchange(self, messages: list[Message]) -> list[Message]:
        """Send to all, then wait for all."""
        for row, message in enumerate(messages):
            self.send(row, message)
        return [self.receive(row) for row in range(len(messages))]

    def close(self) -> None:
        """Tell the neighbours not to wait any more."""
        for queue in self._outgoing:
            queue.put(_LOST)


def run(
    job: Job,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    tap: Tap | None = None,
    hide: Hide | None = None,
) -> Run:
    """Run both phases with every agent by itself; *tap* listens at links, and *hide* stands in for phase 1."""
    n = len(job.network)
    keys = agent_keys(n, seed=job.privacy.seed if job.privacy else None)
    rows = row_ranges(job.network.degrees)
    together = neighbourhoods(job)
    all_links = [links for _, links in together]

    def one(i: int) -> Outcome:
        peers, links = together[i]
        source = Keystream(keys[i])

        def hidden(cost: Any, peers: Peers) -> Hidden:
            if job.privacy is None:
                return Hidden(cost, peers)
            return (hide or job.privacy.hide)(cost, peers, source, network=job.network, rows=rows[i])

        try:
            return run_agent(
                job,
                job.costs[i],
                tapped(tap, i, peers),
                source,
                rows=rows[i],
                hide=hidden,
                on_progress=on_progress if i == 0 else None,
            )
        except BaseException:
            links.close()
            raise

    with ThreadPoolExecutor(max_workers=n) as pool:
        futures = [pool.submit(one, i) for i in range(n)]
        try:
            outcomes = _results(futures)
        except BaseException:
            for links in all_links:
                links.close()
            raise
    first = outcomes[0]
    return Run(
        x=np.stack([outcome.x for outcome in outcomes]),
        rounds=first.rounds,
        traffic=_all_traffic([peers.traffic for peers, _ in together]),
        verdict=first.verdict,
        history=first.history,
        doubt=first.doubt,
        noise=first.noise,
        errors=first.errors,
    )


def neighbourhoods(job: Job) -> list[tuple[LinkedPeers, QueueLinks]]:
    """Return every agent's peers, and the links under them."""
    network = job.network
    W = mixing_weights(network, job.weights).toarray()
    queues: dict[tuple[int, int], SimpleQueue[Message]] = {}
    for i, j in network.links:
        queues[i, j], queues[j, i] = SimpleQueue(), SimpleQueue()
    together = []
    for i in range(len(network)):
        mine = network.neighbours(i)
        links = QueueLinks([queues[i, j] for j in mine], [queues[j, i] for j in mine])
        peers = LinkedPeers(links, network=network, me=i, own_weight=float(W[i, i]), weights=W[i, mine])
        together.append((peers, links))
    return together


def _all_traffic(each: list[Traffic]) -> Traffic:
    """Return all agents' traffic: exchanges happen at the same time, messages add up."""
    return Traffic(
        exchanges=max(t.exchanges for t in each),
        messages=sum(t.messages for t in each),
        bytes=sum(t.bytes for t in each),
    )


def _results(futures: list[Future[Outcome]]) -> list[Outcome]:
    """Wait for all agents; raise the first agent's own error rather than a neighbour's echo of it."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise next((error for error in errors if type(error) is not TacitError), errors[0])
    return [future.result() for future in futures]
