"""A bar for work that takes a while, a button that stops it, and the sentence at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nicegui import run, ui

from tacit.errors import TacitError
from tacit.explore.effort import Effort
from tacit.explore.views.parts import box, button, say, words

Product = TypeVar("Product")


class Waiting:
    """One piece of work at a time."""

    def __init__(self) -> None:
        self.effort: Effort | None = None
        with box("row").style("margin-top: .7rem; flex-wrap: nowrap") as self.place:
            self.bar = ui.element("progress").props('max=1 aria-label="Progress"')
            button("Stop", self.cancel)
        self.sentence = words("", "p", "soft").props("role=status data-test=reply").style("margin-top: .6rem")
        self.place.set_visibility(False)

    def cancel(self) -> None:
        """Stop what is going on."""
        if self.effort is not None:
            self.effort.cancel()

    def say(self, sentence: str) -> None:
        """Show a sentence."""
        say(self.sentence, sentence)

    async def do(self, doing: str, work: Callable[[Effort], Product]) -> Product | None:
        """Do the work beside the page; nothing comes back where it was stopped, or refused with a sentence."""
        if self.effort is not None:
            return None
        effort = self.effort = Effort()
        self.place.set_visibility(True)
        self.say(f"{doing} …")
        timer = ui.timer(0.2, lambda: self._tick(doing, effort))
        try:
            outcome = await run.io_bound(lambda: effort.do(lambda: work(effort)))
        except TacitError as error:
            self.say(str(error))
            return None
        finally:
            timer.cancel()
            self.effort = None
            self.place.set_visibility(False)
        if outcome is None:
            self.say("Stopped.")
        return outcome

    def _tick(self, doing: str, effort: Effort) -> None:
        self.bar._props["value"] = effort.share
        self.bar.update()
        self.say(f"{doing}: {effort.step} …" if effort.step else f"{doing} …")
