"""Strangers by the thousand at the door: no descriptor is wanting, no member is kept out, and the bits are the same."""

import asyncio
import contextlib
import resource
import socket
import ssl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tacit.federation import join
from tacit.masks import AffineMasks
from tacit.runtimes.peers import door

HALF_A_HELLO = "160301020001"  # the beginning of a handshake that never goes on


@contextlib.contextmanager
def strangers(port, count, words=""):
    """Let strangers call, from a process of their own, until the end."""
    command = [sys.executable, "-I", str(Path(__file__).with_name("flood.py")), str(port), str(count), words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as flood:
        try:
            yield flood
        finally:
            flood.stdin.close()
            flood.wait(timeout=30.0)


@contextlib.contextmanager
def descriptors(limit):
    """Let this process have so few."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_there_is_room_for_a_part_of_the_descriptors_only():
    with descriptors(1024):
        assert door.room() == 240
    with descriptors(256):
        assert door.room() == 48
    with descriptors(128):
        assert door.room() == 16


@pytest.mark.parametrize("words", ["", HALF_A_HELLO], ids=["silent", "speaking"])
def test_a_run_among_strangers_ends_with_the_same_bits(federation, until, words):
    """All members but one have begun; the last one dials when the door is full."""
    made = federation(algorithm="nids", privacy=AffineMasks(10.0), n=4)
    expected = made.expected()
    made.found(patience=60.0)
    agents = {
        name: join(made.manifest, cost, me=name, key=made.folder / f"{name}.key", folder=made.folder, durable=False)
        for name, cost in zip(made.names, made.job.costs, strict=True)
    }
    first, last = made.names[0], made.names[-1]
    port = agents[first].seat.place.port
    with ThreadPoolExecutor(4) as pool, descriptors(256):
        running = {name: pool.submit(agent.run) for name, agent in agents.items() if name != last}
        assert until(lambda: agents[first].connections is not None and agents[first].connections._ready.is_set())
        with strangers(port, 400, words) as flood:
            assert flood.stdout.readline()
            running[last] = pool.submit(agents[last].run)
            outcomes = {name: each.result(timeout=60.0) for name, each in running.items()}
    assert np.array_equal(np.stack([outcomes[name].x for name in made.names]), expected.x)


RING = ["--cost", "ridge", "--level", "affine", "--sigma", "100", "--algorithm", "nids"]
RING += ["--setting", "step_size=0.002", "--l2", "1", "--unknowns", "4"]


@pytest.mark.network
@pytest.mark.parametrize("words", ["", HALF_A_HELLO], ids=["silent", "speaking"])
def test_five_thousand_strangers_and_a_member_that_is_killed_and_comes_back(members, until, words):
    """As people run them, with the 1 024 descriptors that a shell gives."""
    rng = np.random.default_rng(5)
    tables = {name: rng.standard_normal((20, 5)) for name in ("anna", "bert", "cora", "dora")}
    few = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh"]
    made = members(tables, family="ridge", options=RING, wrap=lambda name: few)
    made.fix_keys()
    expected = made.expected()
    *early, last = made.names
    for name in early:
        made.start(name, "--json")
    port = made.manifest.members["anna"].address.rpartition(":")[2]
    assert until(lambda: all(made.state(name).exists() for name in early))
    with strangers(port, 5000, words) as flood:
        assert flood.stdout.readline()
        made.start(last, "--json")
        assert until(lambda: made.at_work(last) or made.running[last].poll() is not None, 60.0)
        for name in ("bert", last):
            made.kill(name)
            made.start(name, "--json")
        answers = made.answers(seconds=300.0)
    assert np.array_equal(answers, expected.x)
    assert not any("Traceback" in made.err(name) for name in made.names)


# who goes where there is no room --------------------------------------------------------------------------------


class Knocking:
    """A door in a loop of its own, with callers from any address of the loopback."""

    def __init__(self, monkeypatch, places):
        monkeypatch.setattr(door, "room", lambda: places)
        self.loop = asyncio.new_event_loop()
        self.port = socket.create_server(("127.0.0.1", 0))
        self.port.setblocking(False)
        self.door = door.Door(
            [self.port],
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
            lambda tls: tls.abort(),
            handshake=60.0,
            loop=self.loop,
        )
        self.callers = []

    def call(self, host, words=b""):
        """Let one call, and the door do all there is to do."""
        caller = socket.create_connection(self.port.getsockname(), timeout=15.0, source_address=(host, 0))
        caller.sendall(words)
        self.callers.append(caller)
        for _ in range(4):
            self.loop.run_until_complete(asyncio.sleep(0))
        return caller

    def stays(self, caller):
        caller.setblocking(False)
        try:
            return caller.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


@pytest.fixture
def knocking(monkeypatch):
    made = Knocking(monkeypatch, places=6)
    made.loop.call_soon(made.door.open)
    yield made
    made.loop.call_soon(made.door.shut)
    for _ in range(4):
        made.loop.run_until_complete(asyncio.sleep(0))
    made.door.close()
    for caller in made.callers:
        caller.close()
    made.loop.close()


def test_one_who_speaks_stays_and_one_who_is_silent_goes(knocking):
    speaking = knocking.call("127.0.0.1", bytes.fromhex(HALF_A_HELLO))
    silent = [knocking.call("127.0.0.1") for _ in range(20)]
    assert knocking.stays(speaking)
    assert [knocking.stays(each) for each in silent] == [False] * 15 + [True] * 5


def test_one_from_an_address_of_its_own_stays_where_another_sends_many(knocking):
    words = bytes.fromhex(HALF_A_HELLO)
    alone = knocking.call("127.0.0.2", words)
    many = [knocking.call("127.0.0.3", words) for _ in range(20)]
    assert knocking.stays(alone)
    assert [knocking.stays(each) for each in many] == [False] * 15 + [True] * 5


def test_one_who_says_nothing_for_a_while_goes(knocking, monkeypatch):
    monkeypatch.setattr(door, "_FIRST_WORD", 0.0)
    silent = knocking.call("127.0.0.1")
    assert not knocking.stays(silent)


def test_where_no_descriptor_is_left_somebody_goes_and_the_next_one_comes_in(knocking, monkeypatch):
    """As where the process has opened all that it may."""
    monkeypatch.setattr(door, "_PAUSE", 0.0)
    first = knocking.call("127.0.0.1")
    with descriptors(first.fileno() + 8):
        spare = []
        with contextlib.suppress(OSError):
            while True:
                spare.append(socket.socket())
        caller = spare.pop()
        caller.settimeout(15.0)
        caller.connect(knocking.port.getsockname())
        for _ in range(8):
            knocking.loop.run_until_complete(asyncio.sleep(0))
        for each in spare:
            each.close()
    knocking.callers.append(caller)
    assert not knocking.stays(first)
    assert knocking.stays(caller)
    assert len(knocking.door._callers) == 1
