"""Make the inventories that other projects' names are linked by: python docs/site/inventories/make.py.

An inventory says which page of a project's documentation describes a name. These are made from the installed
packages, by the rule after which each project names its pages, so that the site is built without a network;
`make docs-links` asks whether the pages are there.
"""

from __future__ import annotations

import importlib
import inspect
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Row(NamedTuple):
    """One name: what kind of thing it is, and where it is described, with $ for the name itself."""

    name: str
    kind: str
    page: str


def generated(*modules: str, under: str, anchor: str = "$") -> Iterator[Row]:
    """Yield the public classes and functions of modules whose project has one generated page for each of them."""
    for module in modules:
        here = importlib.import_module(module)
        for name in sorted(getattr(here, "__all__", None) or dir(here)):
            thing = getattr(here, name, None)
            if not name.startswith("_") and (inspect.isclass(thing) or inspect.isroutine(thing)):
                kind = "class" if inspect.isclass(thing) else "function"
                yield Row(f"{module}.{name}", kind, f"{under}{module}.{name}.html#{anchor}")


def of_networkx() -> Iterator[Row]:
    """Yield networkx's graph classes, whose pages have lower-case names."""
    for name in ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph"):
        yield Row(f"networkx.{name}", "class", f"reference/classes/{name.lower()}.html#$")


def of_python() -> Iterator[Row]:
    """Yield the names of Python's library that signatures mention."""
    library = {
        "library/functions.html": ("bool", "float", "int", "object"),
        "library/stdtypes.html": ("bytes", "dict", "frozenset", "list", "set", "str", "tuple"),
        "library/exceptions.html": ("Exception", "ValueError", "RuntimeError", "UserWarning"),
        "library/pathlib.html": ("pathlib.Path",),
        "library/typing.html": ("typing.Any", "typing.NamedTuple", "typing.Protocol"),
        "library/collections.abc.html": tuple(
            f"collections.abc.{name}"
            for name in ("Callable", "Iterable", "Iterator", "Mapping", "Sequence", "Collection", "Hashable")
        ),
        "library/datetime.html": ("datetime.date", "datetime.datetime"),
    }
    for page, names in library.items():
        yield from (Row(name, "class", f"{page}#$") for name in names)


INVENTORIES = {
    "python": of_python,
    "numpy": lambda: generated("numpy", "numpy.linalg", "numpy.random", under="reference/generated/"),
    "scipy": lambda: generated("scipy.sparse", "scipy.optimize", "scipy.linalg", under="reference/generated/"),
    "networkx": of_networkx,
    "sklearn": lambda: generated(
        "sklearn.linear_model", "sklearn.preprocessing", "sklearn.impute", "sklearn.base", "sklearn.pipeline",
        under="modules/generated/",
    ),
}  # fmt: skip


def inventory(project: str) -> bytes:
    """Return an inventory in Sphinx's second format: four lines for people, and the rows, compressed."""
    rows = sorted(INVENTORIES[project]())
    listed = "".join(f"{row.name} py:{row.kind} 1 {row.page} -\n" for row in rows)
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n# compressed with zlib\n"
    return head.encode() + zlib.compress(listed.encode(), 9)


if __name__ == "__main__":
    for project in INVENTORIES:
        (HERE / f"{project}.inv").write_bytes(inventory(project))
        print(f"Wrote {project}.inv.")
