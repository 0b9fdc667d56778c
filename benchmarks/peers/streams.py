"""asyncio's streams over TLS 1.3, both sides authenticated: a length, then the bytes. Nothing is kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from benchmarks.peers.processes import Times
from benchmarks.peers.references import LENGTH, Place, timed
from tacit.runtimes.peers.identity import context


def streams(place: Place) -> Times:
    """Exchange over asyncio's streams."""
    return asyncio.run(_streams(place))


async def _streams(place: Place) -> Times:
    links: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
    complete = asyncio.Event()

    def linked(name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        links[name] = reader, writer
        if len(links) == len(place.neighbours):
            complete.set()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        linked((await reader.readline()).decode().strip(), reader, writer)

    server = await asyncio.start_server(
        accepted, "127.0.0.1", place.ports[place.me], ssl=context(*place.pair, place.trusted, server=True)
    )
    for name in filter(place.dials, place.neighbours):
        client = context(*place.pair, place.trusted, server=False)

        async def connect(name: str = name, client: Any = client) -> Any:
            return await asyncio.open_connection("127.0.0.1", place.ports[name], ssl=client)

        reader, writer = await _again(connect)
        writer.write(f"{place.me}\n".encode())
        linked(name, reader, writer)
    await complete.wait()
    frame = LENGTH.pack(len(place.vector)) + place.vector
    both = list(links.values())

    async def exchange() -> None:
        for _, writer in both:
            writer.write(frame)
        for reader, _ in both:
            (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
            await reader.readexactly(length)

    times = await timed(exchange, place.rounds)
    for _, writer in both:
        with contextlib.suppress(OSError):
            await writer.drain()
    await asyncio.sleep(0.5)
    server.close()
    return times


async def _again(connect: Callable[[], Any]) -> Any:
    """Dial until somebody answers."""
    while True:
        try:
            return await connect()
        except OSError:
            await asyncio.sleep(0.05)
