"""What every runtime takes, and what every runtime returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tacit.costs import CostStack, Family
from tacit.masks import AffineMasks
from tacit.network import Network
from tacit.runtimes.stopping import Check, Progress, StoppingRule, Verdict
from tacit.typing import Algorithm, Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Both phases, ready to run. Holds private costs: it is never stored, sent or shown."""

    network: Network
    costs: Sequence[Family] = field(repr=False)
    """One cost per agent, in the order of the network."""
    stack: Family | CostStack = field(repr=False)
    """The same costs as one object."""
    x0: Array
    """The public starting point, (m,)."""
    algorithm: Algorithm
    exact: bool
    weights: str
    privacy: AffineMasks | None
    rule: StoppingRule
    floor: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came out. Nothing in it depends on an honest agent's private data beyond the answer."""

    x: Array = field(repr=False)
    """All agents' estimates, (n, m)."""
    rounds: int
    exchanges: int
    """How often every agent sent something to all its neighbours, in both phases."""
    verdict: Verdict
    history: tuple[Check, ...] = field(repr=False)


Runtime = Callable[[Job, Callable[[Progress], None] | None], Run]
