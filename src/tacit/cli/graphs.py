"""What the commands about graphs share: reading a file, names, targets, printing."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import networkx as nx
import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from tacit.errors import FileError, GraphError, InputError
from tacit.lattice import refuse_coarse
from tacit.listing import listed
from tacit.network import Network, read_graph
from tacit.spelling import did_you_mean

GraphFile = Annotated[Path, typer.Argument(help="A graph: .graphml, .gml, or .edges with one link per line.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Any_ = Annotated[int | None, typer.Option("--any", help="Guard against every coalition of at most so many agents.")]
Coalition = Annotated[str | None, typer.Option(help="Guard against these agents: names with commas between them.")]
Epsilon = Annotated[float | None, typer.Option(help="Target: D_KL ≤ ε·distance².")]
Delta = Annotated[float | None, typer.Option(help="With --epsilon and --hide: target (ε, δ) instead.")]
Guess = Annotated[float | None, typer.Option(help="Target: how often an observer may guess right, such as 0.55.")]
Hide = Annotated[float, typer.Option(help="The size of the change to hide.")]
Quick = Annotated[bool, typer.Option("--quick", help="Settle for a bound, without a search.")]
Deadline = Annotated[float | None, typer.Option(help="Search for so many seconds, then settle for the bound.")]
Bound = Annotated[float | None, typer.Option(help="Public bound on the coefficients; 65536 unless given.")]


def members(network: Network, names: str | None) -> tuple[Any, ...] | None:
    """Return the agents that a list of names means."""
    if names is None:
        return None
    known = {str(agent): agent for agent in network.agents}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise GraphError(f"no agent is called {listed(unknown)}; this network has {listed(network.agents)}.{meant}")
    return tuple(known[name] for name in wanted)


def load(path: Path) -> Network:
    """Return the network in a file."""
    return Network(read_graph(path))


def width(sigma: float | None, *, sums: bool) -> float:
    """Return σ; infinity for secret sums. Exactly one of the two must be given."""
    if (sigma is None) != sums:
        raise InputError("give --sigma for Gaussian masks, or --sums for secret sums.")
    if sigma is not None and not math.isfinite(sigma):
        raise InputError(f"--sigma {sigma} is no deviation; secret sums are --sums.")
    if sigma is not None and sigma > 0:
        refuse_coarse(sigma, bound=None)
    return math.inf if sigma is None else sigma


def refuse_to_overwrite(path: Path) -> None:
    """Raise if the file is there, before any work is done for it."""
    if path.exists():
        raise FileError(f"{path}: is already there; move it away, or name another file.")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the folder does not exist.")


def write_graph(graph: nx.Graph[Any], path: Path) -> None:
    """Write a graph in the format that the ending names; never over a file that is there."""
    writers: dict[str, Callable[[nx.Graph[Any], Any], None]] = {
        ".graphml": nx.write_graphml,
        ".gml": lambda g, p: nx.write_gml(g, p, stringizer=str),
        ".edges": lambda g, p: nx.write_edgelist(g, p, data=False, delimiter="\t"),
    }
    if path.suffix.lower() not in writers:
        raise FileError(f"{path}: graphs are written as {', '.join(writers)}.")
    refuse_to_overwrite(path)
    try:
        writers[path.suffix.lower()](graph, path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error


def finite(value: float) -> float | None:
    """Return a number that JSON knows; None for infinity."""
    return value if math.isfinite(value) else None


def print_json(value: dict[str, Any]) -> None:
    """Print JSON that every reader accepts: no NaN, no infinity."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


@contextmanager
def share_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[float], None] | None]:
    """Yield a callback for the share of work done; a bar on standard error where somebody looks at it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True) as bars:
        bar = bars.add_task(title, total=1.0)
        yield lambda share: bars.update(bar, completed=share)
