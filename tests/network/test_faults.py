"""Links that are cut, delayed, corrupted, duplicated and reordered by a proxy: the answer is the same, to the last bit."""

import asyncio
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import NetworkError
from tacit.federation import join
from tacit.federation.local import manifest_of
from tacit.masks import agent_keys
from tacit.protocol.record import Record
from tacit.runtimes import Job, StoppingRule, agents
from tacit.runtimes.peers.local import free_ports
from tacit.runtimes.peers.store import Store
from tacit.solving import choose

N, SEED = 4, 7


class Proxy:
    """Stands before every member's port and mistreats the encrypted bytes that pass."""

    def __init__(self, targets, fault, seed, rate):
        self.targets, self.fault, self.rate = targets, fault, rate
        self.random = random.Random(seed)  # noqa: S311
        self.loop, self.ports, self.faults, self.budget = asyncio.new_event_loop(), {}, 0, 15
        self.servers, self.writers = [], []
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._open())
        ready.set()
        self.loop.run_forever()
        for server in self.servers:
            server.close()
        pending = asyncio.all_tasks(self.loop)
        for task in pending:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        for writer in self.writers:
            writer.transport.abort()
        self.loop.run_until_complete(asyncio.sleep(0.01))  # the transports close their sockets
        self.loop.close()

    async def _open(self):
        for name, port in self.targets.items():
            server = await asyncio.start_server(lambda r, w, port=port: self._pass(r, w, port), "127.0.0.1", 0)
            self.servers.append(server)
            self.ports[name] = server.sockets[0].getsockname()[1]

    async def _pass(self, reader, writer, port):
        self.writers.append(writer)
        try:
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.transport.abort()
            return
        self.writers.append(other_writer)
        both = [self._pipe(reader, other_writer), self._pipe(other_reader, writer)]
        await asyncio.gather(*both, return_exceptions=True)
        for each in (writer, other_writer):
            each.transport.abort()

    async def _pipe(self, reader, writer):
        try:
            while data := await reader.read(4096):
                if self.faults < self.budget and self.random.random() < self.rate:
                    self.faults += 1
                    data = await self.fault(self, data, writer)
                writer.write(data)
                await writer.drain()
        finally:
            writer.transport.abort()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


async def cut(proxy, data, writer):
    writer.transport.abort()
    raise ConnectionError


async def cut_in_the_middle(proxy, data, writer):
    writer.write(data[: len(data) // 2])
    await writer.drain()
    raise ConnectionError


async def delay(proxy, data, writer):
    await asyncio.sleep(proxy.random.uniform(0.0, 0.1))
    return data


async def corrupt(proxy, data, writer):
    place = proxy.random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]


async def duplicate(proxy, data, writer):
    return data + data


async def reorder(proxy, data, writer):
    return data[len(data) // 2 :] + data[: len(data) // 2]


FAULTS = {f.__name__: f for f in (cut, cut_in_the_middle, delay, corrupt, duplicate, reorder)}


def job_of(privacy, algorithm):
    rng = np.random.default_rng(0)
    costs = [tacit.LeastSquares(rng.standard_normal((6, 3)), rng.standard_normal(6), l2=0.5) for _ in range(N)]
    problem = tacit.Problem(nx.complete_graph(N), costs)
    choice = choose(problem, algorithm, privacy=privacy)
    return Job(
        network=problem.network,
        costs=problem.costs,
        stack=problem.stack,
        x0=problem.x0,
        algorithm=choice.algorithm,
        exact=True,
        weights=choice.weights,
        privacy=privacy,
        rule=StoppingRule(tolerance=1e-9, max_rounds=3000),
    )


def through_proxy(folder, job, fault, seed, **stop):
    names = [f"member-{i}" for i in range(N)]
    manifest = manifest_of(job, names, folder)
    real = dict(zip(names, free_ports(len(names)), strict=True))
    proxy = Proxy(real, fault, seed, 0.15 if job.algorithm.sums else 0.02)
    members = {
        name: msgspec.structs.replace(member, address=f"127.0.0.1:{proxy.ports[name]}")
        for name, member in manifest.members.items()
    }
    manifest = msgspec.structs.replace(
        manifest, members=members, stop=msgspec.structs.replace(manifest.stop, **stop)
    )
    for name, key in zip(names, agent_keys(N, seed=SEED), strict=True):
        store = Store(folder / f"{name}-{manifest.session()[:12]}.state")
        store.write(Record(key=key))
        store.close()
    agents_ = [
        join(
            manifest,
            cost,
            me=name,
            key=folder / f"{name}.key",
            folder=folder,
            listen=("127.0.0.1", real[name]),
            durable=False,
        )
        for name, cost in zip(names, job.costs, strict=True)
    ]
    return proxy, agents_


WAYS = {"gossip": ("gradient-tracking", tacit.AffineMasks(10.0)), "sums": ("lbfgs", tacit.SumMasks())}
FIRST = {("cut", "gossip"), ("corrupt", "gossip"), ("reorder", "gossip"),
         ("cut_in_the_middle", "sums"), ("delay", "sums"), ("duplicate", "sums")}  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "way"),
    [
        pytest.param(fault, way, marks=() if (fault, way) in FIRST else pytest.mark.network)
        for fault in FAULTS
        for way in WAYS
    ],
)
def test_a_mistreated_link_never_changes_the_answer(tmp_path, fault, way):
    algorithm, privacy = WAYS[way]
    job = job_of(privacy, algorithm)
    expected = agents.run(replace(job, privacy=replace(privacy, seed=SEED)))
    proxy, members = through_proxy(tmp_path, job, FAULTS[fault], seed=1, idle=1.0, patience=60.0)
    try:
        with ThreadPoolExecutor(N) as pool:
            outcomes = [future.result(timeout=120) for future in [pool.submit(member.run) for member in members]]
    finally:
        proxy.close()
    assert proxy.faults > 0, "the proxy did nothing: the test would prove nothing"
    assert np.array_equal(np.stack([outcome.x for outcome in outcomes]), expected.x)


@pytest.mark.network
def test_a_neighbour_that_stays_away_is_an_error_with_the_state_kept(tmp_path):
    job = job_of(tacit.AffineMasks(10.0), "gradient-tracking")
    proxy, members = through_proxy(tmp_path, job, delay, seed=1, patience=1.0)
    try:
        with ThreadPoolExecutor(N) as pool:
            futures = [pool.submit(member.run) for member in members[:-1]]
            for future in futures:
                with pytest.raises(NetworkError, match="the state is kept"):
                    future.result(timeout=30)
    finally:
        proxy.close()
    assert all(member.file.exists() for member in members)
