"""Docstrings as they are written here, for Sphinx: formulas stand indented, and | and _ are letters.

An indented block after an empty line is kept as it is, line by line. Outside of `code`, signs of
reStructuredText that mean nothing to us are taken literally.
"""

from __future__ import annotations

import re
from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", is_skipped)
    return {"parallel_read_safe": True}


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite one docstring in place; a constant without one of its own would show its type's."""
    inherited = what == "data" and thing.__doc__ == type(thing).__doc__
    lines[:] = [] if inherited else restructured(lines)


def is_skipped(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for its own use."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def restructured(lines: list[str]) -> list[str]:
    """Return a docstring as reStructuredText."""
    written: list[str] = []
    literal = False
    for number, line in enumerate(lines):
        if not line.strip():
            written.append(line)
            continue
        is_indented = line.startswith("    ")
        after_gap = number == 0 or not lines[number - 1].strip()
        before = next((other for other in reversed(lines[:number]) if other.strip()), "")
        if not is_indented:
            literal = False
        elif after_gap and not literal and not before.lstrip().startswith(("- ", "* ", ".. ")):
            literal = True
            written += ["::", ""]
        written.append(line if literal or line.lstrip().startswith((">>>", "...", "..")) else escaped(line))
    return written


def escaped(line: str) -> str:
    """Return a line in which only `code` and *names* are marked up."""
    parts = re.split(r"(`[^`]*`)", line)
    for number in range(0, len(parts), 2):
        text = parts[number].replace("|", "\\|")
        text = re.sub(r"(?<=\w)_(?!\w)", r"\\_", text)
        parts[number] = re.sub(r"(?<![\w*])\*(?!\w[^*]*\w?\*)", r"\\*", text)
    return "".join(parts)
