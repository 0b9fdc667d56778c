"""The actor: both phases for one block of agents.

Keys are drawn here and never leave. A checkpoint holds the state of the algorithm, x at the last look, and what was
said so far; the effective coefficients, which masks that are drawn once leave behind, are handed out once, after
phase 1. Whoever takes the place of a lost worker folds them into the block's costs, and has no key of its masks.
Sums in secret need no mask of the past: after a loss all workers begin them with fresh keys.
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import ray

from tacit.masks import Hidden, Keystreams, agent_keys, drawn_once
from tacit.masks.blur import Blurred
from tacit.masks.mechanism import Rounded
from tacit.network import Network
from tacit.runtimes.job import Job
from tacit.runtimes.ray.block_peers import BlockPeers
from tacit.runtimes.ray.mail import Interrupted, Letter, Mailbox
from tacit.runtimes.ray.share import Share
from tacit.runtimes.traffic import Traffic
from tacit.typing import Array, Findings


class Kept(NamedTuple):
    """A block after a round."""

    done: int
    state: Any
    seen: Array | None
    traffic: Traffic


class Effective(NamedTuple):
    """What masks that are drawn once leave behind: coefficients, and to how much sums of them are exact."""

    theta: Array
    resolution: float


class BlockEnd(NamedTuple):
    """What a block ends with."""

    x: Array
    traffic: Traffic
    findings: Findings
    peak: int
    """Bytes of memory at most, with what is shared with others."""


@ray.remote(concurrency_groups={"mail": 1})
class Worker:
    """One block of agents. *job* is everybody's, without costs and without the network."""

    def __init__(self, job: Job, share: Share, cost: Any, hops: int) -> None:
        self._job, self._share, self._plain = job, share, cost
        self._mailbox = Mailbox()
        self._peers = BlockPeers(share, self._mailbox, hops=hops)
        self._hidden: Hidden | None = None

    @ray.method(concurrency_group="mail")  # type: ignore[untyped-decorator]
    def deliver(self, letter: Letter, rows: Any) -> None:
        """Take what another block sends."""
        self._mailbox.put(letter, rows)

    @ray.method(concurrency_group="mail")  # type: ignore[untyped-decorator]
    def give_up(self, epoch: int) -> None:
        """Wait no longer for what belongs to that epoch."""
        self._mailbox.give_up(epoch)

    def is_there(self) -> bool:
        """Answer, when nothing else is to be done."""
        return True

    def meet(self, epoch: int, workers: Sequence[Any]) -> None:
        """Begin an epoch with these workers, in the order of the blocks."""
        self._peers.begin(epoch, workers)

    def hide(self, network: Network | None, *, seeded: bool = True) -> bool:
        """Run phase 1, and tell whether nobody was lost; *seeded* = False draws new keys whatever the seed."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                self._hidden = self._masked(network, seeded=seeded)
                self._start()
        except Interrupted:
            return False
        return True

    def _masked(self, network: Network | None, *, seeded: bool) -> Hidden:
        privacy, share = self._job.privacy, self._share
        if privacy is None or network is None:
            return Hidden(self._plain, self._peers)
        if privacy.seed is None or not seeded:
            keys = agent_keys(len(share.agents))
        else:
            keys = agent_keys(share.everybody, seed=privacy.seed)
            keys = [keys[agent] for agent in share.agents]
        rows: Any = share.links
        source = Keystreams(keys, share.degrees)
        return privacy.hide(self._plain, self._peers, source, network=network, rows=rows)

    def _start(self) -> None:
        x0 = self._job.x0
        if not self._job.algorithm.sums:
            x0 = np.tile(x0, (len(self._share.agents), 1))
        self._done, self._observer = 0, self._job.observer()
        self._state = self._job.algorithm.init(x0, self._hidden_now.cost)

    @property
    def _hidden_now(self) -> Hidden:
        if self._hidden is None:
            raise RuntimeError("phase 2 before phase 1.")
        return self._hidden

    def effective(self) -> Effective | None:
        """Return the effective coefficients, where masks are drawn once and a successor can go on with them."""
        privacy, (cost, peers) = self._job.privacy, self._hidden_now
        if not drawn_once(privacy) or isinstance(cost, Blurred):
            return None
        return Effective(privacy.basis.read(cost), peers.resolution)

    def follow(self, effective: Effective) -> None:
        """Take the place of a lost worker, with what its masks left behind."""
        if self._hidden is None and drawn_once(self._job.privacy):
            cost = self._job.privacy.basis.fold(self._plain, effective.theta)
            self._hidden = Hidden(cost, Rounded(self._peers, effective.resolution))
            self._start()

    def keep(self) -> Kept:
        """Return a checkpoint: no key, and no mask that is not folded in."""
        return Kept(self._done, self._state, self._observer.seen, self._peers.traffic)

    def go_back(self, kept: Kept | None, traffic: Traffic) -> None:
        """Go on from a checkpoint; from the start, where there is none, with what phase 1 took."""
        self._start()
        if kept is not None:
            self._done, self._state, traffic = kept.done, kept.state, kept.traffic
            self._observer = self._job.observer(kept.seen)
        self._peers.go_back(traffic, has_summed=bool(self._job.algorithm.sums) and self._done > 0)

    def counted(self) -> Traffic:
        """Return what was said so far."""
        return self._peers.traffic

    def advance(self, round_: int) -> Array | None:
        """Go on to that round, and return what these agents say of it; None where another worker was lost."""
        cost, peers = self._hidden_now
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # a diverging run is judged, not warned about
                while self._done < round_:
                    before = self._state
                    self._state = self._job.algorithm.step(before, peers, cost)
                    self._done += 1
                return self._observer.tell(before, self._state)
        except Interrupted:
            return None

    def finish(self) -> BlockEnd:
        """Return what these agents end with."""
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return BlockEnd(self._state.x, self._peers.traffic, self._job.findings(self._state), peak)
