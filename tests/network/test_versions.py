"""Real members of different versions: refused by name on both sides, waited for, and welcome once they are upgraded."""

import contextlib
import logging
import socket
import ssl
import threading

import msgspec
import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.federation import Manifest, Masks, Member, Stop, join, participate
from tacit.federation.joining import seat_of
from tacit.protocol import Frame, Kind
from tacit.protocol import channel as channels
from tacit.runtimes.peers import Agent, refusing
from tacit.runtimes.peers.identity import write_key
from tacit.runtimes.peers.local import free_ports

NAMES = ("alpha", "beta", "gamma")
POINTS = np.array([[1.0, -2.0], [2.0, 4.0], [6.0, 1.0]])


def found(folder, **more):
    members = {
        name: Member(f"127.0.0.1:{port}", write_key(folder, name)[1].read_text())
        for name, port in zip(NAMES, free_ports(3), strict=True)
    }
    return Manifest(
        title="versions", run=1, unknowns=2, links=[("alpha", "beta"), ("beta", "gamma"), ("alpha", "gamma")],
        members=members, privacy=Masks("sums"), algorithm={"name": "direct"}, stop=Stop(patience=60.0), **more,
    )  # fmt: skip


@contextlib.contextmanager
def running(*agents):
    """Run agents in threads, and check at the end that all agree."""
    outcomes = {}

    def run(agent):
        outcomes[agent.me] = agent.run()

    threads = [threading.Thread(target=run, args=(agent,), daemon=True) for agent in agents]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(60.0)
    for agent in agents:
        np.testing.assert_allclose(outcomes[agent.me].x, POINTS.mean(axis=0), atol=1e-6)


def cost_of(name):
    return tacit.Quadratic.distance(POINTS[NAMES.index(name)])


def client(key):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.load_cert_chain(key.with_suffix(".crt"), key)
    return made


def greet(manifest, key, name, to, **changes):
    """Greet as a made-up tacit would, with a member's key; return what is heard until the link is closed."""
    hello = msgspec.to_builtins(channels.Hello(manifest.session(), manifest.parts(), name, to, 0)) | changes
    heard, port = b"", int(manifest.members[to].address.rpartition(":")[2])
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), timeout=15.0) as plain,
        client(key).wrap_socket(plain) as link,
    ):
        link.sendall(Frame(Kind.HELLO, 0, 0, msgspec.json.encode(hello)).encode())
        while data := link.recv(1 << 16):
            heard += data
    return heard


def test_a_newer_neighbour_is_refused_by_name_and_welcome_with_the_right_version(tmp_path, caplog, until):
    manifest = found(tmp_path)
    alpha, beta, gamma = (
        join(manifest, cost_of(name), me=name, key=tmp_path / f"{name}.key", folder=tmp_path, durable=False)
        for name in NAMES
    )
    with (
        caplog.at_level(logging.WARNING, logger="tacit.peers"),
        running(alpha, beta),
        contextlib.ExitStack() as later,
    ):
        assert until(lambda: alpha.connections and beta.connections and alpha.connections.neighbours["beta"].open)
        key = tmp_path / "gamma.key"
        heard = greet(manifest, key, "gamma", "alpha", protocol=9, software="4.2.0", compression="zstd")
        assert msgspec.json.decode(heard[21:])["protocol"] == manifest.protocol, "and gamma hears why"
        assert "gamma speaks protocol 9, this run is pinned to 1" in caplog.text
        assert "(it has 4.2.0)" in caplog.text
        before = caplog.text
        assert greet(manifest, write_key(tmp_path, "stranger")[0], "gamma", "alpha", protocol=8) == b""
        assert "protocol 8" not in caplog.text[len(before) :], "what is not authenticated is not believed"
        later.enter_context(running(gamma))


def test_an_older_member_ends_with_a_sentence_and_its_neighbours_know_why(tmp_path, caplog, until, monkeypatch):
    """Alpha and beta have a made-up newer tacit; gamma has this one, is told to upgrade it, and comes back with it."""
    monkeypatch.setattr(refusing, "_TOLD_WITHIN", 30.0)
    manifest = found(tmp_path, protocol=2)
    monkeypatch.setattr(channels, "SPOKEN", (1, 2))
    alpha, beta, gamma = (
        Agent(
            manifest.job(), seat_of(manifest, name), cost_of(name),
            key=tmp_path / f"{name}.key", folder=tmp_path, durable=False,
        )
        for name in NAMES
    )  # fmt: skip
    with (
        caplog.at_level(logging.WARNING, logger="tacit.peers"),
        running(alpha, beta),
        contextlib.ExitStack() as later,
    ):
        assert until(lambda: alpha.connections and beta.connections and alpha.connections.neighbours["beta"].open)
        monkeypatch.setattr(channels, "SPOKEN", (1,))
        with pytest.raises(
            InputError, match="this run is pinned to protocol 2, and this tacit .* speaks 1: upgrade it"
        ):
            participate(manifest, tmp_path / "gamma.csv", me="gamma", key=tmp_path / "gamma.key")
        assert (
            caplog.text.count("gamma speaks protocol 1, this run is pinned to 2: ask gamma to upgrade tacit") >= 2
        )
        assert not list(tmp_path.glob("gamma-*"))
        monkeypatch.setattr(channels, "SPOKEN", (1, 2))
        later.enter_context(running(gamma))
