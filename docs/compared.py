"""Run the comparison of docs/compare.md again, and write its table: python docs/compared.py.

It takes minutes, so it is no part of docs/generate.py; everything between its two marks comes from one run.
"""

from __future__ import annotations

import re
from pathlib import Path

from tacit.comparing import ComparisonReport, compare, preset

PAGE = Path(__file__).parent / "compare.md"
PART = re.compile(r"(<!-- compared: (\w+) -->)\n.*?<!-- end -->", re.DOTALL)


def lines_of(outcome: ComparisonReport) -> list[str]:
    """Return a comparison as Markdown: the table, and what is guaranteed."""
    rows = [outcome.headings(), ("---",) * len(outcome.headings()), *outcome.table()]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [outcome.sentence(), "", *table, "", *(f"- {note}" for note in outcome.notes())]


def rewritten(page: str) -> str:
    """Return *page* with every comparison made anew."""

    def part(match: re.Match[str]) -> str:
        title, problem, sigma = preset(match[2])
        outcome = compare(problem, sigma=sigma, seed=1, title=title)
        return "\n".join([match[1], *lines_of(outcome), "<!-- end -->"])

    return PART.sub(part, page)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"Wrote {PAGE.name}.")
