"""The tab on which one watches a federation."""

from __future__ import annotations

import time

from nicegui import run, ui

from tacit.errors import TacitError
from tacit.explore import exporting
from tacit.explore.lookouts import Lookout, look, lookouts_in
from tacit.explore.views.chart import Chart, headline
from tacit.explore.views.parts import box, button, field, mark, say, table, words
from tacit.explore.views.take_away import Offer, TakeAway
from tacit.explore.watching import HEAD_OF_NEWS, Vigil, summary
from tacit.report import figures, html

_EVERY = 2.0  # seconds between two questions


class FederationView:
    """Where to look, and what was seen there."""

    def __init__(self, watched: str = "") -> None:
        self.text, self.lookouts, self.asking = watched, list[Lookout](), False
        self.watch = Vigil(start=time.monotonic())
        with box("split"):
            with box("main"):
                self._places()
                with mark(box("card", "section"), aria_live="polite") as self.shown:
                    self.line = mark(words("", "p", "verdict-line"), data_test="federation")
                    self.members = box("after")
                with box("plot low") as self.links:
                    self.headline = words("", "p", "headline")
                    self.chart = Chart(figures.links(self.watch.times()), name="links")
            with box("side"):
                self.take_away = TakeAway(
                    {
                        "SVG": Offer("Links over time as SVG", lambda: self.chart.save("svg")),
                        "PNG": Offer("Links over time as PNG", lambda: self.chart.save("png")),
                        "Report": Offer("Report of the federation as HTML", self._save_report),
                        "GraphML": Offer("Members and links as GraphML", self._save_network),
                    },
                    name="federation",
                )
        self._tell()
        ui.timer(_EVERY, self._look)
        if watched:
            ui.timer(0.1, self._watch, once=True)

    def _places(self) -> None:
        with box("card", "section"):
            words("Watch a federation", "h2")
            words(
                "A port on this machine, or a host and a port: of all agents that one command has started with a "
                "status, or of every agent with metrics. Or the manifest of members who live in folders here.",
                "p", "soft",
            )  # fmt: skip
            with box("row ends after"):
                field(
                    "such as 9400, or 127.0.0.1:9401 127.0.0.1:9402, or clinics/federation.toml", self.text,
                    self._take, style="grow", data_test="addresses",
                )  # fmt: skip
                button("Watch", self._watch, "primary", data_test="watch")
            self.trouble = mark(words("", "p", "trouble"), role="alert")

    def _take(self, text: str) -> None:
        self.text = text

    async def _watch(self) -> None:
        say(self.trouble, "")
        try:
            self.lookouts = lookouts_in(self.text)
        except TacitError as error:
            self.lookouts = []
            say(self.trouble, str(error))
        self.watch = Vigil(start=time.monotonic())
        self._tell()
        await self._look()

    async def _look(self) -> None:
        if not self.lookouts or self.asking:
            return
        self.asking, watch = True, self.watch
        try:
            news = await run.io_bound(look, self.lookouts)
            if news is not None and watch is self.watch:  # or somebody looks elsewhere by now
                watch.take(news, time.monotonic())
                self._tell()
        finally:
            self.asking = False

    def _tell(self) -> None:
        news, times = self.watch.news, self.watch.times()
        self.shown.set_visibility(bool(news))
        self.links.set_visibility(bool(times.spells))
        self.take_away.card.set_visibility(bool(news))
        self.take_away.offer("SVG", "PNG", "GraphML", there=bool(times.spells))
        if not news:
            return
        say(self.line, summary(news))
        self.members.clear()
        with self.members:
            table("Asked anew every two seconds", HEAD_OF_NEWS, [each.row() for each in news], _style)
        if times.spells:
            figure = figures.links(times)
            self.chart.show(figure)
            say(self.headline, headline(figure))
        self.take_away.tell(exporting.watch_command(self.text))

    async def _save_report(self) -> None:
        text = await run.io_bound(html.html, exporting.watch_page(self.watch))
        ui.download.content((text or "").encode(), "federation.html")

    def _save_network(self) -> None:
        ui.download.content(exporting.graphml(self.watch.graph()), exporting.NETWORK_FILE)


def _style(column: int, text: str) -> str:
    """Let what needs a look stand out; the words say the same."""
    if column != 1:
        return ""
    return "" if text in ("up", "done") else "awaited" if text == "waits" else "read"
