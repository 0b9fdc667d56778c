"""gRPC: `grpc.aio` with mutual TLS, a bidirectional stream a link. Calls are slower."""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.peers.processes import Times
from benchmarks.peers.references import Place, timed


def grpc_streams(place: Place) -> Times:
    """Exchange over one bidirectional stream a link."""
    return asyncio.run(_streams(place))


async def _streams(place: Place) -> Times:
    import grpc

    links: dict[str, Any] = {}
    complete, over = asyncio.Event(), asyncio.Event()

    def linked(name: str, stream: Any) -> None:
        links[name] = stream
        if len(links) == len(place.neighbours):
            complete.set()

    async def accepted(_: Any, stream: Any) -> None:
        linked((await stream.read()).decode(), stream)
        await over.wait()

    server = await _grpc_server(place, grpc.stream_stream_rpc_method_handler(accepted))
    channels = []
    for name in filter(place.dials, place.neighbours):
        channels.append(await _grpc_channel(place, name))
        stream = channels[-1].stream_stream("/peers/exchange")()
        await stream.write(place.me.encode())
        linked(name, stream)
    await complete.wait()
    streams = list(links.values())

    async def exchange() -> None:
        for stream in streams:
            await stream.write(place.vector)
        for stream in streams:
            await stream.read()

    return await _grpc_end(await timed(exchange, place.rounds), over, channels, server)


async def _grpc_server(place: Place, handler: Any) -> Any:
    import grpc

    trusted = "\n".join(place.certificates[name] for name in place.neighbours).encode()
    key = (place.folder / f"{place.me}.key").read_bytes()
    pair = (key, place.certificates[place.me].encode())
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("peers", {"exchange": handler}),))
    credentials = grpc.ssl_server_credentials([pair], trusted, require_client_auth=True)
    server.add_secure_port(f"127.0.0.1:{place.ports[place.me]}", credentials)
    await server.start()
    return server


async def _grpc_channel(place: Place, name: str) -> Any:
    import grpc

    key = (place.folder / f"{place.me}.key").read_bytes()
    credentials = grpc.ssl_channel_credentials(
        place.certificates[name].encode(), key, place.certificates[place.me].encode()
    )
    options = [
        ("grpc.ssl_target_name_override", name),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 200),
    ]
    channel = grpc.aio.secure_channel(f"127.0.0.1:{place.ports[name]}", credentials, options)
    await channel.channel_ready()
    return channel


async def _grpc_end(times: Times, over: asyncio.Event, channels: list[Any], server: Any) -> Times:
    await asyncio.sleep(0.5)  # a neighbour may still be reading
    over.set()
    for channel in channels:
        await channel.close()
    await server.stop(None)
    return times
