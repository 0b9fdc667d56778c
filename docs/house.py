"""The house, drawn from the imports in src: rooms, floors, and what each room stands on.

A room is a package or module right under `tacit`. Its floor is the length of the longest way down from it, so that
every import points to a floor below. `python docs/generate.py` puts the drawing into architecture.md.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "tacit"
WIDTH = 76
IMPORT = re.compile(r"^ *(?:from|import) (tacit[\w.]*)(?: import (.*))?$", re.MULTILINE)


@cache
def rooms() -> dict[str, list[Path]]:
    """Return the files of every room; the package's own __init__ and py.typed are its roof, and no room."""
    inside: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if name != "__init__":
            inside.setdefault(name, []).append(path)
    return inside


@cache
def imports() -> dict[str, frozenset[str]]:
    """Return which other rooms every room imports, wherever the import stands."""
    used_by = {}
    for name, paths in rooms().items():
        used = {room for path in paths for room in _used(path)}
        used_by[name] = frozenset(used & set(rooms()) - {name})
    return used_by


def _used(path: Path) -> set[str]:
    used = set()
    for home, names in IMPORT.findall(path.read_text(encoding="utf-8")):
        used |= {home.split(".")[1]} if "." in home else set(re.findall(r"\w+", names))
    return used


@cache
def floor(room: str) -> int:
    """Return the length of the longest way down; a circle would never end."""
    return max((1 + floor(below) for below in imports()[room]), default=0)


@cache
def below(room: str) -> frozenset[str]:
    """Return all that a room stands on, near and far."""
    return frozenset().union(*({near} | below(near) for near in imports()[room]))


def nearest(room: str) -> list[str]:
    """Return what a room imports and does not reach through another import."""
    through = frozenset().union(*(below(near) for near in imports()[room]))
    return sorted(imports()[room] - through)


def floors() -> list[list[str]]:
    """Return the rooms of every floor, from the roof down."""
    top = max(floor(room) for room in rooms())
    return [[room for room in rooms() if floor(room) == level] for level in range(top, -1, -1)]


def drawing() -> list[str]:
    """Return the house as lines of text, a floor each."""
    rule = "+" + "-" * (WIDTH - 2) + "+"
    lines = ["```text", rule]
    for on_it in floors():
        lines += [f"|{'    '.join(on_it):^{WIDTH - 2}}|", rule]
    return [*lines, "```"]


def table() -> list[str]:
    """Return what every room is for, and what it stands on, as a table."""
    lines = ["| room | what is in it | stands on |", "|---|---|---|"]
    for on_it in floors():
        for room in on_it:
            home = SOURCE / room / "__init__.py"
            text = (home if home.exists() else SOURCE / f"{room}.py").read_text(encoding="utf-8")
            first = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0].replace("|", "\\|")
            near = ", ".join(f"`{other}`" for other in nearest(room)) or "nothing"
            lines.append(f"| `{room}` | {first} | {near} |")
    return lines
