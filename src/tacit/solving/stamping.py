"""Why a run is not private, as far as the masks, the costs and the network tell before it starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tacit.certificates import TradeOff
from tacit.costs.stack import groups
from tacit.coverage import MASKS, Coverage
from tacit.listing import listed
from tacit.masks import Mechanism, has_a_law
from tacit.network import Topology
from tacit.network.hinges import hinges
from tacit.solving.problem import Problem
from tacit.solving.protection import SMOOTHER, fits_sums
from tacit.stamps import Stamp

_MANY, _ULP = 10_000, 2.0**-52
NO_MASKS = Stamp(
    reason="no masks", sentence="nothing was hidden, and neighbours can read the costs from what they receive."
)


def stamped(problem: Problem, privacy: Mechanism | None) -> list[Stamp]:
    """Return all that is known of a run before it starts."""
    if privacy is None:
        return [NO_MASKS]
    return [
        *of_masks(privacy),
        *of_law(problem, privacy),
        *of_costs(problem, privacy),
        *of_network(problem.network),
        *of_rounding(problem, privacy),
    ]


def of_masks(privacy: Mechanism | None) -> Iterator[Stamp]:
    """Stamp masks that somebody can draw again."""
    if privacy is not None and privacy.seed is not None:
        yield Stamp(reason="seed", sentence="the masks come from a seed, and whoever knows it knows them.")


def of_law(problem: Problem, privacy: Mechanism) -> Iterator[Stamp]:
    """Stamp masks of which no theorem says what they hide."""
    terms = privacy.terms(problem.network, problem.dim)
    if not has_a_law(terms) or (terms.words is not None and not privacy.fresh_each_sum):
        yield Stamp(
            reason="no theorem",
            sentence="these masks are neither Gaussian nor uniform, so no theorem here says what "
            "they hide; state a sigma in their terms, if they have one.",
        )


def of_costs(problem: Problem, privacy: Mechanism) -> Iterator[Stamp]:
    """Stamp costs of which these masks hide nothing."""
    everybody = problem.network.agents
    for group in groups(problem.stack):
        agents = [everybody[i] for i in np.arange(len(everybody))[group.rows]]
        whom = [] if len(agents) == len(everybody) else agents
        yield from nothing_hidden(privacy.coverage(group.cost), whom, summable=fits_sums(group.cost))


def nothing_hidden(coverage: Coverage, agents: Sequence[Any], *, summable: bool = True) -> Iterator[Stamp]:
    """Stamp what keeps no secret; *agents* have it, or all where none are named. Sums may be the remedy."""
    if not coverage.keeps_a_secret:
        whom = "every agent" if not agents else f"agent{'s' * (len(agents) > 1)} {listed(agents)}"
        yield Stamp(
            reason="nothing hidden",
            sentence=f"of {whom} these masks hide {coverage}; use {MASKS['sums'] if summable else SMOOTHER}.",
            agents=_names(agents),
        )


def of_rounding(problem: Problem, privacy: Mechanism) -> Iterator[Stamp]:
    """Caution where hidden and open part come from one computation: what is left of that, by its law."""
    coverage, terms = privacy.coverage(problem.stack), privacy.terms(problem.network, problem.dim)
    if coverage.exact or not coverage.keeps_a_secret:
        return
    left = TradeOff(math.sqrt(_MANY) * _ULP * terms.bound / terms.blur)
    yield Stamp(
        reason="rounding",
        sentence=f"some costs compute what is hidden and the rest in one go, and these part up to rounding only: "
        f"gradients carry a secret noise of {terms.blur:.1e}, and {_MANY} entries of them, each as large as the "
        f"public bound of {terms.bound:g}, tell two worlds apart with a guess that is right at most "
        f"{100 * left.guess:.1f} % of the time. Whether the rest tells what is hidden, as a bend at a secret place "
        "does, only its author knows; give costs in two parts, the affine one apart, or use secret sums.",
        voids=False,
    )


def of_network(network: Topology) -> Iterator[Stamp]:
    """Stamp a network in which one agent alone learns something exactly of single agents, or of a few."""
    if len(network) == 2:
        yield Stamp(reason="two agents", sentence="of two agents, each learns the other's part from the sum.")
        return
    leaves = [agent for agent, degree in zip(network.agents, network.degrees, strict=True) if degree == 1]
    if leaves:
        whom, whose = ("agent", "its") if len(leaves) == 1 else ("agents", "their")
        have = "has" if len(leaves) == 1 else "have each"
        yield Stamp(
            reason="one neighbour",
            sentence=f"{whom} {listed(leaves)} {have} one neighbour, who knows all {whose} masks; add links.",
            agents=_names(leaves),
        )
    pivots = hinges(network)
    if len(pivots.cuts):
        cuts, loose = ([network.agents[i] for i in some] for some in pivots)
        who = f"agent {cuts[0]}" if len(cuts) == 1 else f"any one of {listed(cuts)}"
        yield Stamp(
            reason="cut",
            sentence=f"without {who} the network falls apart, and that agent learns the sum over every piece that "
            f"comes loose, among agents {listed(loose)}; add links.",
            agents=_names(loose),
        )


def _names(agents: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(agent) for agent in agents)
