"""A member's links, from its seat: who is dialled, who is let in, and what greets them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tacit.protocol import Channel
from tacit.runtimes.peers.connections import Connections, Neighbour
from tacit.runtimes.peers.identity import context, der
from tacit.runtimes.peers.seat import Seat


def channel(seat: Seat, name: str, *, limit: int, columns: str = "") -> Channel:
    """Return a new channel to a neighbour."""
    return Channel(
        me=seat.me, neighbour=name, session=seat.session, parts=dict(seat.parts), limit=limit, columns=columns
    )


def connections(
    seat: Seat,
    key: Path,
    channels: Mapping[str, Channel],
    *,
    listen: tuple[str, int] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Connections:
    """Return a member's links, not started yet."""
    members, order = seat.members, list(seat.members)
    neighbours = {}
    for name, through in channels.items():
        host, port, certificate = members[name]
        neighbours[name] = Neighbour(
            name=name,
            host=host,
            port=port,
            certificate=der(certificate),
            dials=order.index(name) < seat.index,
            channel=through,
        )
    trusted = [members[name].certificate for name in channels]
    own = key.with_suffix(".crt")
    return Connections(
        neighbours,
        listen=listen or seat.place[:2],
        server=context(key, own, trusted, server=True),
        client=context(key, own, trusted, server=False),
        idle=seat.silence,
        clock=clock,
    )
