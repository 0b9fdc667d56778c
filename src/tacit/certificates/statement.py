"""The certificate in words: what an observer can do, on what assumptions, and what is not covered."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.listing import conjoined, listed
from tacit.stamps import OF_THE_NETWORK, Reason, Stamp

if TYPE_CHECKING:
    from tacit.certificates.certificate import Certificate

GUESS = 0.51
"""How often a guess may be right where a difference still counts as hidden; a coin is right half of the time."""

_LAST = ", and "  # the parts of these lists are long, and have "and" in them
PRIVATE_LINKS = "links are private and authenticated"
ASSUMPTIONS = (
    PRIVATE_LINKS,
    "every honest agent publishes its effective cost once, with masks drawn for this run alone",
    "masks come from a cryptographic source and were erased",
)
ASSUMPTIONS_OF_SUMS = (
    PRIVATE_LINKS,
    "every sum has masks of its own, which are erased",
    "masks come from a cryptographic source",
)
COMPUTATIONAL = "nobody can break X25519 or AES-256, from which both ends of a link draw its masks (computational)"
LIES = "It holds whatever the observer sends. A lie about its own numbers is not noticed, and changes the answer."
LIES_IN_SUMS = (
    "It holds if the observer lies: telling different agents different sums is noticed before another masked "
    "number leaves, and ends the run. A lie about its own numbers is not noticed, and changes points and answer."
)
NOT_COVERED = (
    "further runs, which add up, and tell who came or went and what changed",
    "what the observer already knows about all other agents",
)
NOT_COVERED_BY_SUMS = (
    "the sums over all honest agents, with every point that they were taken at, which tell records that are few",
    "further runs with other agents or other data, whose sums can be subtracted",
    "what the observer already knows about all other agents",
)
NOT_COVERED_WITH_NOISE = (
    "what the sums over all honest agents tell with their noise, of which the promise about the answer speaks",
    "further runs, which add up",
    "what the observer already knows about all other agents",
)


def statement(certificate: Certificate) -> str:
    """Return the guarantee, its assumptions and its limits; first of all, for whom it does not hold, and why."""
    lines = privacy_lines(certificate.stamps, certificate)
    if any(stamp.voids and not stamp.agents for stamp in certificate.stamps):
        return " ".join([*lines, "Nothing is guaranteed."])
    return " ".join([*lines, *limits(certificate)])


def limits(certificate: Certificate) -> list[str]:
    """Return on what assumptions a guarantee stands, what liars can do, and what it does not cover."""
    assumptions: tuple[str, ...] = ASSUMPTIONS_OF_SUMS if certificate.is_perfect else ASSUMPTIONS
    if certificate.computational:
        assumptions = (*assumptions, COMPUTATIONAL)
    summed = f"the sum of the honest agents' {certificate.secret}s, which the answer itself tells"
    not_covered: tuple[str, ...] = NOT_COVERED_BY_SUMS
    if certificate.noisy:
        not_covered = (*(() if certificate.is_perfect else certificate.coverage.open), *NOT_COVERED_WITH_NOISE)
    elif not certificate.is_perfect:
        not_covered = (*certificate.coverage.open, summed, *NOT_COVERED)
    return [
        f"This assumes that {conjoined(assumptions, last=_LAST)}.",
        *([] if _sees_only(certificate) else [LIES_IN_SUMS if certificate.is_perfect else LIES]),
        f"It does not cover {conjoined(not_covered, last=_LAST)}.",
    ]


def privacy_lines(stamps: Iterable[Stamp], certificate: Certificate | None) -> list[str]:
    """Return what was hidden from whom, a line each: the voice of every command.

    First whoever is not protected, and why; then, for the others, how large a difference is hidden; cautions last.
    What a stamp has said of the network, no certificate says again.
    """
    stamps = list(stamps)
    voids = [stamp for stamp in stamps if stamp.voids]
    lines = [str(stamp) for stamp in voids]
    concerns_all = any(stamp.reason in OF_THE_NETWORK or not stamp.agents for stamp in voids)
    if certificate is not None and not concerns_all:
        lines.append("For all others: " * bool(voids) + headline(replace(certificate, stamps=())))
    return [*lines, *(str(stamp) for stamp in stamps if not stamp.voids)]


def exposing(stamps: Iterable[Stamp], certificate: Certificate) -> list[Stamp]:
    """Return *stamps*, with one more where the coalitions of a certificate learn what no stamp has said.

    Against nobody but outsiders the network's own stamps do not hold.
    """
    stamps = [stamp for stamp in stamps if certificate.guards != 0 or stamp.reason not in OF_THE_NETWORK]
    stamps += [stamp for stamp in certificate.stamps if stamp not in stamps]
    alone = replace(certificate, stamps=())
    if alone.is_private or any(stamp.voids and stamp.reason in OF_THE_NETWORK for stamp in stamps):
        return stamps
    sentence = headline(alone)
    agents = tuple(str(agent) for group in alone.exposed_sums for agent in group)
    reason: Reason = "coalition" if alone.exposed_sums else "not proven"
    return [*stamps, Stamp(reason=reason, sentence=sentence[0].lower() + sentence[1:], agents=agents)]


def headline(certificate: Certificate) -> str:
    """Return the one sentence that matters: how large a difference is hidden, or what is exposed."""
    stamp = next((stamp for stamp in certificate.stamps if stamp.voids), None)
    if stamp is not None:
        return str(stamp)
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
            f"No guarantee against coalitions of {certificate.guards} was proven, and none disproved: the bound "
            "reaches down to zero. Search without a bound, where the network is small enough, or add links."
        )
    if certificate.is_perfect:
        limit = "unless it breaks X25519 or AES-256" if certificate.computational else "however long it computes"
        lying = "" if _sees_only(certificate) else "; if it lies, at points of its choosing"
        noise = " with the noise of their shares" * certificate.noisy
        return f"{who} learns the sums over all other agents{noise}, and nothing else, {limit}{lying}."
    reach = "at least" if certificate.method == "bound" else "up to"
    reach = f"{reach} {certificate.hidden_difference():.3g}"
    return (
        f"Against an observer who controls {_observer(certificate)}, two worlds of the same sum may differ by "
        f"{reach} before a guess is right more than {100 * GUESS:.0f} % of the "
        f"time, where a coin is right 50 % (ε = {certificate.epsilon:.3g}, σ = {certificate.sigma:g})."
        f"{_at_declared(certificate)}"
    )


def _at_declared(certificate: Certificate) -> str:
    if certificate.hide is None:
        return ""
    bound = "at most " * (certificate.method == "bound")
    return (
        f" Where they differ by {certificate.hide:g}, which is to be hidden, a guess is right {bound}"
        f"{100 * certificate.guess(certificate.hide):.1f} % of the time."
    )


def _and_sums(certificate: Certificate, lead: str = ", and") -> str:
    groups = [agents for agents in certificate.exposed_sums if len(agents) > 1]
    if not groups:
        return ""
    return (
        f"{lead} learns the sum of the {certificate.secret}s of each piece: "
        f"{'; '.join(listed(group) for group in groups)}"
    )


def _sees_only(certificate: Certificate) -> bool:
    """Tell whether the observer controls nobody."""
    if certificate.guards is not None and not certificate.exposed_sums:
        return certificate.guards == 0
    return not certificate.coalition


def _observer(certificate: Certificate) -> str:
    if _sees_only(certificate):
        return f"no agent and sees all {'masked words' if certificate.is_perfect else 'effective costs'}"
    if certificate.guards is not None and not certificate.exposed_sums:
        return f"any {'one agent' if certificate.guards == 1 else f'{certificate.guards} agents'}"
    coalition: tuple[Any, ...] = certificate.coalition or ()
    return f"{'agent' if len(coalition) == 1 else 'agents'} {listed(coalition)}"
