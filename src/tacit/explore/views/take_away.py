"""What one can take from a tab: pictures, a report, the network, the settings, and a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from nicegui.element import Element

from tacit.explore.views.parts import Act, box, button, mark, say, words


class Offer(NamedTuple):
    """A button: what it is to whoever cannot see it, and what it does."""

    label: str
    act: Act


class TakeAway:
    """The card with everything that can be taken away."""

    def __init__(self, offers: Mapping[str, Offer], *, name: str) -> None:
        with box("card", "section") as self.card:
            words("Take it away", "h2")
            with box("row"):
                self.buttons: dict[str, Element] = {
                    text: button(text, offer.act, aria_label=offer.label) for text, offer in offers.items()
                }
            words("The same on a command line:", "p", "soft").classes("after")
            self.command = mark(words("", "code"), data_test=f"{name}-command")

    def offer(self, *texts: str, there: bool) -> None:
        """Show some buttons, or hide them."""
        for text in texts:
            self.buttons[text].set_visibility(there)

    def tell(self, command: str) -> None:
        """Show the command line that does the same."""
        say(self.command, command)
