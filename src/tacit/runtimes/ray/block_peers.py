"""One block's reading of `Peers`: what the stacked runtime does for all agents, for some of them.

Rows go from worker to worker, and every verb waits for those that it needs:

    mix, gather   rows of the halo come from the blocks in which those agents live
    swap          rows of links between two blocks change places; they may be cut into pieces differently there
    sum           every block tells all others its own sum, and adds them all up in the order of the blocks

So sums are the same at all blocks, to the last bit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import ray

from tacit.runtimes.ray.mail import Mailbox
from tacit.runtimes.ray.share import Products, Share
from tacit.runtimes.stacked import ManyAgents
from tacit.runtimes.traffic import Traffic
from tacit.typing import Array, Indices

_LONG = 100_000  # bytes from which one copy in the object store serves all who are told


class BlockPeers(ManyAgents):
    """`Peers` for the agents of one block; *hops* is how many a sum takes on the network's tree."""

    def __init__(self, share: Share, mailbox: Mailbox, *, hops: int) -> None:
        super().__init__(share.degrees, share.first)
        self._share, self._mailbox, self._hops = share, mailbox, hops
        self._products = Products(share)
        self._wanted = {block: share.wanted_by(block) for block in share.nearby}
        self._trades: dict[int, tuple[Indices, Indices]] = {}
        self._ahead: dict[int, Any] = {}  # columns that came and were not asked for yet
        self._sent: dict[tuple[str, int], int] = {}
        self._doors: list[Any] = []  # of the workers: what takes a letter

    def begin(self, epoch: int, workers: Sequence[Any]) -> None:
        """Talk to these workers from now on, with nothing said before."""
        self._mailbox.begin(epoch)
        self._doors, self._sent, self._ahead = [worker.deliver for worker in workers], {}, {}

    def go_back(self, traffic: Traffic, *, has_summed: bool) -> None:
        """Count from there, as after a checkpoint."""
        self._traffic, self._gossips, self._gossiped = dataclasses.replace(traffic), 0, 0
        self._has_summed = has_summed

    def _weighted(self, x: Array) -> Array:
        return self._products.mixed(self._with_halo(x))

    def _gathered(self, x: Array) -> Array:
        return self._products.gathered(self._with_halo(x))

    def _with_halo(self, x: Array) -> Array:
        for block, wanted in self._wanted.items():
            self._send("halo", block, x[wanted])
        return np.concatenate([x, *(self._mailbox.take("halo", block) for block in self._wanted)])

    def _traded(self, r: Any) -> Any:
        came = np.empty_like(r)
        nearby = self._share.nearby
        for block in nearby:
            self._send("links", block, r[self._rows(block)[0]])
        went, theirs = self._rows(self._share.number)
        came[theirs] = r[went]
        for block in nearby:
            came[self._rows(block)[1]] = self._columns(block, r.shape[1])
        return came

    def _columns(self, block: int, width: int) -> Any:
        """Return the next columns from a block, which may send more or fewer of them at a time."""
        parts = [self._ahead.pop(block)] if block in self._ahead else []
        while sum(part.shape[1] for part in parts) < width:
            parts.append(self._mailbox.take("links", block))
        columns = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        if columns.shape[1] > width:
            self._ahead[block] = columns[:, width:]
        return columns[:, :width]

    def _rows(self, block: int) -> tuple[Indices, Indices]:
        if block not in self._trades:
            self._trades[block] = self._share.traded_with(block)
        return self._trades[block]

    def _over_all(self, v: Any, add: Callable[[Any, Any], Any]) -> Any:
        others = [block for block in range(self._share.blocks) if block != self._share.number]
        shared = ray.put(v) if v.nbytes >= _LONG and len(others) > 1 else v
        for block in others:
            self._send("sum", block, shared)
        sums = {block: self._mailbox.take("sum", block) for block in others} | {self._share.number: v}
        return reduce(add, (sums[block] for block in range(self._share.blocks)))

    def _count_sum(self, row: int) -> None:
        spoken = 2 * (self._share.everybody - 1) if self._share.number == 0 else 0  # one counts for all
        self._traffic.count(exchanges=self._hops, messages=spoken, bytes=spoken * row)

    def _send(self, kind: str, block: int, rows: Any) -> None:
        number = self._sent.get((kind, block), 0)
        self._sent[kind, block] = number + 1
        self._doors[block].remote((self._mailbox.epoch, kind, self._share.number, number), rows)
