"""Passing bytes on between two callers of a relay: as they come, as fast as both can, and never many at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tacit.protocol.meeting import Reply
from tacit.runtimes.peers.buckets import Bucket

ROOM = 1 << 16
"""Bytes that may be on their way in one direction of a pair, in each of two buffers."""
_LAST = 10.0  # seconds for what is on its way when one end has hung up


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a relay bears."""

    connections: int = 1024
    """Callers at a time; a pair is two of them. The descriptors of the process may allow fewer."""
    address: int = 256
    """Callers at a time from one address: members behind one proxy have the same."""
    calls: float = 10.0
    """Calls a second from one address, in the long run; ten seconds' worth at once."""
    rate: float = 0.0
    """Bytes a second in each direction of a pair; any number for 0."""
    waiting: float = 600.0
    """Seconds that one may wait for the other."""
    silence: float = 120.0
    """Seconds without a byte after which a pair is cut; agents say something every few seconds."""


class Caller:
    """One who has called."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        self.reader, self.writer = reader, writer
        self.joined: asyncio.Future[Caller] = loop.create_future()
        """Of one who waits: the other, when it comes. Cancelled where this one is sent away."""
        self.parted: asyncio.Future[None] = loop.create_future()
        """Of one who has found somebody waiting: done when the two have parted."""

    @property
    def other(self) -> Caller | None:
        """Whom it is joined with, if anybody."""
        return self.joined.result() if self.joined.done() and not self.joined.cancelled() else None

    def part(self) -> None:
        """Let it go."""
        if not self.parted.done():
            self.parted.set_result(None)

    async def answer(self, answer: Reply) -> None:
        """Say one byte."""
        self.writer.write(answer.value)
        await self.writer.drain()

    async def close(self) -> None:
        """Close the connection when everything has left."""
        self.writer.close()
        await self.writer.wait_closed()


async def pass_on(
    one: Caller, other: Caller, limits: Limits, passed: Counter[Caller], *, clock: Callable[[], float]
) -> None:
    """Pass bytes on both ways until either end hangs up; *passed* counts what came from each."""
    ways = [
        asyncio.ensure_future(_one_way(source, sink, limits, passed, clock))
        for source, sink in ((one, other), (other, one))
    ]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    async with asyncio.timeout(_LAST):
        await asyncio.gather(one.close(), other.close(), return_exceptions=True)


async def _one_way(
    source: Caller, sink: Caller, limits: Limits, passed: Counter[Caller], clock: Callable[[], float]
) -> None:
    bucket = Bucket(limits.rate, max(limits.rate, float(ROOM)), clock()) if limits.rate else None
    while True:
        async with asyncio.timeout(limits.silence):
            data = await source.reader.read(ROOM)
        if not data:
            return
        passed[source] += len(data)
        sink.writer.write(data)
        async with asyncio.timeout(limits.silence):
            await sink.writer.drain()  # waits where the other does not read: backpressure
        if bucket is not None and (pause := bucket.take(float(len(data)), clock())) > 0.0:
            await asyncio.sleep(pause)
