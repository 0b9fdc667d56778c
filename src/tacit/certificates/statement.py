"""The certificate in words: what an observer can do, on what assumptions, and what is not covered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit.network.topology import listed

if TYPE_CHECKING:
    from tacit.certificates.certificate import Certificate

ASSUMPTIONS = (
    "links are private and authenticated",
    "every honest agent publishes its effective cost once, with masks drawn for this run alone",
    "masks come from a cryptographic source and were erased",
)
NOT_COVERED = (
    "the curved parts of the costs",
    "the sum of the honest agents' affine parts, which the answer itself tells",
    "further runs on the same costs, which add up",
    "what the observer already knows about all other agents",
)
ASSUMPTIONS_OF_SUMS = (
    "links are private and authenticated",
    "every sum has masks of its own, which are erased",
    "masks come from a cryptographic source",
)
COMPUTATIONAL = "nobody can break X25519 or AES-256, from which both ends of a link draw its masks (computational)"
NOT_COVERED_BY_SUMS = (
    "the sums over all honest agents, with every point that they were taken at",
    "further runs with other agents, whose sums can be subtracted",
    "what the observer already knows about all other agents",
)

_BESIDE = {"quadratic cost": "penalties and limits", "hidden component": "what lies beside the basis"}


def statement(certificate: Certificate, distance: float) -> str:
    """Return the guarantee, its assumptions and its limits, in three sentences."""
    assumptions: tuple[str, ...] = ASSUMPTIONS_OF_SUMS if certificate.is_perfect else ASSUMPTIONS
    not_covered = NOT_COVERED_BY_SUMS if certificate.is_perfect else NOT_COVERED
    if certificate.computational:
        assumptions = (*assumptions, COMPUTATIONAL)
    if certificate.secret in _BESIDE:
        summed = f"the sum of the honest agents' {certificate.secret}s, which the answer tells"
        not_covered = (_BESIDE[certificate.secret], summed, *not_covered[2:])
    return " ".join(
        [
            headline(certificate, distance),
            f"This assumes that {_joined(assumptions)}.",
            f"It does not cover {_joined(not_covered)}.",
        ]
    )


def headline(certificate: Certificate, distance: float) -> str:
    """Return the one sentence that matters: a guess probability, or what is exposed."""
    who = f"An observer who controls {_observer(certificate)}"
    if certificate.exposed_agents:
        alone = "it" if len(certificate.exposed_agents) == 1 else "them"
        return (
            f"{who} learns the {certificate.secret} of {listed(certificate.exposed_agents)} exactly, because no "
            f"honest agent is linked to {alone}{_and_sums(certificate)}."
        )
    if certificate.exposed_sums:
        return f"{who} cuts the honest agents apart{_and_sums(certificate, lead=' and')}."
    if not math.isfinite(certificate.epsilon):
        return (
            f"No guarantee against coalitions of {certificate.guards} could be proven without a full search: "
            "the bound reaches down to zero."
        )
    if certificate.is_perfect:
        return f"{who} learns the sums over all other agents, and nothing else, however long it computes."
    rate = f"{100 * certificate.guess(distance):.1f} % of the time"
    rate = f"at most {rate}" if certificate.method == "bound" else f"{rate} at worst"
    return (
        f"{who} and must decide between two worlds of the same sum that differ by {distance:g} guesses right "
        f"{rate}, where a coin is right 50 % (ε = {certificate.epsilon:.3g}, σ = {certificate.sigma:g})."
    )


def _and_sums(certificate: Certificate, lead: str = ", and") -> str:
    groups = [agents for agents in certificate.exposed_sums if len(agents) > 1]
    if not groups:
        return ""
    return (
        f"{lead} learns the sum of the {certificate.secret}s of each piece: "
        f"{'; '.join(listed(group) for group in groups)}"
    )


def _observer(certificate: Certificate) -> str:
    nobody = f"no agent and sees all {'masked words' if certificate.is_perfect else 'effective costs'}"
    if certificate.guards is not None and not certificate.exposed_sums:
        if certificate.guards == 0:
            return nobody
        return f"any {'one agent' if certificate.guards == 1 else f'{certificate.guards} agents'}"
    coalition: tuple[Any, ...] = certificate.coalition or ()
    if not coalition:
        return nobody
    return f"{'agent' if len(coalition) == 1 else 'agents'} {listed(coalition)}"


def _joined(parts: tuple[str, ...]) -> str:
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"
