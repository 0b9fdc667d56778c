"""The network with a coalition in it: who is exposed, which sums are learnt, which links would help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx
import plotly.graph_objects as go

from tacit.listing import listed
from tacit.network import Network
from tacit.report.palette import LIGHT
from tacit.report.style import picture, plain

if TYPE_CHECKING:
    from tacit.certificates import Certificate

Place = tuple[float, float]
_NAMED = 60  # agents up to which every one is named in the picture
_STRESSED = 150  # agents up to which distances on the page follow those in the network


def network(
    graph: nx.Graph[Any] | Network,
    certificate: Certificate | None = None,
    *,
    suggested: Iterable[tuple[Any, Any]] = (),
    places: Mapping[Any, Place] | None = None,
) -> go.Figure:
    """Draw a network; with a certificate, what its coalition learns.

    Corrupted agents are squares, agents whose number is learnt are crossed red diamonds, and a piece whose sum is
    learnt has a colour of its own. *suggested* links are dashed.
    """
    net, added = Network(graph), list(suggested)
    at = places or placed(_joined(net, added))
    roles = roles_in(net, certificate)
    title, says = _words(net, certificate, roles)
    if added and certificate is None:
        title = f"{title}, and {len(added)} to add (dashed)"
        says = f"{says} To add: {listed([f'{a} – {b}' for a, b in added])}."
    empty = {"visible": False, "showgrid": False}
    figure = picture(title, says, height=440, xaxis=empty, yaxis={**empty, "scaleanchor": "x"})
    _links(figure, [(net.agents[i], net.agents[j]) for i, j in net.links], at, LIGHT.edge, None)
    _links(figure, added, at, LIGHT.teal, "dash")
    for role in dict.fromkeys(roles.values()):
        _agents(figure, [agent for agent in net.agents if roles[agent] == role], at, role, named=len(net) <= _NAMED)
    return figure


def roles_in(net: Network, certificate: Certificate | None) -> dict[Any, str]:
    """Return what every agent is to a certificate's coalition: corrupted, exposed, in a sum, thin or honest."""
    if certificate is None:
        return dict.fromkeys(net.agents, "agent")
    roles = dict.fromkeys(net.agents, "honest")
    for agents in certificate.exposed_sums:
        roles |= dict.fromkeys(agents, "in a sum that is learnt")
    roles |= dict.fromkeys(certificate.without_privacy, "exposed")
    roles |= dict.fromkeys(certificate.exposed_agents, "exposed")
    return roles | dict.fromkeys(certificate.coalition or (), "corrupted")


def laid_out(net: Network) -> dict[Any, Place]:
    """Return where to draw every agent: the same places for the same network."""
    return placed(net.graph)


def _joined(net: Network, added: list[tuple[Any, Any]]) -> nx.Graph[Any]:
    """Return the network with the links that would help, so that none is drawn over another."""
    graph: nx.Graph[Any] = nx.Graph(net.graph)
    graph.add_edges_from(added)
    return graph


def placed(graph: nx.Graph[Any]) -> dict[Any, Place]:
    """Return where to draw every node."""
    if len(graph) <= _STRESSED:
        places = nx.kamada_kawai_layout(graph)
    else:
        places = nx.spring_layout(graph, seed=1, iterations=30, method="force")
    return {agent: (float(x), float(y)) for agent, (x, y) in places.items()}


_LOOKS = {
    "agent": ("circle", LIGHT.pale, LIGHT.blue),
    "honest": ("circle", LIGHT.pale, LIGHT.blue),
    "corrupted": ("square", LIGHT.orange, LIGHT.orange),
    "in a sum that is learnt": ("hexagon", LIGHT.sand, LIGHT.purple),
    "exposed": ("diamond-x", LIGHT.blush, LIGHT.red),
}


def _agents(figure: go.Figure, agents: list[Any], at: Mapping[Any, Place], role: str, *, named: bool) -> None:
    shape, fill, edge = _LOOKS[role]
    figure.add_scatter(
        x=[at[agent][0] for agent in agents], y=[at[agent][1] for agent in agents],
        mode="markers+text" if named else "markers", text=[plain(str(agent)) for agent in agents],
        textposition="top center",
        marker={"symbol": shape, "size": 16 if named else 8, "color": fill, "line": {"color": edge, "width": 2}},
        textfont={"color": edge if role == "exposed" else LIGHT.ink, "size": 12}, name=role, cliponaxis=False,
        customdata=[plain(str(agent)) for agent in agents], hovertemplate=f"%{{customdata}}<extra>{role}</extra>",
    )  # fmt: skip


def _links(
    figure: go.Figure, links: list[tuple[Any, Any]], at: Mapping[Any, Place], colour: str, dash: str | None
) -> None:
    if not links:
        return
    x = [value for a, b in links for value in (at[a][0], at[b][0], None)]
    y = [value for a, b in links for value in (at[a][1], at[b][1], None)]
    figure.add_scatter(
        x=x, y=y, mode="lines", line={"color": colour, "width": 2.4 if dash else 1.3, "dash": dash},
        hoverinfo="skip", name="links that would help" if dash else "links",
    )  # fmt: skip


def _words(net: Network, certificate: Certificate | None, roles: Mapping[Any, str]) -> tuple[str, str]:
    size = f"{len(net)} agents, {len(net.links)} links"
    if certificate is None:
        return size, f"A network of {size}."
    exposed = [agent for agent, role in roles.items() if role == "exposed"]
    members = certificate.coalition or ()
    who = f"{listed(members)}{' together' * (len(members) > 1)}" if members else "Whoever listens"
    if certificate.guards:
        who = f"{'No' if certificate.is_private else 'Some'} coalition of {certificate.guards}"
    if exposed:
        title = f"{who} can read {listed(exposed)}"
    elif certificate.exposed_sums:
        title = f"{who} can read the sums of {len(certificate.exposed_sums)} pieces"
    else:
        what = "anybody's number" if certificate.guards else "nobody's number"
        title = f"{who} can read {what}" if certificate.is_private else "Nothing is guaranteed"
    return title, f"A network of {size}. {title}."
