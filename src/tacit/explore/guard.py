"""Who may talk to the page: whoever has its address with the token, from a page of this server, and nobody else.

    Host     must be this server's own: a name that somebody lets point to 127.0.0.1 is refused
    Origin   must be this server's own where a browser sends one: other pages cannot ask, nor open a socket
    token    in the address, once; then a cookie for this port that no other site's request carries

A web application of the ASGI kind around another one; it covers pages, files and sockets alike.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
WebApplication = Callable[[Scope, Receive, Send], Awaitable[None]]

_HEADERS = (
    (b"content-security-policy",
     b"default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
     b"style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; form-action 'none'; "
     b"base-uri 'self'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)  # fmt: skip


class Guard:
    """Lets through what belongs to one page, and answers 403 to everything else."""

    def __init__(self, app: WebApplication, *, port: int, token: str) -> None:
        self.app, self.token = app, token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"tacit-explore-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        in_address = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if not self._is_ours(headers) or not (self._fits(in_address) or self._fits(self._in_cookie(headers))):
            await _refuse(scope, receive, send)
            return

        async def dressed(message: Scope) -> None:
            if message["type"] == "http.response.start":
                cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/".encode()
                extra = [(b"set-cookie", cookie)] if in_address else []
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS, *extra]}
            await send(message)

        await self.app(scope, receive, dressed)

    def _is_ours(self, headers: dict[str, str]) -> bool:
        host, origin = headers.get("host", ""), headers.get("origin")
        return host in self.hosts and origin in (None, f"http://{host}")

    def _fits(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.token.encode())

    def _in_cookie(self, headers: dict[str, str]) -> str:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return "" if morsel is None else morsel.value


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    body = b"This page opens with the whole address that was printed where it was started.\n"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
