"""A manifest from the members' cards: who is linked to whom, how costs are hidden, and what everybody runs.

    cards = [read_card(path) for path in Path(".").glob("*.card")]
    manifest = draw_up(cards, Plan(unknowns=3, fitting=Fitting(cost="ridge", l2=1.0)))
    Path("federation.toml").write_bytes(manifest.to_toml())

Whoever draws it up sees nothing private, and has no say in the run: everybody checks the file and starts an agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from tacit.algorithms import ALGORITHMS, name_of
from tacit.errors import InputError
from tacit.federation.cards import Card
from tacit.federation.fitting import OF_ROWS, Fitting
from tacit.federation.foreign import refuse_acting
from tacit.federation.guarantees import refuse_nothing_hidden
from tacit.federation.hiding import Hiding
from tacit.federation.manifest import DROPOUTS, Manifest
from tacit.federation.sections import Member, Model, Repeat, Stop
from tacit.later import later
from tacit.listing import conjoined
from tacit.network import well_connected
from tacit.protocol.versions import PROTOCOL
from tacit.solving.choice import among_sums
from tacit.solving.floor import rounding_floor
from tacit.spelling import did_you_mean
from tacit.tables import Dictionary

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the members want, before anything is worked out. Fields are options of `tacit federation new`."""

    unknowns: int = 0
    """How many the costs have, an intercept included; with *data* they are counted."""
    links: int = 4
    """How many neighbours everybody has."""
    hiding: Hiding = field(default_factory=Hiding)
    fitting: Fitting = field(default_factory=Fitting)
    data: Dictionary | None = None
    """What the columns of the members' files mean."""
    algorithm: str = "auto"
    settings: Mapping[str, float] = field(default_factory=dict)
    """Of an algorithm that is named."""
    count_columns: bool = False
    """Whether it is counted in secret, before the fit, how many members have each column."""
    stop: Stop = field(default_factory=Stop)
    dropout: str = "wait"
    title: str = "a federation"
    run: int = 1
    relay: str = ""
    """Where neighbours meet who both only dial out: host:port."""
    repeat: Repeat = field(default_factory=Repeat)
    """How often the run is repeated, and whether records may change in between."""


def draw_up(cards: Iterable[Card], plan: Plan) -> Manifest:
    """Return the manifest; refuse a plan that cannot be run, or that would hide nothing."""
    model = plan.fitting.model()
    unknowns = _unknowns(plan)
    members = members_of(cards)
    graph = linked(list(members), plan.links)
    if plan.dropout not in DROPOUTS:
        meant = did_you_mean(plan.dropout, DROPOUTS)
        raise InputError(f"dropout = {plan.dropout!r} is not one of {conjoined(DROPOUTS)}.{meant}")
    masks, algorithm = plan.hiding.masks(graph), algorithm_of(plan, model, unknowns)
    if algorithm["name"] == "standardised":
        masks = plan.hiding.of_raw_records().masks(graph)
    manifest = Manifest(
        title=plan.title,
        run=plan.run,
        unknowns=unknowns,
        links=[(str(a), str(b)) for a, b in graph.edges()],
        members=members,
        privacy=masks,
        algorithm=algorithm,
        model=model,
        data=plan.data,
        stop=plan.stop,
        dropout=plan.dropout,
        protocol=PROTOCOL,
        relay=plan.relay,
        repeat=plan.repeat,
    )
    return finished(manifest)


def finished(manifest: Manifest) -> Manifest:
    """Return a manifest with the rounding floor of its network; refuse one that cannot be run, or hides nothing."""
    wrong = manifest.problems()
    if wrong:
        raise InputError(" ".join(wrong))
    refuse_nothing_hidden(manifest)
    stop = msgspec.structs.replace(manifest.stop, floor=_floor(manifest))
    return msgspec.structs.replace(manifest, stop=stop)


def members_of(cards: Iterable[Card]) -> dict[str, Member]:
    """Return the members whose cards these are, in that order."""
    members: dict[str, Member] = {}
    for card in cards:
        refuse_acting({"name": card.name, "address": card.address})
        if card.name in members:
            raise InputError(f"there are two members called {card.name}.")
        members[card.name] = Member(card.address, card.certificate)
    if len(members) < 3:
        raise InputError(f"{len(members)} member(s): hiding something takes at least three; give their cards.")
    return members


def linked(names: list[str], links: int) -> nx.Graph[Any]:
    """Return a well-connected network of the members, with so many neighbours for everybody."""
    if links < min(2, len(names) - 1):
        raise InputError(f"links = {links}: a member with one neighbour has no secrets from it; use at least 2.")
    return nx.relabel_nodes(well_connected(len(names), links), dict(enumerate(names)))


def algorithm_of(plan: Plan, model: Model | None, unknowns: int) -> dict[str, Any]:
    """Return the [algorithm] of a plan: the one that is named, or the one that fits level, size and model."""
    name = plan.algorithm
    if name == "auto" and plan.hiding.answer is not None and plan.hiding.level == "sums":
        name = "newton" if model is not None and model.family == "logistic" else "direct"
    if name == "auto":
        name = _fitting_algorithm(plan.hiding.level, model, unknowns)
        if plan.hiding.level == "sums" and model is not None and model.family in OF_ROWS and name != "fista":
            standardised = {"name": "standardised", "inner": name, "intercept": model.intercept}
            return standardised | ({"counted": True} if plan.count_columns else {})
    if plan.count_columns:
        raise InputError("counting columns goes with regressions by secret sums, where the algorithm is 'auto'.")
    if name not in ALGORITHMS:
        meant = did_you_mean(name, ALGORITHMS)
        raise InputError(f"no algorithm is called {name!r}; choose one of {', '.join(ALGORITHMS)}.{meant}")
    return {"name": name, **plan.settings}


def _fitting_algorithm(level: str, model: Model | None, unknowns: int) -> str:
    if level in ("none", "affine"):
        raise InputError(
            f"{level} masks go with gossip, whose step depends on everybody's costs: agree on an algorithm "
            "and its step, such as 'gradient-tracking' with step_size = 0.01.",
            command="Type --algorithm gradient-tracking --setting step_size=0.01.",
        )
    if level == "quadratic":
        return "direct"
    return name_of(among_sums(unknowns, rough=model is not None and model.l1 > 0))


def _unknowns(plan: Plan) -> int:
    if plan.data is not None:
        counted = len(plan.data.names) + plan.fitting.intercept
        if plan.unknowns not in (0, counted):
            raise InputError(
                f"unknowns = {plan.unknowns}, and the columns of the data dictionary bring {counted}; leave it out."
            )
        return counted
    if plan.unknowns < 1:
        raise InputError(
            "say how many unknowns the costs have, or give a data dictionary, whose columns are counted.",
            command="--unknowns says it, and --like FILE counts.",
        )
    return plan.unknowns


def _floor(manifest: Manifest) -> float:
    """Return the rounding floor, from the curvature that is known to all; none below noise in sums."""
    model = manifest.model
    if manifest.privacy.promise is not None and manifest.privacy.level != "affine":
        return 0.0
    known = model.l2 / len(manifest.members) if model is not None and not model.intercept else 0.0
    return rounding_floor(manifest.privacy.mechanism(), manifest.network(), manifest.unknowns, curvature=known)
