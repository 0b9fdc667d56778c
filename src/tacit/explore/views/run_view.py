"""The tab on which one runs a problem, and then is the adversary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nicegui import run, ui

from tacit.auditing import AuditReport
from tacit.errors import TacitError
from tacit.explore import exporting
from tacit.explore.cases import (
    CHOICES,
    EXAMPLES,
    HEAD,
    PROTECTIONS,
    Case,
    Choices,
    as_problem_file,
    attack,
    beliefs,
    example,
    own,
    run_case,
)
from tacit.explore.undertaking import Undertaking
from tacit.explore.views.chart import Chart, headline
from tacit.explore.views.parts import box, button, choice, field, mark, put, say, table, words
from tacit.explore.views.take_away import Offer, TakeAway
from tacit.explore.views.waiting import Waiting
from tacit.report import figures, html, page_of
from tacit.report.figures.audit import SIGNS
from tacit.runtimes import Check, Progress
from tacit.solving import Answer


class RunView:
    """A case, how it is to be run, and what came of it."""

    def __init__(self) -> None:
        self.case: Case = example(next(iter(EXAMPLES)))
        self.choices = Choices(algorithm="extra")
        self.coalition = self.case.agents[0]
        self.answer: Answer | None = None
        self.report: AuditReport | None = None
        with box("split controls-first"):
            with box("main"):
                with box("plot"):
                    self.headline = words("", "p", "headline")
                    self.chart = Chart(figures.looks([], "not started"), name="convergence")
                self.result = box("card", "section")
                self.attacks = box("main")
            with box("side"):
                self._problem()
                self._adversary()
                self.take_away = TakeAway(
                    {
                        "SVG": Offer("Picture of the run as SVG", lambda: self.chart.save("svg")),
                        "PNG": Offer("Picture of the run as PNG", lambda: self.chart.save("png")),
                        "Report": Offer("Report of the run as HTML", self._save_answer),
                        "Attacks": Offer("Report of the attacks as HTML", self._save_audit),
                        "GraphML": Offer("Network of the run as GraphML", self._save_network),
                        "Problem file": Offer("This run as a problem file", self._save_problem),
                    },
                    name="run",
                )
        self._tell()

    def _problem(self) -> None:
        with box("card", "section"):
            words("Run", "h2")
            with box("column"):
                choice("problem", EXAMPLES, self._take_example)
                field("or a problem file on this machine", "", self._take_file, style="wide")
                self.about = words("", "p", "soft")
                choice("masks", PROTECTIONS, lambda level: self._change(level=level), value=self.choices.level)
                field("σ", "100", self._take_sigma, style="small", type="number", step="any", min="0")
                choice(
                    "algorithm", CHOICES, lambda name: self._change(algorithm=name), value=self.choices.algorithm
                )
                field("seed, to repeat it (NOT PRIVATE)", "", self._take_seed, style="small", data_test="seed")
            with box("row after"):
                button("Run", self._run, "primary", data_test="run")
            self.waiting = Waiting("run-reply")

    def _adversary(self) -> None:
        with box("card", "section"):
            words("Be the adversary", "h2")
            words("What would these agents believe of every other one?", "p", "soft")
            with box("row ends after"):
                self.members = field("coalition", self.coalition, self._take_coalition, style="small")
                button("Attack", self._attack, "primary", data_test="attack")
            self.attacking = Waiting("attack-reply")

    def _change(self, **settings: Any) -> None:
        self.choices = replace(self.choices, **settings)
        self._tell_command()

    def _take_sigma(self, text: str) -> None:
        try:
            self._change(sigma=float(text))
        except ValueError:
            self.waiting.say("σ is a number.")

    def _take_seed(self, text: str) -> None:
        self._change(seed=int(text) if text.strip().isdigit() else None)

    def _take_coalition(self, text: str) -> None:
        self.coalition = text
        self._tell_command()

    async def _take_example(self, name: str) -> None:
        self._begin(await run.io_bound(example, name))

    async def _take_file(self, path: str) -> None:
        if not path.strip():
            return
        try:
            self._begin(await run.io_bound(own, path.strip()))
        except TacitError as error:
            self.waiting.say(str(error))

    def _begin(self, case: Case | None) -> None:
        if case is None:  # the page is closing
            return
        self.case, self.answer, self.report = case, None, None
        self.coalition = case.agents[0]
        put(self.members, self.coalition)
        self._draw(figures.looks([], "not started"))
        self.waiting.say("")
        self.attacking.say("")
        self._tell()

    def _draw(self, figure: Any) -> None:
        self.chart.show(figure)
        say(self.headline, headline(figure))

    async def _run(self) -> None:
        case, choices = self.case, self.choices
        history: list[Check] = []

        def solve(undertaking: Undertaking) -> Answer:
            def hear(progress: Progress) -> None:
                history.append(progress.check)
                undertaking.on_progress(progress)

            return run_case(case, choices, hear)

        timer = ui.timer(0.3, lambda: self._draw(figures.looks([*history], "running")) if history else None)
        try:
            answer = await self.waiting.do("Agreeing", solve)
        finally:
            timer.cancel()
        if answer is not None and case is self.case:
            self.answer = answer
            self._draw(figures.convergence(answer))
            self.waiting.say(answer.sentence)
            self._tell()

    async def _attack(self) -> None:
        case, choices, coalition = self.case, self.choices, self.coalition
        report = await self.attacking.do(
            "Attacking", lambda undertaking: attack(case, choices, coalition, undertaking.on_share)
        )
        if report is not None and case is self.case:
            self.report = report
            self.attacking.say(report.sentence())
            self._tell()

    async def _save_answer(self) -> None:
        if self.answer is not None:
            text = await run.io_bound(html.html, page_of(self.answer))
            ui.download.content((text or "").encode(), "run.html")

    async def _save_audit(self) -> None:
        if self.report is not None:
            text = await run.io_bound(html.html, page_of(self.report))
            ui.download.content((text or "").encode(), "audit.html")

    def _save_network(self) -> None:
        ui.download.content(exporting.graphml(exporting.run_graph(self.case)), exporting.NETWORK_FILE)

    def _save_problem(self) -> None:
        text = as_problem_file(self.case, self.choices)
        if text is not None:
            ui.download.content(text.encode(), exporting.PROBLEM_FILE)

    def _tell_command(self) -> None:
        run_it = exporting.run_command(self.case, self.choices)
        attack_it = exporting.attack_command(self.case, self.choices, self.coalition)
        self.take_away.tell(f"{run_it}\n{attack_it}")

    def _tell(self) -> None:
        say(self.about, f"{self.case.says} {len(self.case.agents)} agents.".strip())
        self.take_away.offer("SVG", "PNG", "Report", there=self.answer is not None)
        self.take_away.offer("Attacks", there=self.report is not None and not self.case.is_own)
        self.take_away.offer("Problem file", there=not self.case.is_own)
        self._tell_command()
        self.result.clear()
        self.result.set_visibility(self.answer is not None)
        if self.answer is not None:
            with self.result:
                self._answer(self.answer)
        self.attacks.clear()
        if self.report is not None:
            with self.attacks:
                self._beliefs(self.report)

    def _answer(self, answer: Answer) -> None:
        words(
            f"{'✓' if answer.converged else '✗'} {answer.status}",
            "p",
            "verdict " + ("good" if answer.converged else "bad"),
        )
        with box("statement"):
            for sentence in answer.privacy() if len(answer.network) > 2 else ():
                words(sentence, "p", "first")
        shown = ", ".join(f"{value:.6g}" for value in answer.x[:6])
        words(f"All agents end with x = {shown}{' …' if len(answer.x) > 6 else ''}", "p", "soft after")

    def _beliefs(self, report: AuditReport) -> None:
        with box("card", "section"):
            words("What they believe of every other agent", "h2")
            if self.case.is_own:
                words(
                    "These are your own data: only how sure an attack is stands here, and no number of theirs.",
                    "p",
                    "simulation",
                )
            else:
                words("A simulation: the truth can stand beside what is believed.", "p", "simulation")
            with mark(box("after"), data_test="beliefs"):
                table("The gradient of every agent at the start", HEAD, beliefs(self.case, report), _style)
        with box("card", "details"):
            words("Every attack", "summary")
            for caption, verdicts in (("Without masks", report.without_masks), ("With masks", report.with_masks)):
                rows = [
                    (v.attack, f"{SIGNS[v.status]} {v.status}", v.says) for v in verdicts if v.status != "skipped"
                ]
                if rows:
                    table(caption, ("attack", "verdict", "in words"), rows)


def _style(column: int, text: str) -> str:
    """Let what was read be red; it also says so."""
    return "read" if column > 1 and text.endswith("exact") else "guessed" if column > 1 else ""
