"""All members of a job on this machine, over real TLS: for trying, testing and measuring.

Every process gets its own cost and its own key, and all have seats without a manifest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.algorithms import ALGORITHMS, ERRANDS, NOISY
from tacit.errors import InputError, NetworkError
from tacit.later import later
from tacit.masks import has_level
from tacit.network import Network
from tacit.runtimes.job import Job, Run
from tacit.runtimes.peers.identity import refuse_bad_name, write_key
from tacit.runtimes.peers.processes import Process, collect, stop
from tacit.runtimes.peers.seat import Endpoint, Seat
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap
from tacit.runtimes.traffic import Traffic

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

_LOWEST, _PORTS = 10_000, 22_000  # Linux calls out from 32768 on, others from 49152 on
_STEPS = itertools.count(7919 * os.getpid())  # every process begins somewhere else


def run(job: Job, on_progress: Callable[[Progress], None] | None = None, *, tap: Tap | None = None) -> Run:
    """Run a job with one process per agent on this machine.

    *on_progress* hears of the run as a whole; where it has a method `report`, that hears of every agent.
    """
    tapped = () if tap is None else tap.agents
    with tempfile.TemporaryDirectory(prefix="tacit-") as place:
        folder = Path(place)
        names = _names(job.network)
        shared, seats = seats_of(job, names, folder)
        members: list[Process] = []
        try:
            for i, (seat, cost) in enumerate(zip(seats, job.costs, strict=True)):
                listening = tap if i in tapped else None
                members.append(Process(shared, seat, cost, folder, watched=on_progress is not None, tap=listening))
            outcomes = collect(members, on_progress)
        finally:
            stop(members)
    if tap is not None:
        for i in tap.agents:
            tap.take(i, members[i].heard)
    first = outcomes[0][0]
    traffic = [each for _, each in outcomes]
    return Run(
        x=np.stack([outcome.x for outcome, _ in outcomes]),
        rounds=first.rounds,
        traffic=Traffic(
            exchanges=max(t.exchanges for t in traffic),
            messages=sum(t.messages for t in traffic),
            bytes=sum(t.bytes for t in traffic),
        ),
        verdict=first.verdict,
        history=first.history,
        doubt=first.doubt,
        noise=first.noise,
        errors=first.errors,
    )


def _names(network: Network) -> list[str]:
    """Return the agents' own names, where all can be names of members."""
    try:
        for agent in network.agents:
            refuse_bad_name(agent if isinstance(agent, str) else "")
    except InputError:
        return [f"agent-{i}" for i in range(len(network))]
    return [str(agent) for agent in network.agents]


def seats_of(job: Job, names: list[str], folder: Path) -> tuple[Job, list[Seat]]:
    """Return the job without its costs, and everybody's seat on this machine; new keys go into *folder*."""
    refuse_unshared(job)
    members = endpoints(names, folder)
    network = Network.of_links(names, [(names[i], names[j]) for i, j in job.network.links])
    shared = dataclasses.replace(job, network=network, costs=(), stack=None)
    session = hashlib.sha256("\n".join(place.certificate for place in members.values()).encode()).hexdigest()
    return shared, [Seat(me=name, members=members, session=session, parts={}) for name in names]


def refuse_unshared(job: Job) -> None:
    """Refuse what members cannot all know: a seed, an algorithm without a name, masks that have no level."""
    privacy = job.privacy
    if privacy is not None and privacy.seed is not None:
        raise InputError("peers draw real masks: a seed is for simulations, and there is none on this runtime.")
    if type(job.algorithm) not in {*ALGORITHMS.values(), *ERRANDS.values(), *NOISY.values()}:
        raise InputError("peers run the algorithms that have a name; write your own against the agents runtime.")
    if not has_level(privacy):
        raise InputError("peers take affine and quadratic masks and secret sums, without scales of single links.")


def endpoints(names: list[str], folder: Path) -> dict[str, Endpoint]:
    """Return free ports of this machine for all members, with new keys in *folder*."""
    return {
        name: Endpoint("127.0.0.1", port, write_key(folder, name)[1].read_text())
        for name, port in zip(names, free_ports(len(names)), strict=True)
    }


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody listens on at the moment, and other ones every time.

    They are below those that systems give to outgoing connections, which could take one before its member listens.
    """
    ports: list[int] = []
    for step in itertools.islice(_STEPS, _PORTS):
        if len(ports) == count:
            break
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", _LOWEST + step % _PORTS))
            ports.append(_LOWEST + step % _PORTS)
    if len(ports) < count:
        raise NetworkError(f"{count} members need as many ports, and {len(ports)} are free; stop other programs.")
    return ports
