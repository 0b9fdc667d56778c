"""Only whoever has the address may talk to the page, and only from the page itself."""

import asyncio

import pytest

from tacit.explore.guard import Guard

PORT, TOKEN = 4321, "right"
HOST = "127.0.0.1:4321"


def asked(kind="http", query="", **headers):
    """Return what is answered to one request: the status of a page, or whether a socket opens."""
    sent = []

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        else:
            await send({"type": "websocket.accept"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": kind,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(Guard(app, port=PORT, token=TOKEN)(scope, receive, send))
    return sent[0]


def test_the_address_with_the_token_opens_the_page_and_leaves_a_cookie_for_this_site_alone():
    answer = asked(query="token=right", host=HOST)
    headers = dict(answer["headers"])
    assert answer["status"] == 200
    assert b"SameSite=Strict" in headers[b"set-cookie"]
    assert b"HttpOnly" in headers[b"set-cookie"]
    assert b"connect-src 'self'" in headers[b"content-security-policy"]


def test_the_cookie_opens_files_and_sockets():
    assert asked(host=HOST, cookie="tacit-explore-4321=right")["status"] == 200
    socket = asked("websocket", host=HOST, origin=f"http://{HOST}", cookie="tacit-explore-4321=right")
    assert socket["type"] == "websocket.accept"


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {"host": HOST}),
        ("token=wrong", {"host": HOST}),
        ("token=right", {"host": "evil.example:4321"}),
        ("token=right", {"host": "127.0.0.1:80"}),
        ("token=right", {}),
        ("token=right", {"host": HOST, "origin": "http://evil.example"}),
        ("token=right", {"host": HOST, "origin": "null"}),
        ("", {"host": HOST, "cookie": "tacit-explore-1=right"}),
    ],
)
def test_everything_else_is_refused(query, headers):
    assert asked(query=query, **headers)["status"] == 403
    assert asked("websocket", query=query, **headers) == {"type": "websocket.close", "code": 1008}
