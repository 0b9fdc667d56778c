"""One agent's reading of `Peers`: no agent axis; row k belongs to the k-th neighbour, by increasing id."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tacit.typing import Array


class Links(Protocol):
    """The links of one agent, however they are made."""

    def exchange(self, messages: list[Array]) -> list[Array]:
        """Send message k to neighbour k, and return what the neighbours sent in the same exchange."""


class Neighbours:
    """`Peers` for one agent that knows its own weights and its own links, and nothing else."""

    def __init__(self, links: Links, *, own_weight: float, weights: Array) -> None:
        self._links = links
        self._own_weight, self._weights = own_weight, weights
        self.degree = self.links = len(weights)
        self.exchanges = 0

    def mix(self, x: Array) -> Array:
        """Return the weighted average of the own x and the neighbours', added in the order of their ids."""
        mixed = self._own_weight * x
        for weight, theirs in zip(self._weights, self._exchange([x] * self.degree), strict=True):
            mixed = mixed + weight * theirs
        return mixed

    def gather(self, x: Array) -> Array:
        """Return the sum of the neighbours' x."""
        return np.sum(self._exchange([x] * self.degree), axis=0)

    def swap(self, r: Array) -> Array:
        """Send row k to neighbour k, and return the rows that came back."""
        return np.stack(self._exchange(list(r)))

    def total(self, r: Array) -> Array:
        """Return the sum of the own rows."""
        return r.sum(axis=0)

    def _exchange(self, messages: list[Array]) -> list[Array]:
        self.exchanges += 1
        return self._links.exchange(messages)
