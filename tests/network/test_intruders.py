"""Real mutual TLS on loopback with somebody on it who should not be: nobody gets in, and no run stops or changes."""

from __future__ import annotations

import contextlib
import datetime
import gc
import math
import random
import re
import socket
import ssl
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import tacit
from tacit.errors import FileError, InputError, NetworkError, OutdatedError, ProtocolError, TacitError
from tacit.federation import Manifest, Member, join
from tacit.federation.sections import Masks, Stop
from tacit.protocol import Channel, Dialogue, Frame, Kind, encode, longest
from tacit.protocol import channel as channels
from tacit.runtimes.peers import Agent
from tacit.runtimes.peers import connections as wires
from tacit.runtimes.peers import durable_links as peer_links
from tacit.runtimes.peers.connections import Connections, Neighbour
from tacit.runtimes.peers.identity import context, der, write_key
from tacit.runtimes.peers.local import free_ports

POINTS = np.array([[1.0, -2.0], [2.0, 4.0], [6.0, 1.0]])
ANSWER = POINTS.mean(axis=0)
NAMES = ("alpha", "beta", "gamma")  # alpha – beta – gamma: beta dials alpha, and gamma dials beta
PATIENCE = 45.0


@dataclass
class Federation:
    """Three members, their keys and their manifest."""

    folder: Path
    manifest: Manifest

    def port(self, name: str) -> int:
        return int(self.manifest.members[name].address.rpartition(":")[2])

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def agent(self, name: str) -> Agent:
        cost = tacit.Quadratic.distance(POINTS[NAMES.index(name)])
        return join(self.manifest, cost, me=name, key=self.key(name), folder=self.folder, durable=False)

    def hello(self, name: str, to: str, *, manifest: Manifest | None = None, wanted: int = 0) -> bytes:
        """What an honest member would say first."""
        manifest = manifest or self.manifest
        told = channels.Hello(manifest.session(), manifest.parts(), name, to, wanted)
        return Frame(Kind.HELLO, 0, 0, msgspec.json.encode(told)).encode()

    def changed(self, **stop: float) -> Federation:
        return replace(self, manifest=msgspec.structs.replace(self.manifest, stop=Stop(**stop)))


def found(folder: Path, links: list[tuple[str, str]], *, patience: float = PATIENCE, **more: object) -> Federation:
    members = {
        name: Member(f"127.0.0.1:{port}", write_key(folder, name)[1].read_text())
        for name, port in zip(NAMES, free_ports(len(NAMES)), strict=True)
    }
    settings: dict[str, object] = {
        "title": "intruders", "run": 1, "unknowns": 2, "links": links, "members": members,
        "privacy": Masks("affine", sigma=1.0), "algorithm": {"name": "nids", "step_size": 0.5},
        "stop": Stop(tolerance=1e-8, patience=patience),
    }  # fmt: skip
    return Federation(folder, Manifest(**{**settings, **more}))


@pytest.fixture
def federation(tmp_path):
    return found(tmp_path, [("alpha", "beta"), ("beta", "gamma")])


class Running:
    """Agents in threads."""

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}
        self.ends: dict[str, object] = {}
        self.threads: dict[str, threading.Thread] = {}

    def start(self, agent: Agent) -> Agent:
        def live() -> None:
            try:
                self.ends[agent.me] = agent.run()
            except Exception as error:
                self.ends[agent.me] = error

        self.agents[agent.me] = agent
        self.threads[agent.me] = threading.Thread(target=live, name=agent.me, daemon=True)
        self.threads[agent.me].start()
        return agent

    def join(self, timeout: float = 300.0) -> dict[str, object]:
        deadline = time.monotonic() + timeout
        for thread in self.threads.values():
            thread.join(max(0.0, deadline - time.monotonic()))
        assert not any(thread.is_alive() for thread in self.threads.values()), "an agent hangs"
        return self.ends

    def agree(self) -> None:
        """Check that all are well and at the optimum."""
        ends = self.join()
        for name in NAMES:
            if isinstance(ends[name], BaseException):
                raise ends[name]
            assert ends[name].verdict.status == "converged"
            np.testing.assert_allclose(ends[name].x, ANSWER, atol=1e-6)


def until(true: Callable[[], object], seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.005)
    return bool(true())


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# intruders ----------------------------------------------------------------------------------------------


def client(key: Path | None, *, certificate: Path | None = None) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if key is not None:
        made.load_cert_chain(certificate or key.with_suffix(".crt"), key)
    return made


@contextlib.contextmanager
def dialled(port: int, tls: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
    with socket.create_connection(("127.0.0.1", port), timeout=15.0) as plain, tls.wrap_socket(plain) as link:
        yield link


def read_all(link: socket.socket, seconds: float = 15.0) -> bytes:
    """Read until the other side closes; fail where it does not."""
    link.settimeout(seconds)
    heard = b""
    try:
        while data := link.recv(1 << 16):
            heard += data
    except TimeoutError:
        pytest.fail("the link is still open")
    except OSError:
        pass
    return heard


def shut_out(port: int, tls: ssl.SSLContext) -> None:
    """Check that a client hears nothing at all from an agent."""
    try:
        with dialled(port, tls) as link:
            heard = read_all(link)
    except OSError:
        return
    assert heard == b""


def spoken(port: int, tls: ssl.SSLContext, *words: bytes, close: bool = False) -> bytes:
    """Say something over TLS; return what is heard until the agent closes the link."""
    try:
        with dialled(port, tls) as link:
            for word in words:
                link.sendall(word)
            return b"" if close else read_all(link)
    except OSError:  # closed while this side still spoke
        return b""


def stranger(federation: Federation) -> None:
    folder = federation.folder / "stranger"
    if not folder.exists():
        folder.mkdir()
        write_key(folder, "beta")  # under a neighbour's name
    shut_out(federation.port("alpha"), client(folder / "beta.key"))


def member_that_is_no_neighbour(federation: Federation) -> None:
    shut_out(federation.port("alpha"), client(federation.key("gamma")))


def neighbour_that_should_be_dialled_itself(federation: Federation) -> None:
    shut_out(federation.port("beta"), client(federation.key("alpha")))


def child_of_a_member(federation: Federation) -> None:
    """A certificate in a member's name, or for anybody, signed with a neighbour's key."""
    parent = x509.load_pem_x509_certificate(federation.key("beta").with_suffix(".crt").read_bytes())
    signer = serialization.load_pem_private_key(federation.key("beta").read_bytes(), None)
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    child = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "beta-child")]))
        .issuer_name(parent.subject)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(signer, hashes.SHA256())
    )
    path, pem = federation.folder / "child.key", serialization.Encoding.PEM
    path.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    chain = path.with_suffix(".crt")
    chain.write_bytes(child.public_bytes(pem) + parent.public_bytes(pem))
    shut_out(federation.port("alpha"), client(path))


def tls_1_2(federation: Federation) -> None:
    tls = client(federation.key("beta"))
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)), dialled(federation.port("alpha"), tls):
        pass


def no_certificate(federation: Federation) -> None:
    shut_out(federation.port("alpha"), client(None))


def no_tls(federation: Federation) -> None:
    with socket.create_connection(("127.0.0.1", federation.port("alpha")), timeout=15.0) as link:
        link.sendall(federation.hello("beta", "alpha"))
        assert Kind.HELLO not in read_all(link)[4:5]


def hang_up_at_once(federation: Federation) -> None:
    socket.create_connection(("127.0.0.1", federation.port("alpha")), timeout=15.0).close()


OUTSIDERS = [
    stranger, member_that_is_no_neighbour, neighbour_that_should_be_dialled_itself, child_of_a_member, tls_1_2,
    no_certificate, no_tls, hang_up_at_once,
]  # fmt: skip


def as_beta(federation: Federation, *words: bytes, close: bool = False) -> bytes:
    """Speak to alpha with beta's own key: what somebody could do who has stolen it, or beta's broken program."""
    return spoken(federation.port("alpha"), client(federation.key("beta")), *words, close=close)


def garbage(federation: Federation) -> None:
    as_beta(federation, np.random.default_rng(3).bytes(5000))


def oversized_frame(federation: Federation) -> None:
    hello = federation.hello("beta", "alpha")
    as_beta(federation, hello, (longest(2) + 1).to_bytes(4) + bytes([Kind.DATA]) + bytes(16))


def oversized_greeting(federation: Federation) -> None:
    as_beta(federation, (2**32 - 1).to_bytes(4) + bytes([Kind.HELLO]) + bytes(16))


def unknown_kind(federation: Federation) -> None:
    as_beta(federation, federation.hello("beta", "alpha"), bytes(4) + bytes([9]) + bytes(16))


def truncated_frame(federation: Federation) -> None:
    hello = federation.hello("beta", "alpha")
    as_beta(federation, hello[:30], close=True)
    as_beta(federation, hello + Frame(Kind.DATA, 0, 0, bytes(17)).encode()[:-5], close=True)


def another_members_name(federation: Federation) -> None:
    as_beta(federation, federation.hello("gamma", "alpha"))
    as_beta(federation, federation.hello("beta", "gamma"))


def another_session(federation: Federation) -> None:
    other = msgspec.structs.replace(federation.manifest, run=2)
    as_beta(federation, federation.hello("beta", "alpha", manifest=other))


def data_before_the_greeting(federation: Federation) -> None:
    as_beta(federation, Frame(Kind.DATA, 0, 0, encode(np.ones(2))).encode())


def message_from_the_future(federation: Federation) -> None:
    hello = federation.hello("beta", "alpha")
    as_beta(federation, hello, Frame(Kind.DATA, 10**6, 0, encode(np.ones(2))).encode())


def word_of_what_was_never_sent(federation: Federation) -> None:
    as_beta(federation, federation.hello("beta", "alpha"), Frame(Kind.PING, 0, 10**6).encode())


def wish_for_what_was_never_sent(federation: Federation) -> None:
    as_beta(federation, federation.hello("beta", "alpha", wanted=10**6))


def greeting_twice(federation: Federation) -> None:
    as_beta(federation, 2 * federation.hello("beta", "alpha"))


def flood_of_pings(federation: Federation) -> None:
    as_beta(federation, federation.hello("beta", "alpha"), 20_000 * Frame(Kind.PING).encode(), bytes(40))


def greeting_that_is_no_text(federation: Federation) -> None:
    hello = federation.hello("beta", "alpha").replace(b'"name":"beta"', b'"name":"bet\xff"')
    as_beta(federation, hello)


INSIDERS = {
    garbage: "unknown kind|announced",
    oversized_frame: "announced .* where a DATA holds at most",
    oversized_greeting: "announced 4294967295 bytes where a HELLO holds at most",
    unknown_kind: "unknown kind 9",
    truncated_frame: "",
    another_members_name: "greets as another member",
    another_session: "beta has another agreement, different in: run",
    data_before_the_greeting: "DATA where the link is NEW",
    message_from_the_future: "sent message 1000000 before message",
    word_of_what_was_never_sent: "never sent",
    greeting_twice: "HELLO where the link is OPEN",
    flood_of_pings: "unknown kind 0",
    greeting_that_is_no_text: "cannot be read",
}


def attacked(federation: Federation, attack: Callable[[Federation], None]) -> Running:
    """Run all agents; attack the first while it waits alone, and again while all are at work."""
    running = Running()
    running.start(federation.agent("alpha"))
    running.start(federation.agent("gamma"))
    assert until(lambda: listening(federation.port("alpha")))
    if attack is neighbour_that_should_be_dialled_itself:
        running.start(federation.agent("beta"))
        assert until(lambda: listening(federation.port("beta")))
    for _ in range(3):
        attack(federation)
    if "beta" not in running.agents:
        running.start(federation.agent("beta"))
    for _ in range(3):
        with contextlib.suppress(ConnectionRefusedError):  # the run may be over
            attack(federation)
    return running


@pytest.mark.parametrize("attack", OUTSIDERS, ids=lambda attack: attack.__name__)
def test_an_outsider_hears_nothing_and_changes_nothing(attack, federation):
    running = attacked(federation, attack)
    running.agree()
    for name, neighbour in running.agents["alpha"].connections.neighbours.items():
        assert neighbour.violations == 0, f"{name}: {neighbour.trouble}"


REFUSED = [
    pytest.param(
        attack,
        words,
        id=attack.__name__,
    )
    for attack, words in INSIDERS.items()
]


@pytest.mark.parametrize(("attack", "words"), REFUSED)
def test_a_neighbour_who_speaks_wrongly_is_refused_with_a_reason_and_changes_nothing(
    attack, words, federation, caplog
):
    running = attacked(federation, attack)
    running.agree()
    if words:
        told = "\n".join(record.getMessage() for record in caplog.records if record.name == "tacit.peers")
        assert running.agents["alpha"].connections.neighbours["beta"].violations >= 3
        assert re.search(words, told)


def test_a_member_that_says_more_was_sent_ends_the_run_and_is_named(federation):
    """The file may be an older one, and only the others can know: nothing is sent on the word of any of them."""
    running = Running()
    running.start(federation.agent("alpha"))
    assert until(lambda: listening(federation.port("alpha")))
    wish_for_what_was_never_sent(federation)
    assert until(lambda: "alpha" in running.ends)
    assert isinstance(running.ends["alpha"], OutdatedError)
    assert "beta" in str(running.ends["alpha"])


def test_a_refusal_tells_nothing_of_what_was_received(federation, caplog):
    secret = b"4711-secret"
    running = Running()
    running.start(federation.agent("alpha"))
    assert until(lambda: listening(federation.port("alpha")))
    as_beta(federation, Frame(Kind.HELLO, 0, 0, secret).encode())
    as_beta(federation, federation.hello("beta", "alpha"), Frame(Kind.DATA, 5, 0, secret).encode())
    assert until(lambda: running.agents["alpha"].connections.neighbours["beta"].violations >= 2)
    assert secret.decode() not in caplog.text
    running.start(federation.agent("beta"))
    running.start(federation.agent("gamma"))
    running.agree()


# silence --------------------------------------------------------------------------------------------------


def test_a_connection_that_says_nothing_is_dropped(federation, monkeypatch):
    monkeypatch.setattr(wires, "_HANDSHAKE", 0.8)
    running = Running()
    running.start(federation.agent("alpha"))
    assert until(lambda: listening(federation.port("alpha")))
    start = time.monotonic()
    with (
        socket.create_connection(("127.0.0.1", federation.port("alpha"))) as silent,
        dialled(federation.port("alpha"), client(federation.key("beta"))) as mute,
    ):
        mute_heard = read_all(mute)
        assert read_all(silent) == b""
    assert time.monotonic() - start > 0.5
    assert mute_heard[4] == Kind.HELLO  # a neighbour is greeted, and nothing else is said to it
    assert len(mute_heard) == 21 + int.from_bytes(mute_heard[:4])
    running.start(federation.agent("beta"))
    running.start(federation.agent("gamma"))
    running.agree()


def test_a_greeting_that_comes_byte_by_byte_is_dropped_in_time(federation, monkeypatch):
    monkeypatch.setattr(wires, "_HANDSHAKE", 0.5)
    with served(federation) as connections, dialled(connections.port, client(federation.key("beta"))) as slow:
        hello, dropped = federation.hello("beta", "alpha"), False
        slow.settimeout(0.2)
        try:
            for k in range(len(hello) - 1):
                slow.sendall(hello[k : k + 1])
                with contextlib.suppress(TimeoutError):
                    while slow.recv(1 << 16):
                        pass
                    dropped = True
                    break
        except OSError:
            dropped = True
        assert dropped


def test_a_link_that_falls_silent_after_the_greeting_is_closed(federation):
    with (
        served(federation, silence=0.4) as connections,
        dialled(connections.port, client(federation.key("beta"))) as link,
    ):
        link.sendall(federation.hello("beta", "alpha"))
        heard = read_all(link)
        assert connections.neighbours["beta"].trouble
    parsed = channels.Parser(longest(2)).feed(heard)
    assert {frame.kind for frame in parsed} == {Kind.HELLO, Kind.PING}


# channels under connections ---------------------------------------------------------------------------------


@contextlib.contextmanager
def served(federation: Federation, *, silence: float = 15.0) -> Iterator[Connections]:
    """Alpha's links alone, without an algorithm above them; beta and gamma may dial it."""
    manifest, neighbours, port = federation.manifest, {}, free_ports(1)[0]
    for name in ("beta", "gamma"):
        channel = Channel(
            me="alpha", neighbour=name, session=manifest.session(), parts=manifest.parts(), limit=longest(2)
        )
        certificate = der(manifest.members[name].certificate)
        neighbours[name] = Neighbour(name, "127.0.0.1", port, certificate, dials=False, channel=channel)
    trusted, key = [manifest.members[name].certificate for name in neighbours], federation.key("alpha")
    made = Connections(
        neighbours,
        listen=("127.0.0.1", port),
        server=context(key, key.with_suffix(".crt"), trusted, server=True),
        client=context(key, key.with_suffix(".crt"), trusted, server=False),
        silence=silence,
    )
    made.port = port
    made.start()
    try:
        yield made
    finally:
        made.stop()


def test_a_flood_of_messages_ends_the_link_and_not_the_memory(federation):
    with served(federation) as connections:
        flood = b"".join(Frame(Kind.DATA, k, 0, encode(np.ones(2))).encode() for k in range(6_000))
        spoken(connections.port, client(federation.key("beta")), federation.hello("beta", "alpha"), flood)
        beta, gamma = connections.neighbours["beta"], connections.neighbours["gamma"]
        assert until(lambda: beta.violations == 1)
        assert "flood" in beta.trouble
        assert len(beta.channel.inbox) == channels._AHEAD
        with dialled(connections.port, client(federation.key("gamma"))) as link:  # and the others are served
            link.sendall(federation.hello("gamma", "alpha") + Frame(Kind.DATA, 0, 0, encode(np.ones(2))).encode())
            assert until(lambda: gamma.channel.inbox)
        assert gamma.violations == 0


class Nonsense:
    """Frames that are nearly right, as a member would send them who knows the format."""

    END = b"\xff" * 5_000  # longer than any frame that was begun, and no frame itself

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311

    def burst(self, expected: int, count: int = 40) -> list[bytes]:
        """Return some frames from message *expected* on, of which a few are wrong, and something that is none.

        Each is to be sent by itself: of what comes together with something that is no frame, nothing is judged.
        """
        frames = []
        for _ in range(count):
            frames.append(self._frame(expected))
            expected += frames[-1][4] == Kind.DATA
        return [*frames, self.END]

    def _frame(self, expected: int) -> bytes:
        pick = self._random
        kind = pick.choice([Kind.DATA] * 6 + [Kind.PING] * 2 + [Kind.BYE])
        body = {
            Kind.DATA: pick.choice(b"fuix").to_bytes()
            + pick.randbytes(8 * pick.randrange(6) + pick.choice([0, 3])),
            Kind.PING: b"",
            Kind.BYE: pick.choice([b"", b"unfit", b"noted", b"lost"]),
        }[kind]
        if pick.random() < 0.95:
            return Frame(kind, expected, 0, body).encode()
        wrong = [
            Frame(kind, pick.getrandbits(64), 0, body),
            Frame(kind, expected, pick.getrandbits(64), body),
            Frame(Kind.HELLO, 0, 0, pick.randbytes(40)),
            Frame(Kind.BYE, 0, 0, pick.choice([b"stopped", b"stopped{}", pick.randbytes(9)])),
        ]
        frame = bytearray(pick.choice(wrong).encode())
        for _ in range(pick.choice([0, 1, 3])):
            frame[pick.randrange(len(frame))] = pick.randrange(256)
        return bytes(frame)


@pytest.mark.parametrize("frames", [100, pytest.param(100_000, marks=pytest.mark.endurance)])
def test_nonsense_from_a_member_is_refused_and_everybody_else_is_served(federation, frames, monkeypatch):
    """Frames are counted where they are judged: one that is refused ends its connection, and another begins."""
    judged, judge = 0, Dialogue._heard

    def heard(self, arrived):
        nonlocal judged
        judged += len(arrived)
        return judge(self, arrived)

    monkeypatch.setattr(Dialogue, "_heard", heard)
    with served(federation) as connections:
        beta, gamma = connections.neighbours["beta"], connections.neighbours["gamma"]
        tls, nonsense = client(federation.key("beta")), Nonsense(7)
        while judged < frames:
            spoken(connections.port, tls, federation.hello("beta", "alpha"), *nonsense.burst(beta.channel.expected))
            with connections.guard:
                assert len(beta.channel.inbox) <= channels._AHEAD
                beta.channel.inbox.clear()
        assert connections.failure is None
        assert beta.violations > frames // 100
        with dialled(connections.port, client(federation.key("gamma"))) as link:
            link.sendall(federation.hello("gamma", "alpha") + Frame(Kind.DATA, 0, 0, encode(np.ones(2))).encode())
            assert until(lambda: gamma.channel.inbox)
        assert gamma.violations == 0


def test_the_newest_link_replaces_an_older_one(federation):
    with served(federation) as connections:
        tls, hello = client(federation.key("beta")), federation.hello("beta", "alpha")
        with dialled(connections.port, tls) as old, dialled(connections.port, tls) as new:
            old.sendall(hello)
            new.sendall(hello + Frame(Kind.DATA, 0, 0, encode(np.ones(2))).encode())
            read_all(old)
            assert until(lambda: connections.neighbours["beta"].channel.inbox)
            assert connections.neighbours["beta"].open


def test_an_old_session_played_again_changes_nothing(federation):
    with served(federation) as connections:
        tls, beta = client(federation.key("beta")), connections.neighbours["beta"]
        session = federation.hello("beta", "alpha") + b"".join(
            Frame(Kind.DATA, k, 0, encode(np.full(2, float(k)))).encode() for k in range(5)
        )
        for _ in range(3):
            with dialled(connections.port, tls) as link:
                link.sendall(session)
                assert until(lambda: len(beta.channel.inbox) == 5)
        assert list(beta.channel.inbox) == [encode(np.full(2, float(k))) for k in range(5)]
        assert beta.violations == 0


def test_many_strangers_at_once_do_not_keep_a_neighbour_out(federation):
    with served(federation) as connections, contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", connections.port), timeout=15.0))
        with dialled(connections.port, client(federation.key("beta"))) as link:
            link.sendall(federation.hello("beta", "alpha"))
            assert until(lambda: connections.neighbours["beta"].open)


def test_callers_who_reset_or_are_cut_off_leave_no_socket_open(federation):
    """Neither a reset before the handshake nor an end in the middle of an accept loses a socket."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        with served(federation) as connections, contextlib.ExitStack() as stack:
            for _ in range(200):
                caller = socket.create_connection(("127.0.0.1", connections.port), timeout=15.0)
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                caller.close()
            with dialled(connections.port, client(federation.key("beta"))) as link:
                link.sendall(federation.hello("beta", "alpha"))
                assert until(lambda: connections.neighbours["beta"].open)
            for _ in range(50):  # still knocking when the agent stops
                stack.enter_context(socket.create_connection(("127.0.0.1", connections.port), timeout=15.0))
        gc.collect()
    assert [str(each.message) for each in caught if "unclosed" in str(each.message)] == []


def test_links_that_have_closed_by_themselves_can_still_be_stopped(federation, monkeypatch):
    """The steward may see that all is over, and close the loop, before it is asked to."""
    with served(federation) as connections:
        connections.stop()
        assert connections._loop.is_closed()
        monkeypatch.setattr(connections._thread, "is_alive", lambda: True)
        connections.stop()


def test_two_neighbours_are_up_at_once(federation):
    with served(federation) as connections, contextlib.ExitStack() as stack:
        for name, neighbour in connections.neighbours.items():
            link = stack.enter_context(dialled(connections.port, client(federation.key(name))))
            link.sendall(federation.hello(name, "alpha"))
            assert until(lambda neighbour=neighbour: neighbour.open)
        assert all(neighbour.open for neighbour in connections.neighbours.values())


# members that are wrong themselves ------------------------------------------------------------------------------


def spoilt(monkeypatch, name: str, spoil: Callable[[np.ndarray], bytes], *, after: int) -> None:
    """Let one agent's messages go wrong after so many."""
    count = 0

    def wrong(array: np.ndarray) -> bytes:
        nonlocal count
        if threading.current_thread().name != name:
            return encode(array)
        count += 1
        return spoil(array) if count > after and array.dtype.kind == "f" and array.size == 2 else encode(array)

    monkeypatch.setattr(peer_links, "encode", wrong)


@pytest.mark.parametrize(("bad", "after"), [(math.nan, 0), (math.nan, 40), (math.inf, 0), (1e300, 0), (-1e300, 40)])
def test_an_absurd_number_ends_in_an_error_that_names_its_sender_and_never_in_an_answer(
    bad, after, tmp_path, monkeypatch
):
    federation = found(tmp_path, [("alpha", "beta"), ("beta", "gamma")], patience=4.0)
    spoilt(monkeypatch, "beta", lambda array: b"f" + np.full(array.size, bad).tobytes(), after=after)
    running = Running()
    for name in NAMES:
        running.start(federation.agent(name))
    ends = running.join()
    assert all(isinstance(end, NetworkError) for end in ends.values()), ends
    told = [str(end) for end in ends.values() if isinstance(end, ProtocolError)]
    assert told
    reason = "a number beyond 1e+100" if math.isfinite(bad) else "NaN or infinity instead of a number"
    assert all(each.startswith(f"beta sent {reason}") for each in told)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda array: encode(array[:1]), id="one number for all"),
        pytest.param(lambda array: encode(array[:0]), id="no number"),
        pytest.param(lambda array: encode(np.concatenate([array, array])), id="too many numbers"),
        pytest.param(lambda array: encode(array.view(np.int64)), id="integers for floats"),
    ],
)
def test_a_message_of_the_wrong_size_or_kind_ends_in_a_clear_error_and_never_in_an_answer(
    spoil, tmp_path, monkeypatch
):
    federation = found(tmp_path, [("alpha", "beta"), ("beta", "gamma")], patience=4.0)
    spoilt(monkeypatch, "beta", spoil, after=12)
    running = Running()
    for name in NAMES:
        running.start(federation.agent(name))
    ends = running.join()
    assert all(isinstance(end, NetworkError) for end in ends.values()), ends
    told = [str(end) for end in ends.values() if isinstance(end, ProtocolError)]
    assert told
    assert all(each.startswith("beta sent ") for each in told)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_false_server_cannot_end_the_links_of_an_agent_that_dials_it(tmp_path):
    federation = found(tmp_path, [("alpha", "beta"), ("beta", "gamma")])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(federation.key("alpha").with_suffix(".crt"), federation.key("alpha"))
    running = Running()
    with socket.create_server(("127.0.0.1", federation.port("alpha"))) as server:
        running.start(federation.agent("beta"))
        server.settimeout(15.0)
        with tls.wrap_socket(server.accept()[0], server_side=True) as link:
            link.sendall(federation.hello("alpha", "beta").replace(b'"name":"alpha"', b'"name":"alph\xff"'))
            read_all(link)
    for name in ("alpha", "gamma"):
        running.start(federation.agent(name))
    running.agree()


def test_a_server_with_another_members_key_is_not_spoken_to(federation):
    """Gamma's key at alpha's address: TLS accepts it from beta's neighbour, and the pin does not."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(federation.key("gamma").with_suffix(".crt"), federation.key("gamma"))
    running = Running()
    with socket.create_server(("127.0.0.1", federation.port("alpha"))) as server:
        beta = running.start(federation.agent("beta"))
        server.settimeout(15.0)
        with tls.wrap_socket(server.accept()[0], server_side=True) as link:
            assert read_all(link) == b""
        assert until(lambda: beta.connections.neighbours["alpha"].violations)
        assert "certificate" in beta.connections.neighbours["alpha"].trouble
    for name in ("alpha", "gamma"):
        running.start(federation.agent(name))
    running.agree()


def test_a_damaged_file_is_an_error_with_a_sentence(federation):
    agent = federation.agent("alpha")
    agent.file.write_bytes(b"not a database, and nothing like one" * 40)
    agent.file.chmod(0o600)
    with pytest.raises(FileError, match="is damaged"):
        agent.run()


# keys and manifests ---------------------------------------------------------------------------------------------


def test_an_agent_refuses_a_key_that_others_can_read(federation):
    federation.key("alpha").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        federation.agent("alpha")


def test_an_agent_refuses_a_key_that_is_not_its_own(federation):
    cost = tacit.Quadratic.distance(POINTS[0])
    with pytest.raises(InputError, match="not the certificate by which the others know alpha"):
        join(federation.manifest, cost, me="alpha", key=federation.key("beta"), folder=federation.folder)


def test_a_manifest_with_one_certificate_for_two_members_is_refused(federation):
    members = dict(federation.manifest.members)
    members["gamma"] = Member(members["gamma"].address, members["alpha"].certificate)
    twice = replace(federation, manifest=msgspec.structs.replace(federation.manifest, members=members))
    with pytest.raises(TacitError, match="certificate"):
        twice.agent("beta")
