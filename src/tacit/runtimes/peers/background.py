"""One job at a time beside the algorithm: what waits for the disk, and nobody else needs to wait for.

A disk takes milliseconds to make something safe from a power cut, as long as ten rounds or a hundred. The thread is
there only while a job is, and a job's error is raised where its end is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Background:
    """At most one job, in a thread of its own; without threads, at once."""

    def __init__(self, *, threaded: bool) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="tacit-saving") if threaded else None
        self._job: Future[None] | None = None

    def begin(self, job: Callable[[], None]) -> None:
        """Do a job; an earlier one is waited for."""
        self.settle()
        if self._threads is None:
            job()
        else:
            self._job = self._threads.submit(job)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to do; raises what the last job has raised."""
        if self._job is not None and self._job.done():
            self.settle()
        return self._job is None

    def settle(self) -> None:
        """Wait until nothing is left to do; raise what the job has raised."""
        job, self._job = self._job, None
        if job is not None:
            job.result()

    def close(self) -> None:
        """Wait for what was begun, whatever comes of it."""
        if self._threads is not None:
            self._threads.shutdown()
        self._job = None
