"""The report of a run: what was agreed on, how, and what was hidden from whom."""

from __future__ import annotations

from tacit.report import figures
from tacit.report.page import Listing, Page, Section
from tacit.report.pages.links import links_section
from tacit.runtimes.peers import LinkTimes
from tacit.solving import Answer
from tacit.solving.summary import summary

_MATRIX = 30  # agents up to which every one is looked at as an adversary


def answer_page(answer: Answer, *, any: int = 1, links: LinkTimes | None = None) -> Page:
    """Return the page of *answer*, against coalitions of at most *any* agents.

    *links* say when links between processes were up; a `tacit.peers.Timekeeper` knows.
    """
    record, private = answer.record, bool(answer.protection(any=any)["private"])
    return Page(
        title=f"{len(record.agents)} agents, {record.unknowns} unknown{'s' * (record.unknowns != 1)}",
        verdict=f"{record.status}, {'private' if private else 'NOT PRIVATE'}",
        good=record.converged and private,
        statement=[record.sentence, *answer.privacy(any=any), *record.warnings],
        sections=[_how(answer), *links_section(links), *_privacy(answer, any), _result(answer)],
    )


def _how(answer: Answer) -> Section:
    record = answer.record
    rows = [(name, text) for name, text in summary(answer, ()) if name not in ("status", "x", "coefficients")]
    return Section(
        "How they agreed",
        figures=[figures.convergence(record), figures.traffic({record.phase2.algorithm: record})],
        tables=[Listing("The run", ("what", "how"), rows)],
    )


def _privacy(answer: Answer, any: int) -> list[Section]:
    phase1, agents = answer.record.phase1, len(answer.network)
    if phase1 is None or agents < 3 or any > agents - 2:
        return []
    certificate = answer.certificate(any=any, quick=agents > 500)
    pictures = [figures.network(answer.network, certificate)]
    if certificate.is_private and not certificate.is_perfect:
        pictures += [figures.hidden_difference(certificate), figures.guess(certificate)]
    if agents <= _MATRIX:
        each = [answer.certificate(coalition={agent}) for agent in answer.network.agents]
        pictures.append(figures.who_learns(each))
    return [Section("What is hidden from whom", figures=pictures, words=[certificate.statement()])]


def _result(answer: Answer) -> Section:
    record = answer.record
    names = record.names or tuple(f"x{k}" for k in range(len(record.x)))
    rows = [(name, "–" if v is None else f"{v:.10g}") for name, v in zip(names, record.x, strict=False)]
    return Section("The answer", tables=[Listing("What all agents ended with", ("unknown", "value"), rows)])
