"""All members as real processes on this machine, over real TLS: for trying, testing and measuring.

Every process gets its own cost and its own key; the parent only starts them, shows how far they are, and collects
the answers. Ctrl-C stops all.
"""

from __future__ import annotations

import dataclasses
import multiprocessing as mp
import socket
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

import numpy as np

from tacit.algorithms import ALGORITHMS, AnyAlgorithm
from tacit.costs import Family
from tacit.errors import InputError, NetworkError, TacitError
from tacit.masks import GaussianMasks, Mechanism, SumMasks
from tacit.runtimes.agent import Outcome
from tacit.runtimes.job import Job, Run
from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.identity import write
from tacit.runtimes.peers.manifest import Manifest, Masks, Member, Stop
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap
from tacit.runtimes.traffic import Traffic

_PRELOAD = ["tacit.runtimes.peers.local"]


def run(job: Job, on_progress: Callable[[Progress], None] | None = None, *, tap: Tap | None = None) -> Run:
    """Run a job with one process per agent on this machine."""
    tapped = () if tap is None else tap.agents
    with tempfile.TemporaryDirectory(prefix="tacit-") as place:
        folder = Path(place)
        names = [f"agent-{i}" for i in range(len(job.network))]
        manifest = manifest_of(job, names, folder)
        members = [
            Process(manifest, name, cost, folder, watched=i == 0, tap=tap if i in tapped else None)
            for i, (name, cost) in enumerate(zip(names, job.costs, strict=True))
        ]
        try:
            outcomes = collect(members, on_progress)
        finally:
            for member in members:
                member.stop()
    if tap is not None:
        for i in tap.agents:
            tap.take(i, members[i].heard)
    first = outcomes[0][0]
    traffic = [told for _, told in outcomes]
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
    )


def manifest_of(job: Job, names: list[str], folder: Path) -> Manifest:
    """Return the manifest of a job on this machine; new keys go into *folder*."""
    if job.privacy is not None and job.privacy.seed is not None:
        raise InputError("peers draw real masks: a seed is for simulations, and there is none on this runtime.")
    name = next((name for name, kind in ALGORITHMS.items() if kind is type(job.algorithm)), None)
    if name is None:
        raise InputError("peers run the algorithms that have a name; write your own against the agents runtime.")
    ports = _free_ports(len(names))
    members = {
        member: Member(f"127.0.0.1:{port}", write(folder, member)[1].read_text())
        for member, port in zip(names, ports, strict=True)
    }
    settings = dataclasses.asdict(cast(AnyAlgorithm, job.algorithm))
    return Manifest(
        title="on this machine",
        run=1,
        unknowns=len(job.x0),
        links=[(names[i], names[j]) for i, j in job.network.links],
        members=members,
        privacy=_masks(job.privacy),
        algorithm={"name": name, "weights": job.weights, **settings},
        x0=job.x0.tolist(),
        stop=Stop(tolerance=job.rule.tolerance, max_rounds=job.rule.max_rounds, floor=job.floor),
    )


def _masks(privacy: Mechanism | None) -> Masks:
    if privacy is None:
        return Masks("none")
    if isinstance(privacy, SumMasks):
        return Masks("sums", bound=privacy.bound, words=privacy.words, pairing=privacy.pairing)
    level = {"AffineMasks": "affine", "QuadraticMasks": "quadratic"}.get(type(privacy).__name__)
    if level is None or not isinstance(privacy, GaussianMasks) or privacy.link_scales:
        raise InputError("peers take AffineMasks, QuadraticMasks and SumMasks, without scales of single links.")
    return Masks(level, sigma=privacy.sigma, bound=privacy.bound, pairing=privacy.pairing)  # type: ignore[arg-type]


class Process:
    """One member as a process of its own, which can be killed and started again."""

    def __init__(
        self,
        manifest: Manifest,
        name: str,
        cost: Family,
        folder: Path,
        *,
        watched: bool = False,
        tap: Tap | None = None,
    ) -> None:
        self.name = name
        self.heard: Any = None
        """What a tap heard in that process."""
        self._given = (manifest, name, cost, str(folder), watched, tap)
        self.start()

    def start(self) -> None:
        """Start the process, for the first time or again."""
        method = mp.get_context("forkserver")
        method.set_forkserver_preload(_PRELOAD)
        self.pipe, theirs = method.Pipe(duplex=False)
        self.process: BaseProcess = method.Process(target=_serve, args=(*self._given, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def kill(self) -> None:
        """Kill the process as a power cut would."""
        self.process.kill()
        self.process.join()

    def stop(self) -> None:
        """Stop the process, and wait until it is gone."""
        if self.process.is_alive():
            self.process.terminate()
        self.process.join(timeout=5.0)
        if self.process.is_alive():
            self.kill()


def collect(
    members: list[Process], on_progress: Callable[[Progress], None] | None = None
) -> list[tuple[Outcome, Traffic]]:
    """Wait for all members; raise what the first of them raises."""
    waiting: dict[Any, Process] = {member.pipe: member for member in members}
    done: dict[str, tuple[Outcome, Traffic]] = {}
    while waiting:
        for ready in wait(list(waiting), timeout=1.0):
            pipe = cast(Pipe, ready)
            member = waiting[pipe]
            told: list[Any]
            try:
                kind, *told = pipe.recv()
            except EOFError:
                raise NetworkError(f"{member.name} died; its state is kept.") from None
            if kind == "progress" and on_progress is not None:
                on_progress(told[0])
            elif kind == "error":
                raise told[0]
            elif kind == "heard":
                member.heard = told[0]
            elif kind == "done":
                done[member.name] = (told[0], told[1])
                del waiting[pipe]
    return [done[member.name] for member in members]


def _serve(
    manifest: Manifest, name: str, cost: Family, folder: str, watched: bool, tap: Tap | None, pipe: Pipe
) -> None:
    """Be one member."""
    last = 0.0

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last > 0.05:
            last = time.monotonic()
            pipe.send(("progress", progress))

    try:
        agent = Agent(manifest, cost, me=name, key=Path(folder) / f"{name}.key", folder=folder, durable=False)
        outcome = agent.run(on_progress=report if watched else None, tap=tap)
        if tap is not None:
            pipe.send(("heard", tap.told(list(manifest.members).index(name))))
        pipe.send(("done", outcome, agent.traffic))
    except TacitError as error:
        pipe.send(("error", error))
    except KeyboardInterrupt:
        pass


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
