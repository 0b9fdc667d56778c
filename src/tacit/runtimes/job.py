"""What every runtime takes, and what every runtime returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tacit.algorithms.declarations import answering
from tacit.costs import CostStack, Family
from tacit.masks import Hidden, Mechanism, Source
from tacit.masks.mechanism import EVERY_ROW
from tacit.network import Network
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.looking import Observer
from tacit.runtimes.stopping import Check, Conclusion, Progress, StoppingRule, Watch
from tacit.runtimes.traffic import Traffic
from tacit.typing import Algorithm, Array, Findings, Peers


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Both phases, ready to run. Holds private costs: it is never stored, sent or shown."""

    network: Network
    costs: Sequence[Family] = field(repr=False)
    """One cost per agent, in the order of the network."""
    stack: Family | CostStack | None = field(repr=False)
    """The same costs as one object."""
    x0: Array
    """The public starting point, (m,)."""
    algorithm: Algorithm
    exact: bool
    weights: str
    privacy: Mechanism | None
    rule: StoppingRule
    floor: float = 0.0

    def watch(self, on_progress: Callable[[Progress], None] | None) -> Watch:
        """Return who judges this run."""
        window = answering(self.algorithm).window
        return Watch(
            self.rule,
            floor=self.floor,
            exact=self.exact,
            prompt=bool(self.algorithm.sums),
            on_progress=on_progress,
            **({} if window is None else {"window": window}),
        )

    def observer(self, seen: Array | None = None) -> Observer:
        """Return who looks at the states of this run; *seen* is x at the last look."""
        return Observer(answering(self.algorithm).error, seen)

    def findings(self, state: Any) -> Findings:
        """Return what the last state says beside x, where the algorithm knows."""
        return answering(self.algorithm).findings(state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came out. Nothing in it depends on an honest agent's private data beyond the answer."""

    x: Array = field(repr=False)
    """All agents' estimates, (n, m)."""
    rounds: int
    traffic: Traffic
    """Of both phases and all agents."""
    verdict: Conclusion
    history: tuple[Check, ...] = field(repr=False)
    doubt: Doubt | None = None
    """What no sum could tell, where the algorithm knows."""
    noise: Array | None = field(default=None, repr=False)
    """The deviation of every unknown from noise shares, (m,), where the algorithm knows."""
    errors: Array | None = field(default=None, repr=False)
    """Standard errors that include it, (m,), where the algorithm knows."""


class Hide(Protocol):
    """Phase 1 as a mechanism runs it, or whoever stands in for it: what phase 2 is to work with."""

    def __call__(
        self, cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW
    ) -> Hidden:
        """Return the cost and the peers of phase 2, for the agent whose directed links are *rows*, or for all."""


Runtime = Callable[[Job, Callable[[Progress], None] | None], Run]
