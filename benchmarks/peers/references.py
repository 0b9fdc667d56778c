"""What references are given: a job's links, certificates and vectors, without anything of tacit's runtime."""

from __future__ import annotations

import os
import struct
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.processes import WARM, Times, Told, run_all, tell
from tacit.federation.local import manifest_of
from tacit.runtimes import Job

LENGTH = struct.Struct(">I")


class Place(NamedTuple):
    """What one agent of a reference knows."""

    me: str
    names: list[str]
    neighbours: list[str]
    ports: dict[str, int]
    certificates: dict[str, str]
    folder: Path
    vector: bytes
    rounds: int

    def dials(self, name: str) -> bool:
        """Whether this agent dials that one: of every two the later does."""
        return self.names.index(name) < self.names.index(self.me)

    @property
    def pair(self) -> tuple[Path, Path]:
        """The files of the own key and certificate."""
        return self.folder / f"{self.me}.key", self.folder / f"{self.me}.crt"

    @property
    def trusted(self) -> list[str]:
        """The certificates of the neighbours."""
        return [self.certificates[name] for name in self.neighbours]


def reference(kind: Callable[[Place], Times], job: Job) -> list[Told]:
    """Run one of the references on a job's links, with vectors of the same length."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        names = [f"agent-{i}" for i in range(len(job.network))]
        members = manifest_of(job, names, Path(folder)).members
        ports = {name: int(member.address.rpartition(":")[2]) for name, member in members.items()}
        certificates = {name: member.certificate for name, member in members.items()}
        given = []
        for i, name in enumerate(names):
            neighbours = [names[j] for j in job.network.neighbours(i)]
            vector = job.costs[i].affine.tobytes()
            rounds = job.rule.max_rounds
            place = Place(name, names, neighbours, ports, certificates, Path(folder), vector, rounds)
            given.append((kind, place))
        return run_all("forkserver", _refer, given)


def _refer(kind: Callable[[Place], Times], place: Place, began: float, pipe: Pipe) -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    tell(pipe, place.rounds, kind(place), began)


async def timed(exchange: Callable[[], Any], rounds: int) -> Times:
    """Return when so many rounds begin and end, after a few that wait for everybody."""
    for _ in range(WARM):
        await exchange()
    first, cpu = time.monotonic(), time.process_time()
    for _ in range(rounds):
        await exchange()
    return Times(first, time.monotonic(), time.process_time() - cpu)
