"""Members who can only dial out: any order, a relay that learns nothing and can only cut, and proxies."""

import asyncio
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.federation import join
from tacit.federation.joining import seat_of
from tacit.federation.local import manifest_of
from tacit.masks import agent_keys
from tacit.protocol.meeting import Meeting, Reply, Side
from tacit.protocol.record import Record
from tacit.runtimes import Job, StoppingRule, agents
from tacit.runtimes.peers.passing_on import Caller
from tacit.runtimes.peers.relay import Relay
from tacit.runtimes.peers.store import Store
from tacit.solving import choose

NAMES, SEED, LOOPBACK = ["alpha", "beta", "gamma"], 7, "127.0.0.1"


class Trio:
    """Three members on a triangle, some of whom only dial out, and what agents in memory make of the same masks."""

    def __init__(self, folder, inward=(), relay="", algorithm="lbfgs", privacy=None, **stop):
        rng = np.random.default_rng(0)
        costs = [tacit.LeastSquares(rng.standard_normal((6, 3)), rng.standard_normal(6), l2=0.5) for _ in NAMES]
        problem = tacit.Problem(nx.complete_graph(3), costs)
        privacy = privacy or tacit.SumMasks()
        choice = choose(problem, algorithm, privacy=privacy)
        self.folder, self.job = folder, Job(
            network=problem.network, costs=problem.costs, stack=problem.stack, x0=problem.x0,
            algorithm=choice.algorithm, exact=choice.algorithm.exact, weights=choice.weights, privacy=privacy,
            rule=StoppingRule(tolerance=1e-9, max_rounds=500),
        )  # fmt: skip
        manifest = manifest_of(self.job, NAMES, folder)
        members = {
            name: msgspec.structs.replace(member, address="") if name in inward else member
            for name, member in manifest.members.items()
        }
        stop = msgspec.structs.replace(manifest.stop, **{"patience": 60.0} | stop)
        self.manifest = msgspec.structs.replace(manifest, members=members, relay=relay, stop=stop)
        for name, key in zip(NAMES, agent_keys(3, seed=SEED), strict=True):
            with Store(self.file(name)) as store:
                store.write(Record(key=key))

    def file(self, name):
        return self.folder / f"{name}-{self.manifest.session()[:12]}.state"

    def agent(self, name, **more):
        cost = self.job.costs[NAMES.index(name)]
        return join(
            self.manifest, cost, me=name, key=self.folder / f"{name}.key", folder=self.folder, durable=False, **more
        )

    def run(self, **proxies):
        """Run all three to their end; return what each has found."""
        members = [self.agent(name, proxy=proxies.get(name)) for name in NAMES]
        with ThreadPoolExecutor(3) as pool:
            ends = [future.result(timeout=120) for future in [pool.submit(member.run) for member in members]]
        return np.stack([end.x for end in ends])

    def expected(self):
        return agents.run(replace(self.job, privacy=replace(self.job.privacy, seed=SEED))).x


@contextlib.contextmanager
def relaying(**settings):
    """Run a relay in a thread."""
    relay = Relay((LOOPBACK, 0), **settings)
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    assert relay.ready.wait(10.0)
    try:
        yield relay
    finally:
        relay.stop()
        thread.join(10.0)
        assert not thread.is_alive()


@pytest.fixture
def relay():
    with relaying() as one:
        yield one


@pytest.mark.parametrize("inward", [("alpha",), ("beta",), ("gamma",)])
def test_a_member_that_only_dials_out_may_stand_anywhere_in_the_manifest(tmp_path, inward):
    trio = Trio(tmp_path, inward)
    seats = {name: seat_of(trio.manifest, name) for name in NAMES}
    (one,) = inward
    assert seats[one].listens is None, "it opens no port"
    for other in set(NAMES) - {one}:
        assert seats[one].dials(other)
        assert not seats[other].dials(one)
        assert seats[one].meeting(other) is None
    assert np.array_equal(trio.run(), trio.expected())


def test_two_who_only_dial_out_meet_at_a_relay_through_proxies_to_the_same_bits(tmp_path, relay, proxy):
    """Alpha gets out by SOCKS5 with a login, beta by HTTP CONNECT, and both know the others by names only."""
    names = {"relay.example": relay.port}
    socks = proxy(
        "socks5", login=("anna", "pa:ss@word"), rules=lambda host, port: (LOOPBACK, names.get(host, port))
    )
    http = proxy("http", rules=lambda host, port: (LOOPBACK, names.get(host, port)))
    trio = Trio(tmp_path, ("alpha", "beta"), relay="relay.example:7400")
    x = trio.run(
        alpha=f"socks5://anna:pa%3Ass%40word@{LOOPBACK}:{socks.port}", beta=f"http://{LOOPBACK}:{http.port}"
    )
    assert np.array_equal(x, trio.expected())
    assert relay.pairs == 1
    assert {host for host, _ in socks.asked} == {"relay.example", LOOPBACK}, "the proxy looks the name up"
    assert ("relay.example", 7400) in http.asked


def test_three_who_only_dial_out_meet_at_one_relay(tmp_path, relay):
    trio = Trio(tmp_path, NAMES, relay=f"{LOOPBACK}:{relay.port}")
    assert np.array_equal(trio.run(), trio.expected())
    assert relay.pairs == 3


@pytest.mark.parametrize("end", [Reply.NOBODY, None, ConnectionResetError()])
def test_who_is_joined_with_one_that_leaves_at_that_moment_is_let_go(monkeypatch, end):
    """Nobody stays in the relay for ever, whatever becomes of the one that it was joined with."""

    class Silent:
        def write(self, data):
            raise ConnectionResetError

        async def drain(self):
            pass

    async def meet():
        relay, here = Relay((LOOPBACK, 0)), Meeting(bytes(32), Side.FIRST)
        waiting, coming = Caller(None, Silent()), Caller(None, Silent())

        async def until_joined(caller):
            relay._other(Meeting(bytes(32), Side.SECOND)).joined.set_result(coming)
            if isinstance(end, Exception):
                raise end
            return end

        monkeypatch.setattr(relay, "_until_joined", until_joined)
        with contextlib.suppress(OSError):
            await relay._wait(waiting, here)
        assert coming.parted.done()
        assert not relay._waiting

    asyncio.run(meet())
