"""Graphs from files: GraphML, GML, or one link per line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx

from tacit.errors import FileError

_READERS: dict[str, Callable[[Path], nx.Graph[Any]]] = {
    ".graphml": nx.read_graphml,
    ".gml": nx.read_gml,
    ".edges": nx.read_edgelist,
    ".edgelist": nx.read_edgelist,
    ".txt": nx.read_edgelist,
}


def read_graph(path: Path) -> nx.Graph[Any]:
    """Return the graph in *path*; its ending names the format."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise FileError(
            f"{path}: cannot tell the graph format from {path.suffix or 'a name without ending'!r}; "
            f"use one of {', '.join(_READERS)}."
        )
    try:
        return reader(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # the readers raise whatever their parsers raise
        raise FileError(f"{path}: is not a valid {path.suffix} graph ({error}).") from error
