"""The reports of a certificate, a design and links to add: public parameters only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx

from tacit.certificates import GUESSES, Augmentation, Certificate, Design
from tacit.listing import listed
from tacit.network import Network
from tacit.report import figures
from tacit.report.page import Listing, Page, Section


def certificate_page(
    certificate: Certificate,
    *,
    network: nx.Graph[Any] | Network | None = None,
    suggested: tuple[tuple[Any, Any], ...] = (),
) -> Page:
    """Return the page of *certificate*; with its *network*, who is exposed in it."""
    many = "" if certificate.guards == 1 else "s"
    against = f"any {certificate.guards} agent{many}" if certificate.guards is not None else ""
    against = against or (listed(certificate.coalition) if certificate.coalition else "whoever listens")
    sections = []
    if network is not None:
        pictures = [figures.network(network, certificate, suggested=suggested)]
        words = [f"{len(suggested)} dashed link(s) would protect them."] if suggested else []
        sections.append(Section("The network", figures=pictures, words=words))
    return Page(
        title=f"Certificate against {against}",
        verdict="private" if certificate.is_private else "NOT PRIVATE",
        good=certificate.is_private,
        statement=[certificate.statement()],
        sections=[*sections, *certificate_sections(certificate)],
    )


def certificate_sections(certificate: Certificate) -> list[Section]:
    """Return what a certificate says, drawn and listed."""
    numbers = Section("The numbers", tables=[_numbers(certificate), _agents(certificate)])
    if not certificate.is_private or certificate.is_perfect:
        return [numbers]
    pictures = [figures.hidden_difference(certificate), figures.guess(certificate), figures.tradeoff(certificate)]
    return [Section("How much is hidden", figures=pictures, tables=[_differences(certificate)]), numbers]


def design_page(design: Design) -> Page:
    """Return the page of a designed network."""
    agents, links = len(design.graph), design.graph.number_of_edges()
    page = certificate_page(design.certificate, network=design.graph)
    return replace(page, title=f"A network of {agents} agents with {links} links. {page.title}")


def augmentation_page(augmentation: Augmentation) -> Page:
    """Return the page of links to add."""
    links = augmentation.links
    some = f"{len(links)} link{'s' * (len(links) != 1)}"
    least = "no fewer suffice" if augmentation.exact else f"at least {augmentation.at_least} are needed"
    before: nx.Graph[Any] = nx.Graph(augmentation.graph)
    before.remove_edges_from(links)
    return Page(
        title=f"{some} to add",
        verdict=f"{some}, {least}",
        good=True,
        statement=[f"With {some} more the network is protected as asked; {least}."],
        sections=[
            Section(
                "The network",
                figures=[figures.network(before, suggested=links)],
                tables=[Listing("Links to add", ("from", "to"), [(str(a), str(b)) for a, b in links])],
            )
        ],
    )


def _differences(certificate: Certificate) -> Listing:
    rows = [(f"{100 * guess:g} %", f"{certificate.hidden_difference(guess):.6g}") for guess in GUESSES]
    return Listing("How far apart two worlds may be", ("a guess is right", "difference"), rows)


def _numbers(certificate: Certificate) -> Listing:
    name = "m_t" if certificate.guards is not None else "μ(L_H)"
    rows = [
        ("σ", "none: secret sums" if certificate.is_perfect else f"{certificate.sigma:g}"),
        (f"{name}, {certificate.method}", f"{certificate.mu:.6g}"),
        ("ε of Theorem 2", f"{certificate.epsilon:.6g}"),
        (
            "worst coalition" if certificate.guards is not None else "coalition",
            listed(certificate.coalition or ("–",)),
        ),
        ("hides", str(certificate.coverage)),
    ]
    return Listing("What the guarantee is made of", ("what", "value"), rows)


def _agents(certificate: Certificate) -> Listing:
    rows = []
    for agent, deviation in sorted(certificate.uncertainty.items(), key=lambda item: item[1]):
        exposed = agent in certificate.exposed_agents or agent in certificate.without_privacy
        summed = any(agent in agents for agents in certificate.exposed_sums)
        verdict = "✗ learnt exactly" if exposed else "Σ in a sum that is learnt" if summed else "✓ hidden"
        rows.append((str(agent), f"{deviation:.4g}", verdict))
    return Listing("Every honest agent", ("agent", "deviation of the best estimate", "verdict"), rows)
