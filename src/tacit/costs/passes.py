"""Records that are gone through batch by batch: what a cost needs to know of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from tacit.typing import Array

T = TypeVar("T")


class RowBatch(NamedTuple):
    """A batch of records in the columns of a design: what a cost is made of."""

    A: Array
    """(records, m), with ones for an intercept; its transpose is contiguous. The cost may overwrite it."""
    y: Array
    weight: Array | None = None
    offset: Array | None = None


class Passes(Protocol):
    """Records that can be gone through, always in the same order and the same pieces."""

    def added_up(self, part: Callable[[RowBatch], Array]) -> Array:
        """Return the sum of what all batches give."""

    def joined(self, part: Callable[[RowBatch], T], join: Callable[[T, T], T]) -> T:
        """Return what all batches give, joined in their order."""
