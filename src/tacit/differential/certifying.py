"""The answer's guarantee from public numbers alone: what a promise costs, and what can be had for a given accuracy.

    noise of a sum       √n·τ           in units of what one record moves; a curator's is 1/μ
    noise of a mean      √n·τ·R/N       of N public records of length at most R

So an accuracy a of a mean asks for μ = √n·τ₁·R/(N·a), with τ₁ the share at μ = 1, and for the ε that goes with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from tacit.differential.guarantee import AnswerGuarantee, Unit
from tacit.differential.promise import DifferentialPrivacy
from tacit.differential.sharing import Sharing, share_out
from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError
from tacit.later import later
from tacit.network import Network
from tacit.showing import Readable

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


@dataclass(frozen=True, slots=True)
class AnswerPrice(Readable):
    """What a promise about the answer costs."""

    guarantee: AnswerGuarantee
    noise: float
    """The deviation of the noise in a sum, in units of what one record can move it by."""
    mean_noise: float | None
    """The deviation of the noise in a mean over all records; None where their number is not declared."""

    def __str__(self) -> str:
        return "\n".join([self.guarantee.headline(), *self.lines()])

    def lines(self) -> list[str]:
        """Return it in sentences."""
        curator = 1.0 / self.guarantee.mu
        lines = [
            f"Noise in every sum: {self.noise:.4g} times what one record can move it by; a curator would add "
            f"{curator:.4g}, and agents who each protect their own records "
            f"{curator * self.guarantee.agents**0.5:.4g}."
        ]
        if self.mean_noise is not None:
            lines.append(f"Noise in a mean over all records: {self.mean_noise:.4g}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        guarantee = msgspec.to_builtins(self.guarantee)
        return {
            **guarantee, "guess": self.guarantee.guess, "noise": self.noise, "mean_noise": self.mean_noise,
            "statement": self.guarantee.statement(),
        }  # fmt: skip


def certify_answer(
    graph: Network | nx.Graph[Any],
    promise: DifferentialPrivacy,
    *,
    sigma: float = math.inf,
    unit: Unit = "record",
    computational: bool = False,
) -> AnswerPrice:
    """Return what *promise* guarantees on a network, and what it costs; refuse what cannot be kept there.

    *sigma* is that of masks which are drawn once, in units of what one record, or one label, moves; infinite for
    secret sums.

    >>> promise = DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2)
    >>> round(certify_answer(nx.complete_graph(20), promise).guarantee.beyond_curator, 3)
    1.054
    """
    if not sigma > 0.0:
        raise InputError(f"sigma = {sigma} must be positive, in units of what one record moves.")
    network = graph if isinstance(graph, Network) else Network(graph)
    sharing = share_out(network, promise, sigma=sigma)
    mean = None if promise.records is None else sharing.noise * float(promise.clip or 0.0) / promise.records
    guarantee = guarantee_of(promise, sharing, unit, computational=computational)
    return AnswerPrice(guarantee, sharing.noise, mean)


def calibrate_answer(
    graph: Network | nx.Graph[Any], promise: DifferentialPrivacy, *, accuracy: float
) -> DifferentialPrivacy:
    """Return *promise* with the smallest ε that leaves noise of deviation *accuracy* in a mean, by secret sums.

    >>> like = DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2, records=3000)
    >>> round(calibrate_answer(nx.complete_graph(20), like, accuracy=0.001).epsilon, 2)
    1.53
    """
    if promise.records is None:
        raise InputError("an accuracy is that of a mean: declare the public number of records.")
    if not (math.isfinite(accuracy) and accuracy > 0.0):
        raise InputError(f"accuracy = {accuracy} must be positive: the deviation of the noise in a mean.")
    price = certify_answer(graph, promise)
    mu = price.guarantee.mu * float(price.mean_noise or 0.0) / accuracy  # noise goes like 1/μ
    return replace(promise, epsilon=TradeOff(mu).epsilon(promise.delta))


def guarantee_of(
    promise: DifferentialPrivacy, sharing: Sharing, unit: Unit, *, computational: bool = False
) -> AnswerGuarantee:
    """Return what *sharing* keeps of *promise*."""
    return AnswerGuarantee(
        unit=unit,
        epsilon=promise.epsilon,
        delta=promise.delta,
        mu=sharing.mu,
        any=promise.any,
        agents=sharing.agents,
        share=sharing.share,
        beyond_curator=sharing.beyond_curator,
        exact=sharing.exact,
        computational=computational,
    )
