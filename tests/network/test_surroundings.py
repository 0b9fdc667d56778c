"""A disk without room, and clocks that are wrong: nothing is lost, and nothing is said twice."""

import asyncio
import datetime
import errno
import os
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import networkx as nx
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import tacit
from tacit.errors import FileError, NetworkError
from tacit.federation import join
from tacit.federation.local import manifest_of
from tacit.masks import AffineMasks, agent_keys
from tacit.protocol.record import Record
from tacit.runtimes import Job, StoppingRule, agents
from tacit.runtimes.peers import durable_links, sent
from tacit.runtimes.peers.digests import digest_of_cost
from tacit.runtimes.peers.identity import context, write_key
from tacit.runtimes.peers.store import Store
from tacit.solving import choose

NAMES = ["north", "east", "south"]


def job_of(privacy):
    rng = np.random.default_rng(1)
    costs = [tacit.LeastSquares(rng.standard_normal((5, 3)), rng.standard_normal(5), l2=0.5) for _ in NAMES]
    problem = tacit.Problem(nx.complete_graph(3), costs)
    choice = choose(problem, "nids", privacy=privacy)
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


def members(folder, job, world=None, **stop):
    """Return agents with the keys of the in-memory ones; in *world*, if there is one."""
    manifest = manifest_of(job, NAMES, folder)
    manifest = msgspec.structs.replace(manifest, stop=msgspec.structs.replace(manifest.stop, **stop))
    for name, key in zip(NAMES, agent_keys(3, seed=7), strict=True):
        store = Store(folder / f"{name}-{manifest.session()[:12]}.state")
        store.write(Record(key=key))
        store.close()
    if world is not None:
        return {
            name: world.agent(manifest, cost, name, folder) for name, cost in zip(NAMES, job.costs, strict=True)
        }
    return {
        name: join(manifest, cost, me=name, key=folder / f"{name}.key", folder=folder, durable=False)
        for name, cost in zip(NAMES, job.costs, strict=True)
    }


@pytest.mark.parametrize("after", [1, 5, 40])
def test_a_full_disk_stops_one_agent_and_the_run_goes_on_when_there_is_room(tmp_path, memory, monkeypatch, after):
    """The record is cut in the middle, as a disk does it: it was not sent, and is written anew."""
    job = job_of(AffineMasks(10.0))
    expected = agents.run(job_of(AffineMasks(10.0, seed=7)))
    world = memory()
    given, full = members(tmp_path, job, world, patience=3.0), threading.Event()
    write, writev = os.write, os.writev
    count = 0

    def no_room(descriptor, data):
        nonlocal count
        if "east" not in os.readlink(f"/proc/self/fd/{descriptor}"):
            return write(descriptor, data)
        count += 1
        if count <= after:
            return write(descriptor, data)
        if not full.is_set():
            full.set()
            return write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    def nor_for_pieces(descriptor, pieces):
        if "east" in os.readlink(f"/proc/self/fd/{descriptor}"):
            return no_room(descriptor, b"".join(pieces))
        return writev(descriptor, pieces)

    with monkeypatch.context() as patched:
        patched.setattr(sent.os, "write", no_room)
        patched.setattr(sent.os, "writev", nor_for_pieces)
        first = world.run({name: agent.run for name, agent in given.items()})
    assert full.is_set()
    assert isinstance(first["east"], FileError)
    assert "make room, and start this agent again" in str(first["east"])
    assert all(isinstance(first[name], NetworkError) for name in ("north", "south"))
    outcomes = world.run({name: agent.run for name, agent in given.items()})
    assert not [outcome for outcome in outcomes.values() if isinstance(outcome, Exception)], outcomes
    assert np.array_equal(np.stack([outcomes[name].x for name in NAMES]), expected.x)


def certified(folder, name, first, last):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(first)
        .not_valid_after(last)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    kind = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / f"{name}.key").write_bytes(key.private_bytes(kind, *plain))
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(kind))
    return folder / f"{name}.key", folder / f"{name}.crt"


@pytest.mark.parametrize(("first", "last"), [(1990, 1991), (2200, 2300)], ids=["past", "to come"])
def test_nobody_needs_a_clock_to_know_whom_to_trust(tmp_path, first, last):
    """To a machine whose clock is off, a certificate is of the past or of the future: the pin counts."""
    years = datetime.datetime(first, 1, 1), datetime.datetime(last, 1, 1)
    ours, theirs = (certified(tmp_path, name, *years) for name in ("north", "south"))
    server = context(*ours, [theirs[1].read_text()], server=True)
    client = context(*theirs, [ours[1].read_text()], server=False)
    a, b = socket.socketpair()
    shown = []

    def accept():
        with server.wrap_socket(a, server_side=True) as link:
            shown.append(link.getpeercert(binary_form=True))
            link.recv(1)

    thread = threading.Thread(target=accept)
    thread.start()
    with client.wrap_socket(b) as link:
        assert link.version() == "TLSv1.3"
        link.send(b".")
    thread.join()
    assert shown == [ssl.PEM_cert_to_DER_cert(theirs[1].read_text())]


def test_an_agent_runs_in_a_notebook_where_a_loop_runs_already(tmp_path):
    job = job_of(None)
    given = members(tmp_path, job, patience=20.0)
    others = {name: agent for name, agent in given.items() if name != "north"}

    async def cell():
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(agent.run) for agent in others.values()]
            mine = given["north"].run()
            return [mine, *(each.result() for each in running)]

    outcomes = asyncio.run(cell())
    assert all(outcome.verdict.status == "converged" for outcome in outcomes)


def test_a_cost_is_known_by_what_it_does_and_not_by_what_it_remembers(tmp_path):
    """Caches, counters and the order of sets are not data; another record is."""

    class Counting(tacit.Quadratic):
        calls = 0

        def curved_grad(self, x):
            self.calls += 1
            return super().curved_grad(x)

    key, _ = write_key(tmp_path, "north")

    def digest(cost):
        return digest_of_cost(cost, np.zeros(3), key)

    first = Counting(np.eye(3), np.ones(3))
    before = digest(first)
    assert first.smoothness > 0
    assert digest(first) == before
    assert digest(Counting(np.eye(3), np.ones(3) * (1 + 1e-6))) != before
    assert digest(Counting(2 * np.eye(3), np.ones(3))) != before


def test_a_member_that_is_started_twice_is_told_so(tmp_path):
    job = job_of(None)
    agent = next(iter(members(tmp_path, job).values()))
    holding = Store(agent.file)
    holding.begin()
    try:
        with pytest.raises(FileError, match="running already"):
            agent.run()
    finally:
        holding.close()


def test_messages_are_kept_until_the_checkpoint_that_replaces_them_is_committed(tmp_path, memory):
    """A crash in between would leave neither: neighbours would have acknowledged what was never sent."""
    job = job_of(AffineMasks(10.0))
    world = memory()
    given, erased, save = members(tmp_path, job, world), [], Store.save

    def saving(self, *checkpoint, **settings):
        def noted(segments):
            erased.extend((segment.number, self.position().first) for segment in segments)
            erase_all(segments)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sent, "_erase_all", noted)
            save(self, *checkpoint, **settings)

    erase_all = sent._erase_all
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(durable_links, "_EVERY_MESSAGES", 20)
        patched.setattr(Store, "save", saving)
        outcomes = world.run({name: agent.run for name, agent in given.items()})
    assert erased
    assert all(number < first for number, first in erased), "what is erased is not wanted after the checkpoint"
    assert not [outcome for outcome in outcomes.values() if isinstance(outcome, Exception)]
