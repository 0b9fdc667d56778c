"""What commands share: options, names, and how they write files and JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.completing import RUNTIMES, one_of
from tacit.cli.sheets import names_of
from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from tacit.network import Network

GraphFile = Annotated[Path, typer.Argument(help="A graph: .graphml, .gml, or .edges with one link per line.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Any_ = Annotated[int | None, typer.Option("--any", help="Guard against every coalition of at most so many agents.")]
Coalition = Annotated[str | None, typer.Option(help="Guard against these agents: names with commas between them.")]
Epsilon = Annotated[float | None, typer.Option(help="Target: D_KL ≤ ε·distance².")]
Delta = Annotated[float | None, typer.Option(help="With --epsilon and --hide: target (ε, δ) instead.")]
Guess = Annotated[float | None, typer.Option(help="Target: how often an observer may guess right, such as 0.55.")]
Hide = Annotated[float, typer.Option(help="The size of the change to hide.")]
Clip = Annotated[
    float | None,
    typer.Option(
        help="Of the answer's differential privacy, with --epsilon and --delta: the length of the longest row."
    ),
]
PublicRecords = Annotated[
    int | None, typer.Option("--records", help="With --clip: the number of records, if it is public.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Settle for a bound, without a search.")]
Deadline = Annotated[float | None, typer.Option(help="Search for so many seconds, then settle for the bound.")]
Bound = Annotated[float | None, typer.Option(help="Public bound on the coefficients; 65536 unless given.")]
Runtime = Annotated[
    str,
    typer.Option(
        help="stacked (all agents as arrays), agents (one thread each) or peers (one process each).",
        autocompletion=one_of(*RUNTIMES),
    ),
]


def members(network: Network, names: str | None) -> tuple[Any, ...] | None:
    """Return the agents that a list of names means."""
    return None if names is None else network.named(names_of(names))


def load(path: Path) -> Network:
    """Return the network in a file."""
    from tacit.network import Network, read_graph

    return Network(read_graph(path))


def refuse_unnamed(coalition: str | None, any_: int | None) -> None:
    """Refuse where nobody, or everybody twice, is named to guard against."""
    if (coalition is None) == (any_ is None):
        raise InputError("give either --coalition, with names, or --any, the size of every coalition.")


def refuse_untargeted(epsilon: float | None, guess: float | None) -> None:
    """Refuse where σ has no target, or two."""
    if (epsilon is None) == (guess is None):
        raise InputError("give one target: --epsilon, or --guess, or --epsilon together with --delta.")


def width(sigma: float | None, *, sums: bool) -> float:
    """Return σ; infinity for secret sums. Exactly one of the two must be given."""
    if (sigma is None) != sums:
        raise InputError("give --sigma for Gaussian masks, or --sums for secret sums.")
    if sigma is not None and not math.isfinite(sigma):
        raise InputError(f"--sigma {sigma} is no deviation; secret sums are --sums.")
    if sigma is not None and sigma > 0:
        from tacit.lattice import refuse_coarse

        refuse_coarse(sigma, bound=None)
    return math.inf if sigma is None else sigma


def refuse_to_overwrite(path: Path | None) -> None:
    """Raise if the file is there, before any work is done for it."""
    if path is None:
        return
    if path.exists():
        raise FileError(f"{path}: is already there; move it away, or name another file.")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the folder does not exist.")


def write_text(path: Path, text: str) -> None:
    """Write what was computed to the file that was asked for."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error


def print_json(value: dict[str, Any]) -> None:
    """Print JSON that every reader accepts: no NaN, no infinity."""
    import json

    typer.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))
