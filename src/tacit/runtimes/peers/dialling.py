"""From here to a neighbour: a socket that ends there, straight, through a proxy, at a relay, or both.

A proxy is asked to connect to the host on this member's behalf. Where two members *meet*, the host is a relay, and
this member waits there until the neighbour calls, too.
"""

from __future__ import annotations

import asyncio
import socket

from tacit.protocol.meeting import Meeting, Reply
from tacit.runtimes.peers.proxies import DetourError, Proxy, exactly

_WORD = 60.0  # seconds within which a relay says again that nobody is there yet
_REFUSALS = {
    Reply.NOBODY: "nobody has come",
    Reply.FULL: "it is full",
    Reply.STRANGER: "it does not serve this run",
    Reply.CLOSING: "it is closing",
}


async def dialled(
    host: str, port: int, *, proxy: Proxy | None = None, meeting: Meeting | None = None, seconds: float
) -> socket.socket:
    """Return a socket to a neighbour; every step may take so many *seconds*, and waiting at a relay any time.

    Raises `OSError` where that fails: a `DetourError` where a proxy or a relay is what fails.
    """
    where = f"the relay at {host}:{port}" if meeting is not None else ""
    try:
        async with asyncio.timeout(seconds):
            raw = await _connected(host, port, proxy)
    except DetourError:
        raise
    except OSError as error:
        if not where:
            raise
        raise DetourError(f"{where} does not answer") from error
    if meeting is None:
        return raw
    try:
        await _meet(raw, meeting, seconds)
    except (OSError, EOFError) as error:
        raw.close()
        reason = str(error) if isinstance(error, DetourError) else "it hangs up"
        raise DetourError(f"{where}: {reason}") from error
    except BaseException:
        raw.close()
        raise
    return raw


async def _connected(host: str, port: int, proxy: Proxy | None) -> socket.socket:
    if proxy is None:
        return await connected(host, port)
    try:
        raw = await connected(proxy.host, proxy.port)
    except OSError as error:
        raise DetourError(f"{proxy} does not answer") from error
    try:
        await proxy.ask(raw, host, port)
    except BaseException:
        raw.close()
        raise
    return raw


async def connected(host: str, port: int) -> socket.socket:
    """Return a socket to the first address of *host* that answers."""
    loop = asyncio.get_running_loop()
    failure: OSError = ConnectionRefusedError(0, "unreachable")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        raw = socket.socket(family, kind, protocol)
        try:
            raw.setblocking(False)
            await loop.sock_connect(raw, address)
        except OSError as error:
            raw.close()
            failure = error
            continue
        except BaseException:
            raw.close()
            raise
        return raw
    raise failure


async def _meet(raw: socket.socket, meeting: Meeting, seconds: float) -> None:
    """Call a relay, and wait until it has joined this member with the other."""
    async with asyncio.timeout(seconds):
        await asyncio.get_running_loop().sock_sendall(raw, meeting.call)
    while True:
        async with asyncio.timeout(_WORD):
            word = await exactly(raw, 1)
        if word == Reply.JOINED.value:
            return
        if word != Reply.WAIT.value:
            raise DetourError(_refusal(word))


def _refusal(word: bytes) -> str:
    try:
        return _REFUSALS[Reply(word)]
    except ValueError:
        return "it is no relay of tacit"
