"""Proxies through which a member dials: SOCKS5 (RFC 1928, RFC 1929) and HTTP CONNECT (RFC 9110, section 9.3.6).

A proxy is told where to connect, and passes bytes on from then on: TLS is with the member at the other end. Host
names are handed to the proxy as they are, which may know names that this machine does not. No more is read from
the socket than the proxy's own words: what follows is the other end's.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from tacit.errors import InputError

_LONGEST_HEADER = 1 << 14  # bytes of what an HTTP proxy answers
_PORTS = {"socks5": 1080, "http": 8080}
_SAME = {"socks5h": "socks5"}  # elsewhere the h says that the proxy looks names up, which it does here anyway
_REFUSALS = {
    1: "it has failed",
    2: "its rules do not allow it",
    3: "the network is unreachable",
    4: "the host is unreachable",
    5: "the connection was refused",
    6: "it took too long",
    7: "it cannot connect",
    8: "it does not know this kind of address",
}


class DetourError(OSError):
    """A proxy or a relay does not let this member through; says which one, where it is, and why."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where a proxy is, and how it is spoken to."""

    kind: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.kind}, {self.host}:{self.port})"

    def __str__(self) -> str:
        return f"the proxy at {self.host}:{self.port}"

    @classmethod
    def read(cls, url: str) -> Proxy:
        """Return the proxy of a URL, such as socks5://host:port or http://user:password@host:port.

        >>> Proxy.read("socks5://anna:secret@proxy.example:1080")
        Proxy(socks5, proxy.example:1080)
        """
        try:
            parts = urlsplit(url)
            kind, port = _SAME.get(parts.scheme, parts.scheme), parts.port
        except ValueError:
            kind, port, parts = "", None, urlsplit("")
        if kind not in _WORDS or not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise InputError(  # the URL itself may hold a password
                "a proxy is written as socks5://host:port or http://host:port, with user:password@ before the host "
                "if it asks for them."
            )
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if kind == "socks5" and max(len(user.encode()), len(password.encode())) > 255:
            raise InputError("a SOCKS5 proxy takes at most 255 bytes as a user, and as a password.")
        return cls(kind, parts.hostname, port or _PORTS[kind], user, password)

    async def ask(self, raw: socket.socket, host: str, port: int) -> None:
        """Have the proxy at the other end of *raw* connect to a host; raise `DetourError` where it does not."""
        try:
            await _WORDS[self.kind](self, raw, host, port)
        except DetourError as error:
            raise DetourError(f"{self}: {error}") from None
        except UnicodeError:
            raise DetourError(f"{self}: takes no host of that name") from None
        except (OSError, EOFError) as error:
            raise DetourError(f"{self} hangs up") from error


async def _socks5(proxy: Proxy, raw: socket.socket, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    methods = b"\x00\x02" if proxy.user else b"\x00"
    await loop.sock_sendall(raw, b"\x05" + bytes([len(methods)]) + methods)
    version, method = await exactly(raw, 2)
    if version != 5:
        raise DetourError("does not speak SOCKS5")
    if method == 2 and proxy.user:
        user, password = proxy.user.encode(), proxy.password.encode()
        await loop.sock_sendall(raw, b"\x01" + bytes([len(user)]) + user + bytes([len(password)]) + password)
        if (await exactly(raw, 2))[1] != 0:
            raise DetourError("does not accept the user or the password")
    elif method != 0:
        raise DetourError("asks for a user and a password" if not proxy.user else "wants another kind of login")
    await loop.sock_sendall(raw, b"\x05\x01\x00" + _address(host) + port.to_bytes(2))
    version, reply, _, kind = await exactly(raw, 4)
    if version != 5 or reply != 0:
        raise DetourError(f"cannot reach {host}:{port}: {_REFUSALS.get(reply, 'it says no')}")
    length = {1: 4, 4: 16}.get(kind)
    if kind == 3:
        (length,) = await exactly(raw, 1)
    if length is None:
        raise DetourError("does not speak SOCKS5")
    await exactly(raw, length + 2)


def _address(host: str) -> bytes:
    """Return a host as SOCKS5 spells it: a number, or a name that the proxy looks up."""
    with contextlib.suppress(ValueError):
        number = ipaddress.ip_address(host)
        return bytes([1 if number.version == 4 else 4]) + number.packed
    name = host.encode("idna")
    if not 0 < len(name) < 256:
        raise DetourError("takes no host with so long a name")
    return b"\x03" + bytes([len(name)]) + name


async def _connect(proxy: Proxy, raw: socket.socket, host: str, port: int) -> None:
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.user:
        login = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {login}")
    await asyncio.get_running_loop().sock_sendall(raw, ("\r\n".join(lines) + "\r\n\r\n").encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += await exactly(raw, 1)
        if len(answer) > _LONGEST_HEADER:
            raise DetourError("does not speak HTTP")
    status = re.match(rb"HTTP/1\.[01] (\d{3})\b", answer)
    if status is None:
        raise DetourError("does not speak HTTP")
    number = int(status[1])
    if number == 407:
        raise DetourError("asks for a user and a password" if not proxy.user else "does not accept the login")
    if not 200 <= number < 300:
        raise DetourError(f"cannot reach {host}:{port}: it answers {number}")


async def exactly(raw: socket.socket, count: int) -> bytes:
    """Return the next bytes of a socket, and leave what follows where it is."""
    loop, data = asyncio.get_running_loop(), b""
    while len(data) < count:
        more = await loop.sock_recv(raw, count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


_WORDS: dict[str, Callable[[Proxy, socket.socket, str, int], Awaitable[None]]] = {
    "socks5": _socks5,
    "http": _connect,
}
