"""The tab on which one draws a network and corrupts agents."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nicegui import run, ui
from nicegui.element import Element

from tacit.errors import TacitError
from tacit.explore import answers, exporting
from tacit.explore.insight import Insight, describe, look_at
from tacit.explore.sketch import SIGMAS, Sketch
from tacit.explore.sources import GENERATORS, read_network
from tacit.explore.undertaking import Undertaking
from tacit.explore.views.drawing import Drawing
from tacit.explore.views.parts import box, button, choice, field, file_field, mark, put, say, slider, tick, words
from tacit.explore.views.take_away import Offer, TakeAway
from tacit.explore.views.waiting import Waiting
from tacit.report import html, page_of

_MODES = {"corrupt": "Corrupt", "links": "Links", "agents": "Agents"}
_HINTS = {
    "corrupt": "Click an agent to corrupt it, drag it to move it. Keyboard: arrows, Enter; Shift and arrows move.",
    "links": "Click two agents to link them, or a link to remove it.",
    "agents": "Click an empty place to add an agent, or an agent to remove it.",
}
_KEY = (
    ("agent honest", "honest", "M-9 0A9 9 0 1 0 9 0A9 9 0 1 0 -9 0Z"),
    ("agent corrupted", "corrupted", "M-9 -9H9V9H-9Z"),
    ("agent exposed", "its number is learnt", "M0 -12L12 0L0 12L-12 0Z"),
    ("agent summed", "in a sum that is learnt", "M-10 0L-5 -9H5L10 0L5 9H-5Z"),
    ("dash", "a link that would help: click to add", "M-13 0H13"),
)


class NetworkView:
    """A sketch, what is seen in it, and the parts of the page that show both."""

    def __init__(self, sketch: Sketch, name: str) -> None:
        self.sketch, self.name = sketch, name
        self.insight: Insight = look_at(sketch)
        self.target = {"hide": "1", "guess": "0.55"}
        with box("split"):
            with box("main"):
                self._sources()
                self._tools()
                self.drawing = Drawing()
                self._hear()
                self._legend()
            with box("side"):
                self._verdict()
                self._exports()
            with box("pair"):
                self._masks()
                self._questions()
        self._show(anew=True)

    # what is on the page

    def _sources(self) -> None:
        with box("card", "details"):
            words("Load or make a network", "summary")
            with box("row ends"):
                self.kind = next(iter(GENERATORS))
                self.count = str(GENERATORS[self.kind].agents)
                choice("kind", GENERATORS, self._take_kind, value=self.kind)
                self.size = field("agents", self.count, self._take_count, style="small", type="number", min="3")
                button("Make", self._make, "primary")
            with box("row ends").classes("after"):
                file_field("GraphML, edges, problem file or manifest", self._upload)
                field("or a path on this machine", "", self._open)
            self.trouble = mark(words("", "p", "trouble"), role="alert")

    def _tools(self) -> None:
        with mark(box("row"), role="group", aria_label="What a click means"):
            self.modes = {
                mode: button(text, lambda mode=mode: self._set_mode(mode)) for mode, text in _MODES.items()
            }
            button("Nobody corrupted", lambda: self._take(self.sketch.corrupted(())))
        self.hint = words("", "p", "soft")
        self._mark_mode("corrupt")

    def _hear(self) -> None:
        self.drawing.on("clicked", lambda e: self._click(e.args["agent"]))
        self.drawing.on("moved", lambda e: self._move(e.args["agent"], e.args["at"]))
        self.drawing.on("joined", lambda e: self._join(*e.args["link"]))
        self.drawing.on(
            "added", lambda e: self._take(self.sketch.with_agent(self._place(e.args["at"])), drawn=True)
        )
        self.drawing.on(
            "removed",
            lambda e: self._take(self.sketch.without_agent(self.sketch.named(e.args["agent"])), drawn=True),
        )

    def _legend(self) -> None:
        with box("key", "ul"):
            for style, text, shape in _KEY:
                with ui.element("li"):
                    with mark(box("network", "svg"), viewBox="-13 -13 26 26", aria_hidden="true"), box(style, "g"):
                        mark(box("line", "path"), d=shape)
                    words(text, "span")

    def _verdict(self) -> None:
        with mark(box("card", "section"), aria_live="polite", aria_label="What they learn"):
            self.size_line = words("", "p", "soft")
            self.verdict = words("", "p", "verdict")
            with box("statement") as self.statement:
                self.first = mark(words("", "p", "first"), data_test="first")
            with box("limits", "details"):
                words("The whole sentence, with assumptions and limits", "summary")
                self.rest = mark(words("", "p", "soft"), data_test="statement")
            self.learnt = words("", "p", "learnt")
            with ui.element("dl"):
                self.numbers: list[tuple[Element, Element]] = [
                    (words("", "dt"), mark(words("", "dd"), data_test=f"number-{k}")) for k in range(3)
                ]

    def _masks(self) -> None:
        with box("card", "section"):
            words("Masks", "h2")
            self.sigma_line = words("", "p")
            self.slider = slider(
                "σ of the masks, on a logarithmic scale", math.log10(self.sketch.sigma),
                (math.log10(SIGMAS[0]), math.log10(SIGMAS[1])), self._take_sigma, step=0.05,
            )  # fmt: skip
            with box("row"):
                field("difference to hide", "1", self._take_hide, style="small", type="number", min="0", step="any")
                tick("secret sums, without σ", lambda on: self._take(replace(self.sketch, sums=bool(on))))

    def _questions(self) -> None:
        with box("card", "section"):
            words("Ask", "h2")
            words("The worst coalition of", "p", "soft")
            with box("row"):
                for size in (1, 2, 3):
                    button(
                        str(size),
                        lambda size=size: self._ask_worst(size),
                        aria_label=f"Worst coalition of {size}",
                    )
            words("Links that would help against any", "p", "soft").classes("after")
            with box("row"):
                for size in (1, 2, 3):
                    button(
                        str(size),
                        lambda size=size: self._ask_links(size),
                        aria_label=f"Links against any {size}",
                    )
                self.all_links = button("Add all of them", self._add_all)
            words("σ for a target", "p", "soft").classes("after")
            with box("row ends"):
                field(
                    "hide",
                    "1",
                    lambda text: self.target.update(hide=text),
                    style="small",
                    type="number",
                    step="any",
                )
                field(
                    "guess",
                    "0.55",
                    lambda text: self.target.update(guess=text),
                    style="small",
                    type="number",
                    step="any",
                )
                button("Calibrate", self._ask_sigma, "primary")
            self.waiting = Waiting()

    def _exports(self) -> None:
        self.take_away = TakeAway(
            {
                "SVG": Offer("Drawing as SVG", lambda: self.drawing.save("svg")),
                "PNG": Offer("Drawing as PNG", lambda: self.drawing.save("png")),
                "Report": Offer("Report as HTML", self._save_report),
                "GraphML": Offer("Network as GraphML", self._save_network),
                "Problem file": Offer("Network and masks as a problem file", self._save_problem),
            },
            name="network",
        )

    # what people do

    def _set_mode(self, mode: str) -> None:
        self.drawing.set_mode(mode)
        self._mark_mode(mode)

    def _mark_mode(self, mode: str) -> None:
        for name, each in self.modes.items():
            each._props["aria-pressed"] = "true" if name == mode else "false"
            each.update()
        say(self.hint, _HINTS[mode])

    def _place(self, at: list[float]) -> tuple[float, float]:
        return at[0] / self.drawing.scale, at[1] / self.drawing.scale

    async def _click(self, name: str) -> None:
        """Corrupt an agent; on a small network, look at once for links that would help."""
        self._take(self.sketch.clicked(self.sketch.named(name)))
        before = self.sketch
        if not answers.wants_links(before, self.insight):
            return
        advice = await run.io_bound(answers.helping_links, before, len(before.coalition), lambda share: None)
        if advice is not None and self.sketch is before:  # or somebody has gone on drawing
            self._take(advice.sketch)
            self.waiting.say(advice.sentence)

    def _move(self, name: str, at: list[float]) -> None:
        self.sketch = self.sketch.moved(self.sketch.named(name), self._place(at))

    def _join(self, one: str, other: str) -> None:
        self._take(self.sketch.joined(self.sketch.named(one), self.sketch.named(other)), drawn=True)

    def _add_all(self) -> None:
        sketch = self.sketch
        for one, other in sketch.suggested:
            sketch = sketch.joined(one, other)
        self._take(sketch, drawn=True)

    def _take_sigma(self, exponent: float) -> None:
        self._take(replace(self.sketch, sigma=float(f"{10.0**exponent:.4g}"), sums=False))

    def _take_hide(self, text: str) -> None:
        try:
            hide = float(text)
        except ValueError:
            return
        if hide > 0 and math.isfinite(hide):
            self._take(replace(self.sketch, hide=hide))

    def _take_kind(self, kind: str) -> None:
        self.kind, self.count = kind, str(GENERATORS[kind].agents)
        put(self.size, self.count)

    def _take_count(self, text: str) -> None:
        self.count = text

    async def _make(self) -> None:
        kind, text = self.kind, self.count
        await self._load(lambda: GENERATORS[kind](int(text or 0)), f"{kind}, {text}")

    async def _open(self, path: str) -> None:
        if path.strip():
            await self._load(lambda: read_network(path.strip()), Path(path.strip()).name)

    async def _upload(self, name: str, text: str) -> None:
        def read() -> Any:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / Path(name).name
                path.write_text(text, encoding="utf-8")
                return read_network(path)

        await self._load(read, name)

    async def _load(self, read: Callable[[], Any], name: str) -> None:
        settings = {"sigma": self.sketch.sigma, "sums": self.sketch.sums, "hide": self.sketch.hide}
        say(self.trouble, "")
        try:
            sketch = await run.io_bound(lambda: Sketch.of(read(), **settings))
        except TacitError as error:
            say(self.trouble, str(error))
            return
        if sketch is None:  # the page is closing
            return
        self.name = name
        self._take(sketch, drawn=True, anew=True)

    async def _ask_worst(self, size: int) -> None:
        await self._ask(lambda undertaking: answers.worst(self.sketch, size, undertaking.on_share), "Searching")

    async def _ask_links(self, size: int) -> None:
        await self._ask(
            lambda undertaking: answers.helping_links(self.sketch, size, undertaking.on_share), "Looking for links"
        )

    async def _ask_sigma(self) -> None:
        try:
            hide, guess = float(self.target["hide"]), float(self.target["guess"])
        except ValueError:
            self.waiting.say("Hide and guess are numbers.")
            return
        await self._ask(
            lambda undertaking: answers.reach(
                self.sketch, hide=hide, guess=guess, size=None, on_progress=undertaking.on_share
            ),
            "Calibrating",
        )

    async def _ask(self, question: Callable[[Undertaking], answers.Advice], doing: str) -> None:
        before = self.sketch
        reply = await self.waiting.do(doing, question)
        if reply is not None and self.sketch is before:  # or somebody has gone on drawing
            self._take(reply.sketch)
            put(self.slider, math.log10(self.sketch.sigma))
            self.waiting.say(reply.sentence)

    async def _save_report(self) -> None:
        if self.insight.certificate is None:
            self.waiting.say(self.insight.sentence)
            return
        page = page_of(self.insight.certificate, network=self.sketch.graph, suggested=self.sketch.suggested)
        ui.download.content((await run.io_bound(html.html, page) or "").encode(), "certificate.html")

    def _save_network(self) -> None:
        ui.download.content(exporting.graphml(self.sketch.graph), exporting.NETWORK_FILE)

    def _save_problem(self) -> None:
        ui.download.content(exporting.problem_file(self.sketch).encode(), exporting.PROBLEM_FILE)

    # what follows from it

    def _take(self, sketch: Sketch, *, drawn: bool = False, anew: bool = False) -> None:
        self.sketch = sketch
        self.insight = look_at(sketch)
        if drawn:
            self._show(anew=anew)
        else:
            self.drawing.dress(sketch, self.insight, describe(sketch, self.insight))
        self._tell()

    def _show(self, *, anew: bool) -> None:
        self.drawing.show(self.sketch, self.insight, describe(self.sketch, self.insight), anew=anew)
        self._tell()

    def _tell(self) -> None:
        sketch, insight = self.sketch, self.insight
        who = ", ".join(map(str, sketch.coalition)) or "nobody"
        say(
            self.size_line,
            f"{self.name}: {len(sketch.agents)} agents, {len(sketch.links)} links. Corrupted: {who}.",
        )
        say(self.verdict, f"{'✓' if insight.good else '✗'} {insight.verdict}")
        self.verdict.classes(remove="good bad", add="good" if insight.good else "bad")
        self.statement.classes(remove="alarming", add="" if insight.good else "alarming")
        say(self.first, insight.first)
        say(self.rest, insight.sentence)
        say(self.learnt, insight.learnt)
        for (name, value), (label, text) in zip(self.numbers, insight.shown_numbers, strict=True):
            say(name, label)
            say(value, text)
        say(self.sigma_line, "σ: none, sums are hidden whole" if sketch.sums else f"σ = {sketch.sigma:g}")
        self.take_away.tell(exporting.command_line(sketch))
        self.all_links.set_visibility(bool(sketch.suggested))
