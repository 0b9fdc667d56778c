"""`tacit explore` as a server: on 127.0.0.1, on a free port, for whoever has the token, and for nobody else."""

from __future__ import annotations

import logging
import secrets
import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from tacit.errors import InputError, NetworkError
from tacit.explore.guard import Guard
from tacit.explore.sketch import Sketch

NEEDED = ("nicegui", "plotly", "jinja2")
HOST = "127.0.0.1"


def refuse_without_extra() -> None:
    """Refuse where nothing is installed that makes a page."""
    missing = next((name for name in NEEDED if find_spec(name) is None), None)
    if missing is not None:
        raise InputError(f"the explorer needs {missing}: pip install 'tacit[report]'.")


def listen(port: int) -> socket.socket:
    """Return a socket on the loopback; at a free port for 0."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
    except OSError as error:
        sock.close()
        raise NetworkError(f"cannot serve a page on port {port} of the loopback ({error.strerror}).") from error
    return sock


def serve(sketch: Sketch, name: str, *, watched: str = "", port: int = 0, on_ready: Callable[[str], None]) -> None:
    """Serve the page until somebody stops it; *on_ready* takes its address, and *watched* is a federation."""
    refuse_without_extra()
    import uvicorn
    from fastapi import FastAPI
    from nicegui import ui

    from tacit.explore.views.page import page

    sock = listen(port)
    port = sock.getsockname()[1]
    token = secrets.token_urlsafe(24)
    app = FastAPI(openapi_url=None)
    ui.run_with(
        app, root=lambda: page(sketch, name, watched), title="tacit explore", dark=None, favicon="◇",
        language="en-US", show_welcome_message=False, reconnect_timeout=30.0, tailwind=False,
    )  # fmt: skip
    guarded: Any = Guard(app, port=port, token=token)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready(f"http://{HOST}:{port}/?token={token}")

    config = uvicorn.Config(
        guarded, log_config=None, log_level=logging.ERROR, access_log=False, server_header=False
    )
    try:
        Server(config).run(sockets=[sock])
    except KeyboardInterrupt:
        pass
    finally:
        sock.close()
