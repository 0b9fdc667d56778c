"""`tacit federation`: write the manifest that all members share, and check it before anything private is sent."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Annotated, Any

import msgspec
import networkx as nx
import typer
from rich.console import Console
from rich.table import Table

from tacit.algorithms import ALGORITHMS
from tacit.certificates import calibrate, certify
from tacit.cli.graphs import refuse_to_overwrite
from tacit.errors import FileError, InputError
from tacit.network import Network
from tacit.runtimes.peers.identity import fingerprint
from tacit.runtimes.peers.manifest import Manifest, Masks, Member, Model, address_of
from tacit.solving.choice import MODERATE

app = typer.Typer(no_args_is_help=True, help="Agree on a run: write and check the manifest that all members share.")
_DRAWS = 30  # networks tried, of which the best connected is taken
_REACHABLE = 3.0  # seconds


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `tacit keygen` writes for the others."""

    name: str
    address: str
    certificate: str


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(help="The manifest to write.")],
    cards: Annotated[
        list[Path] | None, typer.Argument(help="The members' cards; all *.card here unless given.")
    ] = None,
    unknowns: Annotated[int, typer.Option(help="How many unknowns the costs have, an intercept included.")] = 0,
    links: Annotated[int, typer.Option(help="How many neighbours each member has.")] = 4,
    level: Annotated[str, typer.Option(help="sums, affine, quadratic or none.")] = "sums",
    sigma: Annotated[float | None, typer.Option(help="σ of affine or quadratic masks.")] = None,
    any_: Annotated[int, typer.Option("--any", help="Choose σ against every coalition of so many members.")] = 1,
    guess: Annotated[
        float | None, typer.Option(help="Choose σ so that they guess right at most so often …")
    ] = None,
    hide: Annotated[float | None, typer.Option(help="… between worlds that differ by so much.")] = None,
    cost: Annotated[str | None, typer.Option(help="What is fitted: ridge, logistic, poisson, lasso, …")] = None,
    target: Annotated[str | None, typer.Option(help="The label's column in the members' files.")] = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Fit an intercept, the last unknown.")] = False,
    l1: Annotated[float, typer.Option(help="Total L1 penalty.")] = 0.0,
    l2: Annotated[float, typer.Option(help="Total L2 penalty.")] = 0.0,
    algorithm: Annotated[str, typer.Option(help="auto, or a name.")] = "auto",
    setting: Annotated[
        list[str] | None, typer.Option(help="A setting of the algorithm, such as step_size=0.01.")
    ] = None,
    title: Annotated[str, typer.Option(help="A name for people.")] = "a federation",
    run: Annotated[int, typer.Option(help="The number of this run with these members.")] = 1,
) -> None:
    """Write the manifest from the members' cards: links, masks and algorithm. It holds nothing secret."""
    refuse_to_overwrite(file)
    if unknowns < 1:
        raise InputError("say how many unknowns the costs have: --unknowns.")
    members = _members(cards or sorted(Path().glob("*.card")))
    graph = _linked(list(members), links)
    if level not in ("none", "affine", "quadratic", "sums"):
        raise InputError(f"--level {level} is none of sums, affine, quadratic and none.")
    if level in ("affine", "quadratic") and sigma is None:
        if guess is None or hide is None:
            raise InputError(f"{level} masks need --sigma, or --guess and --hide to choose it by.")
        sigma = calibrate(graph, any=any_, guess=guess, hide=hide)
    masks = Masks(level, sigma=sigma if level in ("affine", "quadratic") else None)  # type: ignore[arg-type]
    manifest = Manifest(
        title=title,
        run=run,
        unknowns=unknowns,
        links=[(str(a), str(b)) for a, b in graph.edges()],
        members=members,
        privacy=masks,
        algorithm=_chosen(algorithm, level, unknowns, setting or []),
        model=None if cost is None else Model(cost, target=target, intercept=intercept, l1=l1, l2=l2),
    )
    manifest.job()  # refuses what would not work before anybody has it
    file.write_bytes(msgspec.toml.encode(_plain(manifest)))
    typer.echo(f"Wrote {file}: {len(members)} members, {graph.number_of_edges()} links. Send it to all of them.")
    typer.echo(f"Session {manifest.session()[:16]}. Next: tacit federation check {file}")


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="The manifest.")],
    any_: Annotated[int, typer.Option("--any", help="Certify against every coalition of so many members.")] = 1,
    me: Annotated[str | None, typer.Option(help="Also try to reach this member's neighbours.")] = None,
) -> None:
    """Check everything that can be checked before a run; nothing private is needed.

    Exit code 1 if a coalition would learn something exactly, 3 if a neighbour cannot be reached.
    """
    manifest = Manifest.read(file)
    network, console = manifest.network(), Console(highlight=False)
    table = Table("member", "address", "neighbours", "fingerprint", title=f"{manifest.title}, run {manifest.run}")
    for i, (name, member) in enumerate(manifest.members.items()):
        shown = fingerprint(member.certificate)
        table.add_row(name, member.address, str(len(network.neighbours(i))), shown[:29] + "…")
    console.print(table)
    console.print(
        f"Session {manifest.session()[:16]}; {manifest.algorithm['name']} with {manifest.privacy.level} masks; "
        f"{manifest.unknowns} unknown(s).",
        markup=False,
    )
    private = True
    if manifest.privacy.level != "none" and len(network) > 2:
        sigma = math.inf if manifest.privacy.sigma is None else manifest.privacy.sigma
        certificate = certify(network, any=min(any_, len(network) - 2), sigma=sigma)
        console.print(certificate.statement(), soft_wrap=True, markup=False)
        private = certificate.is_private
    if me is not None:
        _reach(manifest, network, me, console)
    if not private:
        raise typer.Exit(1)


def _reach(manifest: Manifest, network: Network, me: str, console: Console) -> None:
    if me not in manifest.members:
        raise InputError(f"{me!r} is no member; the manifest has {', '.join(manifest.members)}.")
    names = list(manifest.members)
    lost = []
    for j in network.neighbours(names.index(me)):
        reached = asyncio.run(_answers(*address_of(manifest.members[names[j]])))
        console.print(f"{names[j]}: {'reachable' if reached else 'does not answer (it may not be running yet)'}")
        lost += [] if reached else [names[j]]
    if lost:
        raise typer.Exit(3)


async def _answers(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(_REACHABLE):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _members(cards: list[Path]) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for path in cards:
        try:
            card = msgspec.toml.decode(path.read_bytes(), type=Card)
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
        except msgspec.MsgspecError as error:
            raise FileError(f"{path}: is no card that `tacit keygen` wrote ({error}).") from error
        if card.name in members:
            raise FileError(f"{path}: there are two members called {card.name}.")
        members[card.name] = Member(card.address, card.certificate)
    if len(members) < 3:
        raise InputError(f"{len(members)} member(s): hiding something takes at least three; give their cards.")
    return members


def _linked(names: list[str], links: int) -> nx.Graph[Any]:
    """Return a well-connected network: all with all where there are few, else the best of some random ones."""
    n = len(names)
    if links >= n - 1:
        return nx.relabel_nodes(nx.complete_graph(n), dict(enumerate(names)))
    if links < 2:
        raise InputError(f"--links {links}: a member with one neighbour has no secrets from it; use at least 2.")
    degree = links + (n * links) % 2
    if degree == 2:
        return nx.relabel_nodes(nx.cycle_graph(n), dict(enumerate(names)))
    drawn = [nx.random_regular_graph(degree, n, seed=seed) for seed in range(_DRAWS)]
    best = max((g for g in drawn if nx.is_connected(g)), key=lambda g: Network(g).algebraic_connectivity)
    return nx.relabel_nodes(best, dict(enumerate(names)))


def _chosen(name: str, level: str, unknowns: int, settings: list[str]) -> dict[str, Any]:
    if name == "auto":
        if level == "none" or level == "affine":
            raise InputError(
                f"{level} masks go with gossip, whose step depends on everybody's costs: agree on one, such as "
                "--algorithm gradient-tracking --setting step_size=0.01."
            )
        name = "direct" if level == "quadratic" else "newton" if unknowns <= MODERATE else "lbfgs"
    if name not in ALGORITHMS:
        raise InputError(f"no algorithm is called {name!r}; choose one of {', '.join(ALGORITHMS)}.")
    chosen: dict[str, Any] = {"name": name}
    for text in settings:
        key, _, value = text.partition("=")
        try:
            chosen[key] = float(value)
        except ValueError as error:
            raise InputError(f"--setting {text}: must be a name and a number, such as step_size=0.01.") from error
    return chosen


def _plain(manifest: Manifest) -> Any:
    """Return the manifest for TOML, which has no null."""

    def without_none(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_none(entry) for key, entry in value.items() if entry is not None}
        return [without_none(entry) for entry in value] if isinstance(value, list | tuple) else value

    return without_none(msgspec.to_builtins(manifest))
