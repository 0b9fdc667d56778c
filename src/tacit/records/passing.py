"""One pass over records: every piece is read once, on all cores, and what its batches give is joined in order.

    pieces      p₁ p₂ p₃ …                 a row group of a file, a file, a query: read from its beginning
    batches     p = b₁ b₂ …                some thousand records that are in memory at a time
    result      (b₁ ⊕ b₂ ⊕ …) ⊕ (b₁ ⊕ …) ⊕ …

Who computes what is left to the threads; what is joined with what is not. So a pass gives the same bits on one core
and on sixty-four, and a run that is started again goes on where it was.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class RecordSource(Protocol):
    """Where records are: it names its columns, and reads them piece by piece."""

    @property
    def label(self) -> str:
        """Return a path or a query, for sentences."""

    @property
    def schema(self) -> Any:
        """Return the names and types of all columns, as Arrow has them."""

    def pieces(self) -> Sequence[Any]:
        """Return the pieces, in the order of the records."""

    def batches(self, piece: Any, columns: Sequence[str]) -> Iterator[Any]:
        """Return the record batches of one piece, with these columns in this order."""

    def count(self) -> int | None:
        """Return how many records there are, where that is known without reading them."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_pass(
    source: RecordSource,
    columns: Sequence[str],
    part: Callable[[Any], T | None],
    join: Callable[[T, T], T],
    *,
    workers: int | None = None,
) -> T | None:
    """Return what all batches give together; None where there are none, or all of them give None."""
    pieces, workers = source.pieces(), cores() if workers is None else workers
    if workers < 2:
        return _joined((_piece(source, piece, columns, part, join) for piece in pieces), join)
    with ThreadPoolExecutor(workers) as pool:
        if len(pieces) >= workers:
            each = [pool.submit(_piece, source, piece, columns, part, join) for piece in pieces]
            try:
                return _joined((future.result() for future in each), join)
            finally:
                for future in each:
                    future.cancel()
        return _joined((_shared_piece(pool, workers, source, p, columns, part, join) for p in pieces), join)


def _piece(
    source: RecordSource,
    piece: Any,
    columns: Sequence[str],
    part: Callable[[Any], T | None],
    join: Callable[[T, T], T],
) -> T | None:
    return _joined((part(batch) for batch in source.batches(piece, columns)), join)


def _shared_piece(
    pool: ThreadPoolExecutor,
    workers: int,
    source: RecordSource,
    piece: Any,
    columns: Sequence[str],
    part: Callable[[Any], T | None],
    join: Callable[[T, T], T],
) -> T | None:
    """Return one piece's result, where one thread reads and the others compute."""

    def results() -> Iterator[T | None]:
        waiting: deque[Future[T | None]] = deque()
        for batch in source.batches(piece, columns):
            waiting.append(pool.submit(part, batch))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    return _joined(results(), join)


def _joined(parts: Iterator[T | None], join: Callable[[T, T], T]) -> T | None:
    total: T | None = None
    for each in parts:
        if each is not None:
            total = each if total is None else join(total, each)
    return total
