"""Members who can only dial out, as people run them: `tacit relay`, `tacit agent` and proxies, a process each."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from tacit.protocol.meeting import CALL, read_call, token_of
from tacit.runtimes.peers.local import free_ports

pytestmark = pytest.mark.network

RNG = np.random.default_rng(5)
TABLES = {name: RNG.standard_normal((12, 4)) for name in ("clinic", "harbour", "mountain")}
SUMS = ["--links", "2", "--unknowns", "3", "--cost", "ridge", "--l2", "1.0"]
GOSSIP = [*SUMS, "--level", "affine", "--sigma", "10", "--algorithm", "nids", "--setting", "step_size=0.001"]
TACIT = [sys.executable, "-P", "-c", "from tacit.cli import main; main()"]


class Wire:
    """A wire to a relay that keeps what goes over it, one pair of byte strings for every connection."""

    def __init__(self, port):
        self._to, self.heard, self._ready = port, [], threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10.0)

    async def _serve(self):
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._called, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _called(self, reader, writer):
        kept = (bytearray(), bytearray())
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                there, back = await asyncio.open_connection("127.0.0.1", self._to)
                self.heard.append(kept)
                ways = [self._pump(reader, back, kept[0]), self._pump(there, writer, kept[1])]
                await asyncio.wait([asyncio.ensure_future(way) for way in ways], return_when="FIRST_COMPLETED")
                back.transport.abort()
        finally:
            writer.transport.abort()

    async def _pump(self, reader, writer, kept):
        while data := await reader.read(1 << 16):
            kept += data
            writer.write(data)
            await writer.drain()

    def close(self):
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10.0)


@pytest.fixture
def wire():
    made = []

    def to(port):
        made.append(Wire(port))
        return made[-1]

    yield to
    for each in made:
        each.close()


@pytest.fixture
def relay(tmp_path):
    """Return a function that starts `tacit relay` as a process; what it says is in a file."""
    running = []

    def start(port, *options):
        with (tmp_path / f"relay-{len(running)}.err").open("wb") as err:
            process = subprocess.Popen(
                [*TACIT, "relay", "--listen", f"127.0.0.1:{port}", *options], stdin=subprocess.DEVNULL, stderr=err
            )
        process.said = tmp_path / f"relay-{len(running)}.err"
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


def records_of_tls(data):
    """Return the types of the TLS records that these bytes are; fails where they are anything else."""
    kinds = []
    while data:
        kind, version, length = data[0], data[1:3], int.from_bytes(data[3:5])
        assert kind in (20, 21, 22, 23), "no TLS"
        assert version in (b"\x03\x01", b"\x03\x03")
        kinds.append(kind)
        data = data[5 + length :]
    return kinds


def test_two_hospitals_meet_at_a_relay_that_hears_tls_and_nothing_else(members, relay, wire, proxy, until):
    """Harbour and mountain only dial out, one by SOCKS5 and one by HTTP CONNECT; the last in the manifest listens."""
    (port,) = free_ports(1)
    tapped = wire(port)
    outside = {("relay.example", 7400): ("127.0.0.1", tapped.port)}
    proxies = [
        proxy(kind, login=("anna", "pass word"), rules=lambda *place: outside.get(place, place))
        for kind in ("socks5", "http")
    ]
    tables = {name: TABLES[name] for name in ("harbour", "mountain", "clinic")}
    options = [*SUMS, "--relay", "relay.example:7400"]
    trio = members(tables, family="ridge", options=options, inward=("harbour", "mountain"))
    trio.fix_keys()
    process = relay(port, "--only", str(trio.path("clinic", "federation.toml")), "--json")
    trio.start("clinic", "--json")
    for name, kind, gate in zip(("harbour", "mountain"), ("socks5", "http"), proxies, strict=True):
        trio.environment["TACIT_PROXY"] = f"{kind}://anna:pass%20word@127.0.0.1:{gate.port}"
        trio.start(name, "--json")
    assert np.array_equal(trio.answers(), trio.expected().x)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30.0) == 0
    session, names = trio.manifest.session(), [name.encode() for name in tables]
    calls = [(bytes(up), bytes(down)) for up, down in tapped.heard]
    assert {read_call(up[:CALL]).token for up, _ in calls} == {token_of(session, "harbour", "mountain")}
    for up, down in calls:
        for side, plain in ((up[CALL:], b""), (down.lstrip(b"W"), b"J")):
            assert side.startswith(plain)
            kinds = records_of_tls(side[len(plain) :])
            assert set(kinds) <= {20, 22, 23}, "handshake, and then ciphertext"
            assert kinds.count(22) <= 2, "everything after the first words is encrypted: certificates, too"
        both = up + down
        for word in (*names, b"clinic", session.encode(), bytes.fromhex(session), b"BEGIN CERTIFICATE", b"ridge"):
            assert word not in both
    said = [json.loads(line)["said"] for line in process.said.read_text().splitlines()]
    assert any("pair 1 joined" in line for line in said)
    for word in ("harbour", "mountain", session[:8]):
        assert word not in process.said.read_text()
    for name in tables:
        assert "pass" not in trio.err(name)


def test_a_relay_that_dies_in_the_middle_costs_time_and_nothing_else(members, relay, until):
    (port,) = free_ports(1)
    trio = members(
        TABLES, family="ridge", options=[*GOSSIP, "--relay", f"127.0.0.1:{port}"], inward=("clinic", "harbour")
    )
    trio.fix_keys()
    first = relay(port)
    for name in TABLES:
        trio.start(name, "--json")
    assert until(lambda: trio.at_work("clinic") and trio.at_work("harbour"), 60.0)
    first.kill()
    first.wait()
    assert until(lambda: "the relay at" in trio.err("clinic"), 60.0), trio.err("clinic")
    relay(port)
    trio.kill("harbour")  # and a member, too
    trio.start("harbour", "--json")
    assert np.array_equal(trio.answers(180.0), trio.expected().x)


def test_a_relay_serves_the_runs_that_it_is_told_to(members, relay, until):
    (port,) = free_ports(1)
    options = [*SUMS, "--relay", f"127.0.0.1:{port}", "--patience", "5"]
    trio = members(TABLES, family="ridge", options=options, inward=("clinic", "harbour"))
    other = trio.path("clinic", "other.toml")
    other.write_text(trio.path("clinic", "federation.toml").read_text().replace("run = 1", "run = 2"))
    relay(port, "--only", str(other))
    for name in TABLES:
        trio.start(name)
    assert [trio.wait(name) for name in TABLES] == [3, 3, 3]
    assert "it does not serve this run" in trio.err("clinic")


def test_check_says_who_only_dials_out_and_whether_the_relay_answers(members, relay, until):
    (port,) = free_ports(1)
    options = [*SUMS, "--relay", f"127.0.0.1:{port}"]
    trio = members(TABLES, family="ridge", options=options, inward=("clinic", "harbour"))

    def check(*more):
        done = subprocess.run(
            [*TACIT, "federation", "check", "federation.toml", "--me", "clinic", *more],
            cwd=trio.folder / "clinic", env=trio.environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout

    code, said = check()
    assert code == 3
    assert "clinic, only dials out, 2 neighbours" in said
    assert f"clinic and harbour both only dial out, and meet at the relay 127.0.0.1:{port}." in said
    assert f"Problem: the relay does not answer at 127.0.0.1:{port}: it may not be running yet." in said
    assert "Problem: mountain does not answer" in said
    assert "Problem: harbour" not in said
    process = relay(port)
    assert until(lambda: "listening" in process.said.read_text(), 30.0)
    code, said = check("--json")
    assert json.loads(said)["relay"] == {"address": f"127.0.0.1:{port}", "reached": True}
