"""Work that takes a while, with how far it is and a way to stop it.

Whatever computes here calls back now and then. The callback notes the share that is done, and raises where somebody
has lost interest: so a search, a run or an audit ends at its next word, and nothing is left behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from tacit.errors import TacitError

Result = TypeVar("Result")


class NotWantedError(TacitError):
    """Somebody has stopped the work."""


class Undertaking:
    """One piece of work: how far it is, and whether it is still wanted."""

    def __init__(self) -> None:
        self.share = 0.0
        self.step = ""
        """What is being done, in a few words."""
        self._unwanted = threading.Event()

    def cancel(self) -> None:
        """Stop at the next word."""
        self._unwanted.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody has stopped it."""
        return self._unwanted.is_set()

    def on_share(self, share: float, step: str = "") -> None:
        """Take the share that is done, as searches and audits tell it."""
        self.share, self.step = share, step or self.step
        self._go_on()

    def on_progress(self, progress: Any) -> None:
        """Take a run's progress."""
        self.share, self.step = progress.fraction, f"round {progress.check.round}"
        self._go_on()

    def _go_on(self) -> None:
        if self._unwanted.is_set():
            raise NotWantedError("stopped.")

    def do(self, work: Callable[[], Result]) -> Result | None:
        """Return what the work returns; nothing where it was stopped."""
        try:
            return work()
        except NotWantedError:
            return None
