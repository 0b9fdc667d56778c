"""One agent, from its cost to the answer, on whatever links it has.

Phase 1, then rounds of the algorithm, then the same conclusion as everybody else in the same round. Looks are taken
by maxima over the spanning tree; where all agents hold the same x there is nothing to ask.

A `Memory` lets an agent go on where it was stopped: it keeps the state after a round, the x of the last look, and
all looks so far, which rebuild the watch. Nothing else has to be kept, because everything else follows from the
cost, the keystream and what the neighbours sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.errors import ProtocolError
from tacit.masks import Hidden, Source, drawn_once
from tacit.masks.sums import refuse_uncancelled
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.job import Job
from tacit.runtimes.linked_peers import Together
from tacit.runtimes.looking import Look
from tacit.runtimes.stopping import Check, Conclusion, Progress
from tacit.runtimes.transcript import farthest
from tacit.typing import Array, Cost, Peers

Looks = list[tuple[int, Look]]


class Recalled(NamedTuple):
    """Where an agent was."""

    done: int
    state: tuple[Array, ...]
    seen: Array | None
    looks: Looks


class Memory(Protocol):
    """Where an agent keeps what it needs to go on after a stop."""

    def recall(self) -> Recalled | None:
        """Return the last round remembered; None at the start."""

    def remember(self, recalled: Recalled) -> None:
        """Keep a round."""


class NoMemory:
    """An agent that is never stopped."""

    def recall(self) -> Recalled | None:
        """Return None."""
        return None

    def remember(self, recalled: Recalled) -> None:
        """Forget it."""


class Outcome(NamedTuple):
    """What one agent ends with."""

    x: Array
    rounds: int
    verdict: Conclusion
    history: tuple[Check, ...]
    hessian: Array | None = None
    """The summed Hessian at x, where the algorithm has it."""
    value: float | None = None
    """The sum of all costs at x, where the algorithm has it."""
    facts: Array | None = None
    """What a table needs besides, added up over all agents, where the algorithm does that."""
    doubt: Doubt | None = None
    noise: Array | None = None
    """The deviation of every unknown from noise shares, where the algorithm knows."""
    errors: Array | None = None
    """Standard errors that include it, where the algorithm knows."""


def run_agent(
    job: Job,
    cost: Cost,
    linked: Together,
    source: Source,
    *,
    rows: slice,
    memory: Memory | None = None,
    barriers: bool = False,
    hide: Callable[[Any, Peers], Hidden] | None = None,
    on_commit: Callable[[], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run both phases for one agent. *rows* are its directed links among all the network's.

    *barriers* makes all agents wait for each other before masks that serve the whole run are exchanged, and again
    before anything is published, where masks are seen to cancel; *on_commit* is called when all are past that.
    *hide* stands in for phase 1 where it was run before.
    """
    memory = memory or NoMemory()
    peers: Peers = linked
    algorithm = job.algorithm
    with np.errstate(over="ignore", invalid="ignore"):  # a diverging run is judged, not warned about
        if barriers and drawn_once(job.privacy):
            linked.meet()
        hidden = Hidden(cost, peers)
        with _naming(linked.names):
            if hide is not None:
                hidden = hide(cost, peers)
            elif job.privacy is not None:
                hidden = job.privacy.hide(cost, peers, source, network=job.network, rows=rows)
        if barriers:
            _meet(hidden, linked, source)
        cost, peers = hidden
        del hidden  # and the masks with it
        if on_commit is not None:
            on_commit()
        watch, observer = job.watch(on_progress), job.observer()
        state, done, looks = algorithm.init(job.x0, cost), 0, []
        conclusion: Conclusion | None = None
        recalled = memory.recall()
        if recalled is not None:
            state, done, looks = type(state)(*recalled.state), recalled.done, list(recalled.looks)
            observer = job.observer(recalled.seen)
            for round_, look in looks:
                conclusion = watch.look(round_, look)
        check_at = watch.next_check(looks[-1][0] if looks else 0)
        while conclusion is None:
            before, state = state, algorithm.step(state, peers, cost)
            done += 1
            maxima = observer.tell(before, state) if done == check_at else None
            del before  # states of long vectors are not kept longer than they are needed
            if maxima is not None:
                if not algorithm.sums:
                    maxima = linked.aside().sum(maxima, add=np.maximum)
                look = Look.read(maxima)
                looks.append((done, look))
                conclusion = watch.look(done, look)
                check_at = watch.next_check(done)
            memory.remember(Recalled(done, tuple(state), observer.seen, looks))
    linked.confirm(farthest(job.network))  # whoever ends, ends with what all were told
    findings = job.findings(state)
    doubt = Doubt.of(findings)
    if job.privacy is not None and job.privacy.answer is not None:
        conclusion = conclusion.of_noisy_answer()
    return Outcome(
        np.atleast_1d(state.x),
        done,
        conclusion.with_doubt(doubt),
        tuple(watch.history),
        findings.hessian,
        None if findings.value is None else float(findings.value),
        findings.facts,
        doubt,
        findings.noise,
        findings.errors,
    )


def _meet(hidden: Hidden, linked: Together, source: Source) -> None:
    """Wait until everybody has its masks; where they must cancel, see that they do."""
    masks = hidden.zero_sum
    if masks is None:
        linked.meet()
    else:
        refuse_uncancelled(masks, linked.aside(), source)
        linked.confirm()


@contextmanager
def _naming(names: Sequence[str]) -> Iterator[None]:
    """Name the neighbour that did wrong where masks know it by its row only."""
    try:
        yield
    except ProtocolError as error:
        if error.row is None:
            raise
        name = names[error.row]
        raise ProtocolError(f"{name} {error}", neighbour=name) from error


def row_ranges(degrees: Any) -> list[slice]:
    """Return every agent's directed links among all of the network's."""
    stops = np.cumsum(degrees)
    return [slice(int(stop - degree), int(stop)) for stop, degree in zip(stops, degrees, strict=True)]
