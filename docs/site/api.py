"""The pages of the reference that come from docstrings: one per public package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import tacit

FIRST = (
    "tacit",
    "tacit.learning",
    "tacit.dispatch",
    "tacit.federation",
    "tacit.peers",
    "tacit.costs",
    "tacit.masks",
    "tacit.algorithms",
    "tacit.certificates",
    "tacit.auditing",
    "tacit.solving",
    "tacit.report",
    "tacit.report.figures",
    "tacit.tables",
    "tacit.network",
    "tacit.testing",
    "tacit.typing",
    "tacit.errors",
)
"""What most people look for, in this order; other packages follow."""
FOR_READERS_OF_THE_CODE = {"tacit.cli", "tacit.protocol", "tacit.runtimes"}
FOUND = [f"tacit.{module.name}" for module in pkgutil.iter_modules(tacit.__path__) if module.ispkg]
PACKAGES = (*FIRST, *(name for name in FOUND if name not in FIRST and name not in FOR_READERS_OF_THE_CODE))


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield every page with its text, in reStructuredText, and the page that lists them."""
    yield "api/index.rst", index()
    described: dict[int, str] = {}
    for name in PACKAGES:
        yield f"api/{name}.rst", page(name, described)


def index() -> str:
    """Return the page that lists the packages."""
    rows = [f"* - :doc:`{name} <{name}>`\n  - {said(importlib.import_module(name))}" for name in PACKAGES]
    table = ".. list-table::\n   :widths: 30 70\n\n" + indented("\n".join(rows))
    contents = ".. toctree::\n   :hidden:\n\n" + indented("\n".join(PACKAGES))
    return (
        "\n\n".join((heading("API", "="), "Every public name, where people import it from.", table, contents))
        + "\n"
    )


def page(name: str, described: dict[int, str]) -> str:
    """Return one package's page: its docstring, its names at a glance, then each that is not yet *described*."""
    module = importlib.import_module(name)
    names = public_names(module)
    parts = [heading(name, "="), f".. automodule:: {name}\n   :no-members:", f".. currentmodule:: {name}"]
    things = {other: getattr(module, other) for other in names if not inspect.ismodule(getattr(module, other))}
    documented = [other for other, thing in things.items() if id(thing) not in described]
    if documented:
        parts.append(".. autosummary::\n   :nosignatures:\n\n" + indented("\n".join(documented)))
    elsewhere = [described[id(thing)] for thing in things.values() if id(thing) in described]
    if elsewhere:
        parts.append(f"Also from here: {', '.join(f':py:obj:`{other}`' for other in elsewhere)}.")
    described |= {id(things[other]): f"{name}.{other}" for other in documented}
    for other in documented:
        parts += [heading(other, "-"), directive(name, other, getattr(module, other))]
    return "\n\n".join(parts) + "\n"


def public_names(module: Any) -> list[str]:
    """Return the names that a module gives: those that it lists, or its own."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__
        ]
    return [name for name in names if not name.startswith("_")]


def directive(package: str, name: str, thing: Any) -> str:
    """Return the directive that documents one name."""
    if inspect.isclass(thing):
        return f".. autoclass:: {package}.{name}"
    return f".. {'autofunction' if inspect.isroutine(thing) else 'autodata'}:: {package}.{name}"


def said(module: Any) -> str:
    """Return the first line of a docstring, for a table."""
    return (inspect.getdoc(module) or "").partition("\n")[0].replace("|", "\\|")


def heading(text: str, line: str) -> str:
    """Return a heading."""
    return f"{text}\n{line * len(text)}"


def indented(text: str) -> str:
    """Return text as the body of a directive."""
    return "\n".join(f"   {line}" for line in text.splitlines())
