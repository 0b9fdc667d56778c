"""`tacit federation new`: the manifest from the members' cards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import networkx as nx
import typer

from tacit.algorithms import ALGORITHMS
from tacit.certificates import calibrate
from tacit.cli.graphs import refuse_to_overwrite
from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, chosen, names_of, told_sheet
from tacit.errors import FileError, InputError
from tacit.federation import Manifest, Masks, Member, Model, Stop
from tacit.federation.cards import read_card
from tacit.federation.declared import refuse_nothing_hidden
from tacit.federation.identity import spelled
from tacit.listing import conjoined, listed
from tacit.masks.pairing import WAYS
from tacit.network import Network, small_vertex_cut
from tacit.runtimes import MAX_ROUNDS, TOLERANCE
from tacit.solving.cost_files import FAMILIES, refuse_target
from tacit.solving.effort import worth_hessians
from tacit.tables import Dictionary, Reading, draft

_DRAWS = 30  # networks tried, of which the best connected is taken
_LEAST = 1e-2  # curvature that is assumed where nothing is known
_OF_ROWS = tuple(name for name in FAMILIES if name not in ("quadratic", "distance", "absolute-value"))
_DELTA = Model("huber").delta
_WIDE = (
    2.0**60
)  # public bound on sums over raw records, in two words: steps are then finer than float64's of such sums


def new(
    file: Annotated[Path, typer.Argument(help="The manifest to write.")],
    cards: Annotated[
        list[Path] | None, typer.Argument(help="The members' cards; all *.card here unless given.")
    ] = None,
    unknowns: Annotated[int, typer.Option(help="How many unknowns the costs have, an intercept included.")] = 0,
    links: Annotated[int, typer.Option(help="How many neighbours each member has.")] = 4,
    level: Annotated[str, typer.Option(help="sums, affine, quadratic or none.")] = "sums",
    sigma: Annotated[float | None, typer.Option(help="σ of affine or quadratic masks.")] = None,
    any_: Annotated[
        int, typer.Option("--any", help="How many members may collude. Links, σ, checks and statements follow it.")
    ] = 1,
    guess: Annotated[
        float | None, typer.Option(help="Choose σ so that they guess right at most so often …")
    ] = None,
    hide: Annotated[
        float | None,
        typer.Option(help="… between worlds that differ by so much. Statements are about it, too."),
    ] = None,
    bound: Annotated[
        float | None, typer.Option(help="Public limit on every number that is masked; chosen unless given.")
    ] = None,
    words: Annotated[
        int | None, typer.Option(help="Of secret sums: 64-bit words a number, 1 or 2; chosen unless given.")
    ] = None,
    pairing: Annotated[
        str,
        typer.Option(
            help="How the ends of a link come to share its masks. both: each draws and sends half. one-sided: one "
            "draws and sends all. seeds: they agree on keys and send none; all guarantees are then computational."
        ),
    ] = "both",
    like: Annotated[
        Path | None, typer.Option(help="Draft the data dictionary from this CSV file: names, types, levels.")
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    missing: Annotated[
        str, typer.Option(help="With --like. refuse: no record may have gaps. drop: those that have are left out.")
    ] = "refuse",
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    cost: Annotated[str | None, typer.Option(help="What is fitted: ridge, logistic, poisson, lasso, …")] = None,
    target: Annotated[str | None, typer.Option(help="The label's column in the members' files.")] = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Fit an intercept, the last unknown.")] = False,
    l1: Annotated[float, typer.Option(help="Total L1 penalty.")] = 0.0,
    l2: Annotated[float, typer.Option(help="Total L2 penalty.")] = 0.0,
    delta: Annotated[
        float | None, typer.Option(help=f"Of huber: up to where residuals are squared; {_DELTA} unless given.")
    ] = None,
    records: Annotated[
        int | None,
        typer.Option(min=1, help="Every member holds at least so many records; what the answer tells is counted."),
    ] = None,
    count_columns: Annotated[
        bool,
        typer.Option(
            "--count-columns",
            help="Count in secret, before the fit, how many members have each column; refuse those of one or two.",
        ),
    ] = False,
    algorithm: Annotated[str, typer.Option(help="auto, or a name.")] = "auto",
    setting: Annotated[
        list[str] | None, typer.Option(help="A setting of the algorithm, such as step_size=0.01.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Stop at this relative error.")] = TOLERANCE,
    max_rounds: Annotated[int, typer.Option(help="Stop after so many rounds.")] = MAX_ROUNDS,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a neighbour before giving up; a day unless given.")
    ] = Stop().patience,
    idle: Annotated[
        float, typer.Option(help="Seconds of silence after which a link is dialled again.")
    ] = Stop().idle,
    dropout: Annotated[
        str,
        typer.Option(
            help="If somebody stays away for good. wait: all wait or give up. exclude: the others may go on "
            "without it, and that can expose it (`tacit federation without`)."
        ),
    ] = "wait",
    title: Annotated[str, typer.Option(help="A name for people.")] = "a federation",
    run: Annotated[int, typer.Option(help="The number of this run with these members.")] = 1,
) -> None:
    """Write the manifest from the members' cards: links, masks and algorithm. It holds nothing secret."""
    refuse_to_overwrite(file)
    model = _model(cost, target=target, intercept=intercept, l1=l1, l2=l2, delta=delta, records=records)
    reading = Reading(separator, decimal, encoding)
    meaning = _meaning(like, model, reading, columns=columns, drop=drop, missing=missing)
    unknowns = unknowns if meaning is None else _counted(unknowns, meaning, intercept=intercept)
    if unknowns < 1:
        raise InputError("say how many unknowns the costs have: --like FILE, or --unknowns.")
    members = _members(cards or sorted(Path().glob("*.card")))
    graph = _linked(list(members), links)
    if dropout not in ("wait", "exclude"):
        raise InputError(f"--dropout {dropout} is none of wait and exclude.")
    masks = _masks(
        graph, level, sigma=sigma, any_=any_, guess=guess, hide=hide, bound=bound, words=words or 1, pairing=pairing
    )
    algorithm_settings = _chosen(algorithm, level, unknowns, setting or [], model, count_columns=count_columns)
    if (
        algorithm_settings["name"] == "standardised" and bound is None
    ):  # for raw records, until they are standardised
        masks = msgspec.structs.replace(masks, bound=_WIDE, words=words or 2)
    stop = Stop(tolerance=tolerance, max_rounds=max_rounds, patience=patience, idle=idle)
    manifest = Manifest(
        title=title,
        run=run,
        unknowns=unknowns,
        links=[(str(a), str(b)) for a, b in graph.edges()],
        members=members,
        privacy=masks,
        algorithm=algorithm_settings,
        model=model,
        data=meaning,
        stop=stop,
        dropout=dropout,  # type: ignore[arg-type]
    )
    wrong = manifest.problems()  # refused before anybody has it
    if wrong:
        raise InputError(" ".join(wrong))
    refuse_nothing_hidden(manifest)
    manifest = msgspec.structs.replace(manifest, stop=msgspec.structs.replace(stop, floor=rounding_floor(manifest)))
    file.write_bytes(manifest.to_toml())
    typer.echo(f"Wrote {file}: {len(members)} members, {graph.number_of_edges()} links. Send it to all of them.")
    typer.echo("Session:")
    for line in spelled(manifest.session()):
        typer.echo(f"  {line}")
    typer.echo(f"Next: tacit federation check {file}")


def _meaning(
    like: Path | None, model: Model | None, reading: Reading, *, columns: str | None, drop: str | None, missing: str
) -> Dictionary | None:
    """Return the dictionary that a file suggests; say what to look at before it is sent."""
    if missing not in ("refuse", "drop"):
        raise InputError(f"--missing {missing} is none of refuse and drop.")
    if like is None:
        if columns or drop or missing != "refuse":
            raise InputError("--columns, --drop and --missing need --like, the file that they are about.")
        return None
    if model is None:
        raise InputError("--like needs --cost, which says what is fitted.")
    found = draft(chosen(told_sheet(like, reading), model.target, names_of(columns), names_of(drop)), model.target)
    refuse_target(found.dictionary, model.family, model.target)
    for note in found.notes:
        typer.echo(f"tacit: {note}", err=True)
    return msgspec.structs.replace(found.dictionary, gaps=missing)


def _counted(unknowns: int, meaning: Dictionary, *, intercept: bool) -> int:
    counted = len(meaning.names) + intercept
    if unknowns not in (0, counted):
        raise InputError(f"--unknowns {unknowns}, and the columns of --like bring {counted}; leave it out.")
    return counted


def rounding_floor(manifest: Manifest) -> float:
    """Return how near rounding lets agents come: the noise of gradients over the curvature that is known to all."""
    mechanism, model = manifest.privacy.mechanism(), manifest.model
    if mechanism is None:
        return 0.0
    known = model.l2 / len(manifest.members) if model is not None and not model.intercept else 0.0
    return mechanism.terms(manifest.network(), manifest.unknowns).noise / max(known, _LEAST)


def _members(cards: list[Path]) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for path in cards:
        card = read_card(path)
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


def _masks(
    graph: nx.Graph[Any],
    level: str,
    *,
    sigma: float | None,
    any_: int,
    guess: float | None,
    hide: float | None,
    bound: float | None,
    words: int,
    pairing: str,
) -> Masks:
    if level not in ("none", "affine", "quadratic", "sums"):
        raise InputError(f"--level {level} is none of sums, affine, quadratic and none.")
    if pairing not in WAYS:
        raise InputError(f"--pairing {pairing} is none of {conjoined(list(WAYS))}.")
    gaussian = level in ("affine", "quadratic")
    given = {"--sigma": sigma, "--guess": guess, "--hide": hide}
    idle = [option for option, value in given.items() if value is not None and not gaussian]
    idle += ["--words"] * (words != 1 and level != "sums") + ["--bound"] * (bound is not None and level == "none")
    idle += ["--pairing"] * (pairing != "both" and level == "none")
    if idle:
        raise InputError(
            f"{conjoined(idle)} mean{'s' * (len(idle) == 1)} nothing to --level {level}; leave it out."
        )
    if level != "none":
        _refuse_cuts(graph, any_)
    if gaussian and sigma is None:
        if guess is None or hide is None:
            raise InputError(f"{level} masks need --sigma, or --guess and --hide to choose it by.")
        sigma = calibrate(graph, any=any_, guess=guess, hide=hide, bound=bound)
    return Masks(
        level,  # type: ignore[arg-type]
        sigma=sigma,
        bound=bound,
        words=words,
        pairing=pairing,
        any=any_,
        hide=hide,
    )


def _refuse_cuts(graph: nx.Graph[Any], any_: int) -> None:
    """Refuse what would not protect against as many members as may collude."""
    if not 0 <= any_ <= len(graph) - 2:
        raise InputError(f"--any {any_}: of {len(graph)} members at least two must be honest.")
    network = Network(graph)
    cut = small_vertex_cut(network, any_)
    if cut is not None:
        raise InputError(
            f"--any {any_}: {listed([network.agents[k] for k in cut])} could cut the others apart, and learn more "
            f"than sums over all of them; use --links {any_ + 1} or more."
        )


def _model(
    family: str | None,
    *,
    target: str | None,
    intercept: bool,
    l1: float,
    l2: float,
    delta: float | None,
    records: int | None,
) -> Model | None:
    given = {"--target": target, "--intercept": intercept, "--l1": l1, "--l2": l2, "--delta": delta}
    given["--records"] = records
    used = [option for option, value in given.items() if value]
    if family is None:
        if used:
            raise InputError(f"{conjoined(used)} need{'s' * (len(used) == 1)} --cost, which says what is fitted.")
        return None
    if family not in FAMILIES:
        raise InputError(f"no cost family is called {family!r}; choose one of {', '.join(FAMILIES)}.")
    wrong = [option for option in used if option == "--delta" and family != "huber"]
    wrong += [option for option in used if option not in ("--delta", "--l1") and family not in _OF_ROWS]
    if wrong:
        raise InputError(
            f"{conjoined(wrong)} mean{'s' * (len(wrong) == 1)} nothing to a {family} cost; leave it out."
        )
    if min(l1, l2) < 0 or (delta is not None and not delta > 0):
        raise InputError("--l1 and --l2 must not be negative, and --delta must be positive.")
    if family in ("lasso", "elastic-net") and not l1:
        raise InputError(f"--cost {family} needs --l1, the weight of its penalty.")
    return Model(family, target, intercept, l1, l2, _DELTA if delta is None else delta, records=records)


def _chosen(
    name: str, level: str, unknowns: int, settings: list[str], model: Model | None, *, count_columns: bool
) -> dict[str, Any]:
    if name == "auto":
        if level == "none" or level == "affine":
            raise InputError(
                f"{level} masks go with gossip, whose step depends on everybody's costs: agree on one, such as "
                "--algorithm gradient-tracking --setting step_size=0.01."
            )
        rough = model is not None and model.l1 > 0
        many = "fista" if rough else "lbfgs"
        name = "direct" if level == "quadratic" else "newton" if worth_hessians(unknowns, rough=rough) else many
        if level == "sums" and model is not None and model.family in _OF_ROWS and name != "fista":
            fits = {"name": "standardised", "inner": name, "intercept": model.intercept}
            return fits | ({"counted": True} if count_columns else {})
    if count_columns:
        raise InputError("--count-columns goes with regressions by secret sums (--cost, --algorithm auto).")
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
