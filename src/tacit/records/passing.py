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
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

T = TypeVar("T")

PieceMap = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""Does some work for every piece, and returns the results in the order of the pieces; `map` is the simplest.

What is given can be pickled by cloudpickle, which Ray and Dask use: the pieces of a long dataset can be spread over
the machines of a cluster.
"""


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
    spread: PieceMap | None = None,
) -> T | None:
    """Return what all batches give together; None where there are none, or all of them give None.

    Half of the *workers* read, because reading a file keeps more in memory than a batch; all of them compute. Where
    *spread* is given, it goes through the pieces instead of threads of this process.
    """
    pieces, workers = source.pieces(), cores() if workers is None else workers
    if spread is not None or workers < 2:
        alone = _Alone(source, tuple(columns), part, join)
        return _joined(iter((spread or map)(alone, pieces)), join)
    readers = max(1, min(workers // 2, len(pieces)))
    with _products_on_one_core(), ThreadPoolExecutor(workers) as pool, ThreadPoolExecutor(readers) as reading:

        def of_piece(piece: Any) -> T | None:
            ahead = max(2, workers // readers)
            return _joined(_in_order(pool, part, source.batches(piece, columns), ahead), join)

        each = [reading.submit(of_piece, piece) for piece in pieces]
        try:
            return _joined((future.result() for future in each), join)
        finally:
            for future in each:
                future.cancel()


@dataclass(frozen=True)
class _Alone(Generic[T]):
    """What one piece gives, read and computed by whoever is asked."""

    source: RecordSource
    columns: tuple[str, ...]
    part: Callable[[Any], T | None]
    join: Callable[[T, T], T]

    def __call__(self, piece: Any) -> T | None:
        return _joined(map(self.part, self.source.batches(piece, self.columns)), self.join)


def _products_on_one_core() -> AbstractContextManager[Any]:
    """Keep products of matrices from taking all cores each, where threadpoolctl is there to ask for it."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return cast(AbstractContextManager[Any], threadpool_limits(1, user_api="blas"))


def _in_order(
    pool: ThreadPoolExecutor, part: Callable[[Any], T | None], batches: Iterator[Any], ahead: int
) -> Iterator[T | None]:
    """Return what the batches give, computed by a pool, with no more than so many of them *ahead*."""
    waiting: deque[Future[T | None]] = deque()
    try:
        for batch in batches:
            waiting.append(pool.submit(part, batch))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _joined(parts: Iterator[T | None], join: Callable[[T, T], T]) -> T | None:
    total: T | None = None
    for each in parts:
        if each is not None:
            total = each if total is None else join(total, each)
    return total
