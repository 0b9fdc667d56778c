"""Graphs in files: GraphML, GML, or one link per line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import FileError
from tacit.later import later
from tacit.spelling import did_you_mean

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


def _read_links(path: Path) -> nx.Graph[Any]:
    """Return a graph from lines of two names, with a tab or blanks between them; what follows them is ignored."""
    graph: nx.Graph[Any] = nx.Graph()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        content = line.partition("#")[0].strip()
        names = [name.strip() for name in content.split("\t" if "\t" in content else None)]
        if content and len(names) < 2:
            raise FileError(f"{path}: line {number} names one agent where a link needs two.")
        if content:
            graph.add_edge(names[0], names[1])
    return graph


_READERS: dict[str, Callable[[Path], nx.Graph[Any]]] = {
    ".graphml": lambda path: nx.read_graphml(path),
    ".gml": lambda path: nx.read_gml(path),
    ".edges": _read_links,
    ".edgelist": _read_links,
    ".txt": _read_links,
}


_WRITERS: dict[str, Callable[[nx.Graph[Any], Path], None]] = {
    ".graphml": lambda graph, path: nx.write_graphml(graph, path),
    ".gml": lambda graph, path: nx.write_gml(graph, path, stringizer=str),
    ".edges": lambda graph, path: nx.write_edgelist(graph, path, data=False, delimiter="\t"),
}


def read_graph(path: Path) -> nx.Graph[Any]:
    """Return the graph in *path*; its ending names the format."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise FileError(
            f"{path}: cannot tell the graph format from {path.suffix or 'a name without ending'!r}; "
            f"use one of {', '.join(_READERS)}.{did_you_mean(path.suffix, _READERS)}"
        )
    try:
        return reader(path)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # the readers raise whatever their parsers raise
        raise FileError(f"{path}: is not a valid {path.suffix} graph ({error}).") from error


def write_graph(graph: nx.Graph[Any], path: Path) -> None:
    """Write a graph in the format that the ending names; never over a file that is there."""
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise FileError(
            f"{path}: graphs are written as {', '.join(_WRITERS)}.{did_you_mean(path.suffix, _WRITERS)}"
        )
    if path.exists():
        raise FileError(f"{path}: is already there; move it away, or name another file.")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the folder does not exist.")
    try:
        writer(graph, path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error
