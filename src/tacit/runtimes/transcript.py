"""What all agents were told alike, as one running digest that neighbours compare before they tell more.

    d₀ = SHA-256(label),   d_k = SHA-256(d_{k−1} ‖ kind, shape ‖ total_k)

In an algorithm that adds up, the point at which an agent evaluates its cost next follows from public settings and
from the totals so far: agents with the same digest are at the same point. A total comes down a tree, and whoever
passes it on could pass different ones to different neighbours. Two honest agents would then evaluate their costs at
different points, and the sum of what they tell would hold what one of them tells alone.

So an agent sends its masked word of sum k only when the digests of **all** its neighbours, before that sum, are its
own. Let C be a component of the honest graph. If all of C send their words, neighbours in C agree link by link, and
as C is connected all of C have the same transcript and are at the same point: the sum over C is what secret sums
are said to tell, and no other. If digests in C differ, some link of C has different ones at its ends, and neither
end sends its word. Let W be those that do not. Every part of C ∖ W has a link to W, whose random terms the
coalition does not know and which stay in the words of that part alone: they, and every sum of them, are uniform.
A liar can stop a run in this way, and learns nothing by it. What a liar tells of its own digest decides nothing
between two honest agents.

The digest travels with the masks of the next sum, which are exchanged before the word leaves: no hop more. Where
both ends draw the masks from shared keys nothing else travels then, and it takes one hop. Without masks there is
nothing to keep apart, and digests are compared when the run ends.

After the last total no sum follows, and an agent far from the two that differ would not hear of them. So agents
compare digests again and again, and whoever has noticed says nothing more: after as many hops as any two agents can
be apart when any one agent is left out, all honest agents have stopped, or all have the same totals.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.network import Network
from tacit.typing import Words

DIGEST_WORDS = 4
_FEW = 40  # agents for whom all ways between two are looked at


class Transcript:
    """One agent's digest of all totals so far."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256(b"tacit: totals").digest()
        self.totals = 0
        """How many there were."""
        self.is_open = False
        """Whether neighbours have not compared their digests since the last total."""

    def add(self, total: NDArray[Any]) -> None:
        """Take in a total."""
        numbers = np.ascontiguousarray(total, dtype=total.dtype.newbyteorder("<"))
        chain = hashlib.sha256(self._digest + f"{numbers.dtype.str}{numbers.shape}".encode())
        chain.update(numbers.reshape(-1).view(np.uint8).data)
        self._digest, self.totals, self.is_open = chain.digest(), self.totals + 1, True

    def close(self) -> None:
        """Note that all neighbours have the same."""
        self.is_open = False

    @property
    def words(self) -> Words:
        """The digest, as four words."""
        return np.frombuffer(self._digest, dtype="<u8")

    @property
    def state(self) -> tuple[str, int, bool]:
        """All there is to it, for a checkpoint."""
        return self._digest.hex(), self.totals, self.is_open

    def restore(self, state: tuple[str, int, bool]) -> None:
        """Go back to a checkpoint."""
        digest, self.totals, self.is_open = state
        self._digest = bytes.fromhex(digest)


def hexadecimal(words: Words) -> str:
    """Return a digest as people compare it."""
    return words.astype("<u8").tobytes().hex()


def farthest(network: Network) -> int:
    """Return how many hops two agents can be apart, within a component, where any one agent is left out.

    Among many agents a bound on it is returned: twice the way from one of them to the farthest.
    """
    return _farthest(len(network), tuple((int(i), int(j)) for i, j in network.links))


@lru_cache(maxsize=4)
def _farthest(n: int, links: tuple[tuple[int, int], ...]) -> int:
    near: list[list[int]] = [[] for _ in range(n)]
    for i, j in links:
        near[i].append(j)
        near[j].append(i)
    return max(1, *(_apart(near, without=i) for i in range(n)))


def _apart(near: list[list[int]], without: int) -> int:
    """Return the most hops between two agents of those that are left, or a bound on it."""
    most, starts = 0, {*range(len(near))} - {without}
    while starts:
        start = starts.pop()
        seen, edge, hops = {start, without}, [start], -1
        while edge:
            edge, hops = list({j for i in edge for j in near[i]} - seen), hops + 1
            seen.update(edge)
        few = len(near) <= _FEW
        most = max(most, hops if few else 2 * hops)
        starts -= set() if few else seen
    return most
