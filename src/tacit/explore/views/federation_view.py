"""The tab on which one watches a federation."""

from __future__ import annotations

from nicegui import run, ui

from tacit.errors import TacitError
from tacit.explore.views.parts import box, button, field, mark, say, table, words
from tacit.explore.watching import HEAD_OF_NEWS, MemberNews, addresses_in, ask, summary

_EVERY = 2.0  # seconds between two questions


class FederationView:
    """Addresses, and what they last said."""

    def __init__(self) -> None:
        self.text, self.addresses, self.asking = "", list[str](), False
        with box("main"):
            self._parts()

    def _parts(self) -> None:
        with box("card", "section"):
            words("Watch a federation", "h2")
            words(
                "Every agent that was started with a port for metrics says how it is. Name the ports on this "
                "machine, or hosts with ports, as in 9401 9402 or 127.0.0.1:9401.",
                "p", "soft",
            )  # fmt: skip
            with box("row ends after"):
                field("addresses of the members' metrics", "", self._take, style="grow", data_test="addresses")
                button("Watch", self._watch, "primary", data_test="watch")
            self.trouble = mark(words("", "p", "trouble"), role="alert")
        with mark(box("card", "section"), aria_live="polite") as self.shown:
            self.line = mark(words("", "p"), data_test="federation")
            self.place = box("after")
        self.shown.set_visibility(False)
        ui.timer(_EVERY, self._look)

    def _take(self, text: str) -> None:
        self.text = text

    async def _watch(self) -> None:
        say(self.trouble, "")
        try:
            self.addresses = addresses_in(self.text)
        except TacitError as error:
            self.addresses = []
            say(self.trouble, str(error))
        self.shown.set_visibility(bool(self.addresses))
        await self._look()

    async def _look(self) -> None:
        if not self.addresses or self.asking:
            return
        self.asking = True
        try:
            self._show(await run.io_bound(ask, self.addresses) or [])
        finally:
            self.asking = False

    def _show(self, news: list[MemberNews]) -> None:
        say(self.line, summary(news))
        self.place.clear()
        with self.place:
            table("Asked anew every two seconds", HEAD_OF_NEWS, [each.row() for each in news], _style)


def _style(column: int, text: str) -> str:
    """Let what needs a look stand out; the words say the same."""
    alarming = column == 1 and (text.startswith("no answer") or "failed" in text)
    return "read" if alarming else "awaited" if column == 1 and text == "waits" else ""
