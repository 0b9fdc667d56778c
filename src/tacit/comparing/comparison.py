"""The outcome of a comparison: one row for every approach, all of it from the same run."""

from __future__ import annotations

from typing import Any

import msgspec

from tacit.comparing.recovery import Recovery
from tacit.showing import Shown, frame

HEADINGS = (
    "approach", "error", "rounds", "messages", "bytes", "seconds", "one neighbour", "two colluders",
    "guaranteed", "assumes",
)  # fmt: skip


class ComparedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One approach."""

    approach: str
    source: str
    assumes: str
    missing: str | None = None
    """Why it did not run: what to install, or what does not fit; then there are no numbers."""
    how: str = ""
    error: float | None = None
    """Of the worst agent's answer, relative to how far the optimum is from the start."""
    rounds: int | None = None
    messages: int | None = None
    sent_bytes: int | None = None
    seconds: float | None = None
    recoveries: list[Recovery] = []
    """Of one neighbour, and of two who collude."""


class ComparisonReport(msgspec.Struct, Shown, frozen=True, kw_only=True):
    """All approaches on one problem."""

    tacit: str
    title: str
    agents: int
    links: int
    unknowns: int
    families: list[str]
    rows: list[ComparedRow]
    seconds: float

    def sentence(self) -> str:
        """Return what was compared, in a sentence."""
        ran = [row for row in self.rows if row.missing is None]
        left = len(self.rows) - len(ran)
        rest = f"; {left} did not run, and the table says why" if left else ""
        return (
            f"{self.title}: {self.agents} agents, {self.links} links, "
            f"{self.unknowns} unknown{'s' * (self.unknowns != 1)}, "
            f"{len(ran)} approach{'es' * (len(ran) != 1)} attacked alike{rest}."
        )

    def headings(self) -> tuple[str, ...]:
        """Return the head of the table."""
        return HEADINGS

    def notes(self) -> list[str]:
        """Return how the table is to be read, and what is guaranteed to whom."""
        lines = [
            "Errors of answers are relative to the way from the start to the optimum. What is recovered: agents "
            "whose gradient is hit; the median error in units of how the agents differ (1: no better than their "
            "mean); how often two agents' gradients are told apart, with two standard errors (50 %: a coin).",
            "Seconds are of all agents in one process, where no library runs its own.",
        ]
        for row in self.rows:
            promises = list(dict.fromkeys(each.promise for each in row.recoveries if each.promise))
            lines += [f"{row.approach}: {promise}" for promise in promises]
        return lines

    def table(self) -> list[tuple[str, ...]]:
        """Return the table under `HEADINGS`, in words."""
        return [_cells(row) for row in self.rows]

    def to_frame(self) -> Any:
        """Return the rows as a table of pandas."""
        return frame([msgspec.to_builtins(row) for row in self.rows], "approach")

    def to_json(self) -> str:
        """Return the comparison as indented JSON."""
        whole = {"sentence": self.sentence(), **msgspec.to_builtins(self)}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()

    def __str__(self) -> str:
        return self.sentence()


def _cells(row: ComparedRow) -> tuple[str, ...]:
    if row.missing is not None:
        return (row.approach, row.missing, *[""] * (len(HEADINGS) - 3), row.assumes)
    attacked = [recovery_in_words(each) for each in row.recoveries]
    attacked += ["–"] * (2 - len(attacked))
    seconds = "" if row.seconds is None else f"{row.seconds:.2g}"
    return (
        row.approach, _error(row.error), str(row.rounds), _count(row.messages), _count(row.sent_bytes), seconds,
        *attacked, _guaranteed(row), row.assumes,
    )  # fmt: skip


def _guaranteed(row: ComparedRow) -> str:
    """Return what is guaranteed against the one and the two: once where it is the same."""
    return "; ".join(dict.fromkeys(each.guarantee for each in row.recoveries))


def recovery_in_words(recovery: Recovery) -> str:
    """Return what a coalition recovers, as a cell of the table."""
    words = f"{recovery.recovered} of {recovery.honest}"
    if recovery.error is not None:
        words += f", error {_error(recovery.error)}"
    if recovery.guess is not None:
        doubt = "" if not recovery.doubt else f" ± {200 * recovery.doubt:.0f}"
        words += f", guess {100 * recovery.guess:.0f}{doubt} %"
    return "; ".join([words, *recovery.besides])


def _error(value: float | None) -> str:
    return "" if value is None else "exact" if value < 1e-8 else f"{value:.1e}" if value > 99 else f"{value:.2g}"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}".replace(",", " ")
