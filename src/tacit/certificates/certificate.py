"""The certificate: what is guaranteed against one coalition, or against every coalition of at most t agents.

    ε   = 1/(4σ² μ(L_H))                        one coalition C, G_H = G − C      Theorems 1 and 2
    ε_t = 1/(4σ² m_t),  m_t = min μ₂(G − C)     every |C| ≤ t                     Corollary 1, with its ε

A value: `certifying` makes it, and `statement` puts it into words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from tacit.certificates.finite import finite_or_none
from tacit.certificates.statement import GUESS, statement
from tacit.coverage import GENERAL, Coverage
from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError
from tacit.showing import Shown, frame
from tacit.stamps import Stamp, voided

GUESSES = (0.51, 0.55, 0.6, 0.75, 0.9)
"""How often a guess may be right: what tables of hidden differences are made for."""


@dataclass(frozen=True, slots=True)
class Component:
    """One connected piece of the honest graph."""

    agents: tuple[Any, ...]
    mu: float
    """μ₂ of the piece's Laplacian (with scaled links where links have their own σ); 0 for a single agent."""
    epsilon: float
    """ε of Theorem 2 inside the piece; ∞ for a single agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(Shown):
    """A guarantee. `epsilon` holds against `coalition`, or with `guards` against every coalition of that size."""

    sigmas: tuple[float, ...]
    """σ of the masks: one for all unknowns, or one per basis function."""
    epsilon: float
    """D_KL ≤ ε·dist² for all changes that keep the sum of each component."""
    mu: float
    """The algebraic connectivity behind ε: μ(L_H), or m_t."""
    coalition: tuple[Any, ...] | None
    """The coalition; the worst one where the certificate guards against all; None where it is not known."""
    components: tuple[Component, ...]
    """The honest graph's pieces without that coalition."""
    uncertainty: dict[Any, float] = field(repr=False)
    """Deviation of the best estimate of each honest agent's coefficient without prior knowledge (a lower bound
    over all coalitions where the certificate guards against all)."""
    guards: int | None = None
    """t, if this holds against every coalition of at most t agents."""
    method: str = "exact"
    """exact, or bound: then the true ε may be smaller."""
    without_privacy: tuple[Any, ...] = ()
    """Agents with at most t neighbours: a coalition of those learns their coefficient exactly."""
    coverage: Coverage = GENERAL["affine"]
    """What the masks hide of every agent, and what they leave in the open."""
    stamps: tuple[Stamp, ...] = ()
    """Why this does not hold, or for whom, beside what the network tells; cautions too."""
    hide: float | None = None
    """How large a difference was declared to be hidden, before anything private was looked at."""
    computational: bool = False
    """Whether masks come from keys that neighbours agree on: then all of this holds against bounded adversaries."""
    noisy: bool = False
    """Whether sums carry noise shares: what they tell then is in the answer's own guarantee."""

    @property
    def sigma(self) -> float:
        """The smallest σ: the one that decides."""
        return min(self.sigmas)

    @property
    def secret(self) -> str:
        """What the masks hide of every agent, in a word or two."""
        return self.coverage.secret

    @property
    def is_perfect(self) -> bool:
        """Whether the masks are uniform, as in secret sums: then nothing beyond the sums is learnt at all."""
        return math.isinf(self.sigma)

    @property
    def is_private(self) -> bool:
        """Whether nothing is learnt exactly but the sum of all honest coefficients, and no stamp says otherwise."""
        return len(self.components) <= 1 and math.isfinite(self.epsilon) and not voided(self.stamps)

    @property
    def exposed_sums(self) -> tuple[tuple[Any, ...], ...]:
        """The sets of agents the sum of whose coefficients is learnt exactly, if the coalition is a cut."""
        return tuple(c.agents for c in self.components) if len(self.components) > 1 else ()

    @property
    def exposed_agents(self) -> tuple[Any, ...]:
        """The agents whose coefficient the coalition learns exactly."""
        return tuple(c.agents[0] for c in self.components if len(c.agents) == 1)

    def divergence(self, distance: float = 1.0) -> float:
        """Return the largest D_KL between two worlds that far apart, of the same sum over all honest agents.

        Infinite where a stamp takes the guarantee back, and if the coalition is a vertex cut: the worlds may differ
        in the sum of a piece. Inside a piece its own ε holds, see `components`.
        """
        if not (distance >= 0 and math.isfinite(distance)):
            raise InputError(f"distance = {distance} must be zero or more: it is how far apart two worlds are.")
        if distance == 0:
            return 0.0
        return self.epsilon * distance**2 if self.is_private else math.inf

    def tradeoff(self, distance: float = 1.0) -> TradeOff:
        """Return how well the two worst worlds that far apart can be told from each other."""
        return TradeOff.at(self.divergence(distance))

    def guess(self, distance: float = 1.0) -> float:
        """Return how often the coalition guesses right between those two worlds; 0.5 is a coin."""
        return self.tradeoff(distance).guess

    def hidden_difference(self, guess: float = GUESS) -> float:
        """Return how far apart two worlds may be before the coalition guesses right more often than *guess*.

        The d with Φ(d√(2ε)/2) = guess. Zero where nothing is guaranteed, infinite for secret sums.

        >>> import networkx as nx
        >>> from tacit.certificates import certify
        >>> round(certify(nx.complete_graph(3), {2}, sigma=1.0).hidden_difference(), 4)
        0.1003
        """
        if not 0.5 < guess < 1.0:
            raise InputError(f"guess = {guess} must lie between 0.5, a coin, and 1, certainty.")
        if not self.is_private:
            return 0.0
        return TradeOff.of_guess(guess).mu / math.sqrt(2.0 * self.epsilon) if self.epsilon else math.inf

    def statement(self, hide: float | None = None) -> str:
        """Return the guarantee in words, with its assumptions and what it does not cover."""
        return statement(self if hide is None else replace(self, hide=hide))

    def __str__(self) -> str:
        return self.statement()

    def to_frame(self) -> Any:
        """Return every honest agent as a table of pandas: how far off the best estimate is, and what is learnt."""
        exposed = {*self.exposed_agents, *self.without_privacy}
        rows = [
            {"agent": agent, "deviation": deviation, "exposed": agent in exposed}
            for agent, deviation in self.uncertainty.items()
        ]
        return frame(rows, "agent")

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON: numbers, names as strings, and the statement; ∞ becomes None."""
        declared = None if self.hide is None else self.tradeoff(self.hide)
        sigmas = [finite_or_none(sigma) for sigma in self.sigmas]
        return {
            "private": self.is_private,
            "stamps": msgspec.to_builtins(self.stamps),
            "coverage": {**msgspec.to_builtins(self.coverage), "hides": str(self.coverage)},
            "method": self.method,
            "guards": self.guards,
            "coalition": None if self.coalition is None else [str(a) for a in self.coalition],
            "perfect": self.is_perfect,
            "computational": self.computational,
            "sigma": sigmas if len(sigmas) > 1 else finite_or_none(self.sigma),
            "mu": finite_or_none(self.mu),
            "epsilon": finite_or_none(self.epsilon),
            "hidden_difference": {f"{guess:g}": finite_or_none(self.hidden_difference(guess)) for guess in GUESSES},
            "hide": self.hide,
            "guess": declared and declared.guess,
            "auc": declared and declared.auc,
            "total_variation": declared and declared.total_variation,
            "components": [
                {"agents": [str(a) for a in c.agents], "mu": c.mu, "epsilon": finite_or_none(c.epsilon)}
                for c in self.components
            ],
            "exposed_sums": [[str(a) for a in agents] for agents in self.exposed_sums],
            "exposed_agents": [str(a) for a in self.exposed_agents],
            "without_privacy": [str(a) for a in self.without_privacy],
            "uncertainty": {str(agent): finite_or_none(value) for agent, value in self.uncertainty.items()},
            "statement": self.statement(),
        }
