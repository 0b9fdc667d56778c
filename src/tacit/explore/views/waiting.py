"""A bar for work that takes a while, a button that stops it, and the sentence at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nicegui import run, ui

from tacit.errors import TacitError
from tacit.explore.undertaking import Undertaking
from tacit.explore.views.parts import box, button, mark, say, words

Made = TypeVar("Made")


class Waiting:
    """One piece of work at a time."""

    def __init__(self, name: str = "reply") -> None:
        self.undertaking: Undertaking | None = None
        with box("row after one-line") as self.place:
            self.bar = mark(ui.element("progress"), max="1", aria_label="Progress")
            button("Stop", self.cancel)
        self.sentence = mark(words("", "p", "soft after"), role="status", data_test=name)
        self.place.set_visibility(False)

    def cancel(self) -> None:
        """Stop what is going on."""
        if self.undertaking is not None:
            self.undertaking.cancel()

    def say(self, sentence: str) -> None:
        """Show a sentence."""
        say(self.sentence, sentence)

    async def do(self, doing: str, work: Callable[[Undertaking], Made]) -> Made | None:
        """Do the work beside the page; nothing comes back where it was stopped, or refused with a sentence."""
        if self.undertaking is not None:
            return None
        undertaking = self.undertaking = Undertaking()
        self.place.set_visibility(True)
        self.say(f"{doing} …")
        timer = ui.timer(0.2, lambda: self._tick(doing, undertaking))
        try:
            outcome = await run.io_bound(lambda: undertaking.do(lambda: work(undertaking)))
        except TacitError as error:
            self.say(str(error))
            return None
        finally:
            timer.cancel()
            self.undertaking = None
            self.place.set_visibility(False)
        if outcome is None:
            self.say("Stopped.")
        return outcome

    def _tick(self, doing: str, undertaking: Undertaking) -> None:
        self.bar._props["value"] = undertaking.share
        self.bar.update()
        self.say(f"{doing}: {undertaking.step} …" if undertaking.step else f"{doing} …")
