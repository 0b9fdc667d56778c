"""A member's links, from its seat: who is dialled, who is let in, and what greets them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tacit.errors import InputError
from tacit.protocol import Channel
from tacit.protocol.record import Record, Stage
from tacit.runtimes.peers.connections import Connections, Neighbour
from tacit.runtimes.peers.identity import context, der
from tacit.runtimes.peers.proxies import Proxy
from tacit.runtimes.peers.seat import Seat
from tacit.runtimes.peers.store import Store


def channel(seat: Seat, name: str, *, limit: int, columns: str = "", limits: str = "") -> Channel:
    """Return a new channel to a neighbour."""
    return Channel(
        me=seat.me,
        neighbour=name,
        session=seat.session,
        parts=dict(seat.parts),
        limit=limit,
        columns=columns,
        limits=limits,
        protocol=seat.protocol,
        following=seat.following,
    )


def restored(
    seat: Seat, store: Store, *, limit: int, columns: str = "", limits: str = "", gossips: bool = False
) -> dict[str, Channel]:
    """Return the channels to all neighbours, with what was said and heard before, from wherever the run is.

    Where the algorithm *gossips*, a power cut may have taken what was said last.
    """
    record, position, outbox = store.record, store.position(), store.outbox()
    channels = {}
    for row, name in enumerate(record.neighbours):
        link = channel(seat, name, limit=limit, columns=columns, limits=limits)
        kept = outbox.get(row, [])
        if record.has_ended:  # nothing is computed again, and only goodbyes are missing
            sent, used = record.marks[row]
            link.restore(kept, [], cursor=sent, used=used)
            link.rewind(cursor=sent, used=used)
        else:
            sent, used = (position.cursors[row], position.used[row]) if position else (0, 0)
            link.restore(
                kept, store.journal(row), cursor=sent, used=used, forgetful=record.stage is Stage.ROUNDS and gossips
            )
        link.finished = name in record.goodbyes
        channels[name] = link
    return channels


def finished(seat: Seat, record: Record, *, limit: int, columns: str = "") -> dict[str, Channel]:
    """Return the channels of a run that is over, of which only the answer is left: goodbyes go over them."""
    channels = {}
    for name, mark in zip(record.neighbours, record.marks, strict=True):
        link = channel(seat, name, limit=limit, columns=columns)
        link.restore([], [], cursor=mark.sent, used=mark.used)
        link.rewind(cursor=mark.sent, used=mark.used)
        channels[name] = link
    return channels


def connections(
    seat: Seat,
    key: Path,
    channels: Mapping[str, Channel],
    *,
    listen: tuple[str, int] | None = None,
    proxy: Proxy | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Connections:
    """Return a member's links, not started yet; it dials through the *proxy*."""
    members = seat.members
    neighbours = {}
    for name, through in channels.items():
        host, port, certificate = members[name]
        meeting = seat.meeting(name)
        if meeting is not None:
            host, port = _relay(seat, name)
        neighbours[name] = Neighbour(
            name=name,
            host=host,
            port=port,
            certificate=der(certificate),
            dials=seat.dials(name),
            channel=through,
            meeting=meeting,
            proxy=proxy,
        )
    trusted = [members[name].certificate for name in channels]
    own = key.with_suffix(".crt")
    return Connections(
        neighbours,
        listen=listen or seat.listens,
        server=context(key, own, trusted, server=True),
        client=context(key, own, trusted, server=False),
        silence=seat.silence,
        clock=clock,
    )


def _relay(seat: Seat, name: str) -> tuple[str, int]:
    if seat.relay is None:
        raise InputError(f"{seat.me} and {name} both only dial out, and there is no relay for them to meet at.")
    return seat.relay
