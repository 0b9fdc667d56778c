"""Small real proxies for tests: SOCKS5 and HTTP CONNECT, with or without a login, in a thread of their own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import threading


class TestProxy:
    """A proxy on the loopback; *rules* turns (host, port) into where it really connects, or None to refuse."""

    __test__ = False

    def __init__(self, speak, *, login=None, rules=lambda host, port: (host, port)):
        self._speak, self.login, self.rules = speak, login, rules
        self.asked, self.ready, self._over = [], threading.Event(), None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self.ready.wait(10.0)

    async def _serve(self):
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._called, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self._over.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self):
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10.0)

    async def _called(self, reader, writer):
        try:
            with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
                await self._speak(self, reader, writer)
        finally:
            writer.transport.abort()

    async def connect(self, host, port, reader, writer, yes, no):
        """Answer with *yes* or *no*, and pass bytes on."""
        self.asked.append((host, port))
        where = self.rules(host, port)
        try:
            far_reader, far_writer = await asyncio.open_connection(*(where or ("127.0.0.1", 1)))
        except OSError:
            writer.write(no)
            await writer.drain()
            return
        writer.write(yes)
        try:
            ways = [asyncio.create_task(_pump(reader, far_writer)), asyncio.create_task(_pump(far_reader, writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
        finally:
            far_writer.transport.abort()


async def _pump(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


async def socks5(proxy, reader, writer):
    assert await reader.readexactly(1) == b"\x05"
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if proxy.login is None:
        writer.write(b"\x05\x00")
    elif 2 not in methods:
        writer.write(b"\x05\xff")
        return
    else:
        writer.write(b"\x05\x02")
        assert await reader.readexactly(1) == b"\x01"
        given = [await reader.readexactly((await reader.readexactly(1))[0]) for _ in range(2)]
        right = given == [part.encode() for part in proxy.login]
        writer.write(b"\x01" + (b"\x00" if right else b"\x01"))
        if not right:
            return
    assert await reader.readexactly(3) == b"\x05\x01\x00"
    kind = (await reader.readexactly(1))[0]
    if kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("idna")
    else:
        host = str(ipaddress.ip_address(await reader.readexactly({1: 4, 4: 16}[kind])))
    port = int.from_bytes(await reader.readexactly(2))
    bound = b"\x00\x01\x00\x00\x00\x00\x00\x00"
    await proxy.connect(host, port, reader, writer, b"\x05\x00" + bound, b"\x05\x05" + bound)


async def http(proxy, reader, writer):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    lines = head.split("\r\n")
    method, target, version = lines[0].split()
    assert (method, version) == ("CONNECT", "HTTP/1.1")
    fields = dict(line.split(": ", 1) for line in lines[1:] if line)
    assert fields["Host"] == target
    if proxy.login is not None:
        wanted = "Basic " + base64.b64encode(":".join(proxy.login).encode()).decode()
        if fields.get("Proxy-Authorization") != wanted:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
    host, _, port = target.rpartition(":")
    yes = b"HTTP/1.1 200 Connection established\r\nX-Length: 3\r\n\r\n"
    await proxy.connect(host.strip("[]"), int(port), reader, writer, yes, b"HTTP/1.1 502 Bad Gateway\r\n\r\n")


SPEAKERS = {"socks5": socks5, "http": http}
