"""A federation on this machine, for trying and testing: the manifest of a job, with new keys and free ports."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import cast

import msgspec

from tacit.algorithms import NOISY, AnyAlgorithm, name_of
from tacit.federation.manifest import Manifest
from tacit.federation.sections import Masks, Member, Model, Stop
from tacit.protocol.versions import PROTOCOL
from tacit.runtimes.job import Job
from tacit.runtimes.peers.local import endpoints, refuse_unshared


def manifest_of(job: Job, names: list[str], folder: Path, *, model: Model | None = None) -> Manifest:
    """Return the manifest of a job on this machine; new keys go into *folder*. Promises need the *model*."""
    refuse_unshared(job)
    settings = dataclasses.asdict(cast(AnyAlgorithm, job.algorithm))
    settings = msgspec.json.decode(msgspec.json.encode(settings))  # as members read them from the file
    if type(job.algorithm) in NOISY.values():  # whose settings follow from the promise
        settings = {}
    members = {
        member: Member(f"{place.host}:{place.port}", place.certificate)
        for member, place in endpoints(names, folder).items()
    }
    return Manifest(
        title="on this machine",
        run=1,
        unknowns=len(job.x0),
        links=[(names[i], names[j]) for i, j in job.network.links],
        members=members,
        privacy=Masks.of(job.privacy),
        algorithm={"name": name_of(type(job.algorithm)), "weights": job.weights, **settings},
        x0=job.x0.tolist(),
        model=model,
        stop=Stop(tolerance=job.rule.tolerance, max_rounds=job.rule.max_rounds, floor=job.floor),
        protocol=PROTOCOL,
    )
