"""A member's links, from the manifest: who is dialled, who is let in, and what greets them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tacit.protocol import Channel
from tacit.runtimes.peers.connections import Connections, Neighbour
from tacit.runtimes.peers.identity import context, der
from tacit.runtimes.peers.manifest import Manifest, address_of


def neighbours_of(manifest: Manifest, me: str) -> list[str]:
    """Return the names of those whom a member is linked to, in the manifest's order."""
    order, network = list(manifest.members), manifest.network()
    return [order[j] for j in network.neighbours(order.index(me))]


def channel(manifest: Manifest, me: str, name: str, *, limit: int, columns: str = "") -> Channel:
    """Return a new channel to a neighbour."""
    return Channel(
        me=me, neighbour=name, session=manifest.session(), parts=manifest.parts(), limit=limit, columns=columns
    )


def connections(
    manifest: Manifest,
    me: str,
    key: Path,
    channels: Mapping[str, Channel],
    *,
    listen: tuple[str, int] | None = None,
) -> Connections:
    """Return a member's links, not started yet."""
    members, order = manifest.members, list(manifest.members)
    neighbours = {}
    for name, through in channels.items():
        host, port = address_of(members[name])
        neighbours[name] = Neighbour(
            name=name,
            host=host,
            port=port,
            certificate=der(members[name].certificate),
            dials=order.index(name) < order.index(me),
            channel=through,
        )
    trusted = [members[name].certificate for name in channels]
    certificate = key.with_suffix(".crt")
    return Connections(
        neighbours,
        listen=listen or address_of(members[me]),
        server=context(key, certificate, trusted, server=True),
        client=context(key, certificate, trusted, server=False),
        idle=manifest.stop.idle,
    )
