"""Run the comparisons of docs/compare.md again, and write their tables: python docs/compared.py [preset …].

It takes minutes, so it is no part of docs/generate.py; everything between two marks comes from one run.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tacit.comparing import PRESETS, ComparisonReport, compare, preset

PAGE = Path(__file__).parent / "compare.md"


def lines_of(outcome: ComparisonReport) -> list[str]:
    """Return a comparison as Markdown: the table, and what is guaranteed."""
    rows = [outcome.headings(), ("---",) * len(outcome.headings()), *outcome.table()]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [outcome.sentence(), "", *table, "", *(f"- {note}" for note in outcome.notes())]


def write(name: str) -> None:
    """Make one comparison anew, and put it where the page has marks for it."""
    title, problem, sigma = preset(name)
    lines = lines_of(compare(problem, sigma=sigma, seed=1, title=title))
    part = re.compile(rf"(<!-- compared: {name} -->)\n.*?<!-- end -->", re.DOTALL)
    page = PAGE.read_text(encoding="utf-8")
    written = part.sub(lambda match: "\n".join([match[1], *lines, "<!-- end -->"]), page)
    PAGE.write_text(written, encoding="utf-8")
    print(f"Wrote {name} into {PAGE.name}.", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or PRESETS:
        write(name)
