"""What a coalition learns in a network, as a page shows it: the sentence, a role for every agent, and the numbers.

The sentence is the certificate's own, and the numbers are its own: ε, the hidden difference, and how often a guess
between two worlds is right. `calibrate` reads the same numbers backwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tacit.certificates import Certificate, certify, headline
from tacit.errors import TacitError
from tacit.explore.sketch import Sketch
from tacit.listing import listed
from tacit.network import Network
from tacit.report.figures.network import roles_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What is to be shown of a sketch."""

    verdict: str
    """In a word or two."""
    good: bool
    sentence: str
    """What the coalition learns: what is printed for the same coalition on a command line."""
    roles: dict[str, str] = field(repr=False)
    """What every agent is to the coalition: corrupted, exposed, in a sum that is learnt, honest."""
    sums: tuple[tuple[str, ...], ...] = ()
    """The pieces the sum over which is learnt exactly."""
    numbers: tuple[tuple[str, str], ...] = ()
    """What there is to read off, with its value."""
    certificate: Certificate | None = field(default=None, repr=False)
    """None where nothing can be certified: a network in pieces, or nobody left to protect."""

    @property
    def first(self) -> str:
        """What one must read: the certificate's headline."""
        return self.sentence if self.certificate is None else headline(self.certificate)

    @property
    def learnt(self) -> str:
        """What is red in the drawing, in words."""
        exposed = [name for name, role in self.roles.items() if role == "exposed"]
        alone = f"Learnt exactly: {listed(exposed)}." if exposed else ""
        pieces = "; ".join(listed(piece) for piece in self.sums)
        return f"{alone} Sums that are learnt: {pieces}.".strip() if pieces else alone

    @property
    def shown_numbers(self) -> tuple[tuple[str, str], ...]:
        """The numbers, or dashes where there are none."""
        return self.numbers or (("hidden difference", "–"), ("a guess is right", "–"), ("ε", "–"))


def look_at(sketch: Sketch) -> Insight:
    """Return what the coalition of a sketch learns.

    >>> import networkx as nx
    >>> look_at(Sketch.of(nx.path_graph(3)).clicked(1)).roles
    {'0': 'exposed', '1': 'corrupted', '2': 'exposed'}
    """
    try:
        network = Network(sketch.graph)
        certificate = certify(network, sketch.coalition, sigma=sketch.width)
    except TacitError as error:
        roles = {str(agent): "corrupted" if agent in sketch.coalition else "honest" for agent in sketch.agents}
        return Insight(verdict="nothing to certify", good=False, sentence=_sentence(str(error)), roles=roles)
    return of_certificate(sketch, network, certificate)


def of_certificate(sketch: Sketch, network: Network, certificate: Certificate) -> Insight:
    """Return what is to be shown of a certificate for the network of a sketch."""
    roles = roles_in(network, certificate)
    return Insight(
        verdict="private" if certificate.is_private else "NOT PRIVATE",
        good=certificate.is_private,
        sentence=certificate.statement(),
        roles={str(agent): role for agent, role in roles.items()},
        sums=tuple(tuple(map(str, piece)) for piece in certificate.exposed_sums if len(piece) > 1),
        numbers=numbers(certificate, sketch.hide),
        certificate=certificate,
    )


def numbers(certificate: Certificate, hide: float) -> tuple[tuple[str, str], ...]:
    """Return the hidden difference, the guess at a difference of *hide*, and ε."""
    return (
        ("hidden difference", _number(certificate.hidden_difference())),
        (f"a guess at a difference of {hide:g} is right", f"{100 * certificate.guess(hide):.6g} %"),
        ("ε inside the pieces" if certificate.exposed_sums else "ε", _number(certificate.epsilon)),
    )


def describe(sketch: Sketch, insight: Insight) -> str:
    """Return the network and its coalition for whoever cannot see the drawing."""
    exposed = [name for name, role in insight.roles.items() if role == "exposed"]
    return (
        f"A network of {len(sketch.agents)} agents and {len(sketch.links)} links. "
        f"Corrupted: {listed(sketch.coalition or ('nobody',))}. Exposed: {listed(exposed or ('nobody',))}."
    )


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.6g}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
