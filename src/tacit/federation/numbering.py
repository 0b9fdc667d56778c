"""The runs of one manifest, by their numbers: which session each has, and where members meet in all of them.

Run k of a series is the manifest with `run` raised by k − 1, and the number is part of the session.
"""

from __future__ import annotations

import msgspec

from tacit.errors import InputError
from tacit.federation.durations import seconds_of, spoken
from tacit.federation.manifest import Manifest
from tacit.federation.sections import Repeat


def numbered(manifest: Manifest, number: int) -> Manifest:
    """Return the manifest of one run of a series, from 1; the first is the manifest itself."""
    return msgspec.structs.replace(manifest, run=manifest.run + number - 1)


def following(manifest: Manifest) -> str:
    """Return the session of the run after this one: a neighbour that is there needs nothing more here."""
    return numbered(manifest, 2).session() if manifest.repeat.runs > 1 else ""


def meeting_session(manifest: Manifest) -> str:
    """Return what names the links of a run at a relay: the same in all runs of a series.

    So a member that has gone on is met by one that has not, who learns it.
    """
    return (msgspec.structs.replace(manifest, run=0) if manifest.repeat.runs > 1 else manifest).session()


def scheduled(manifest: Manifest, *, every: str | None = None, runs: int | None = None) -> Manifest:
    """Return the manifest with as many *runs* as one member says, if it says nothing itself.

    Both are part of the session then: members who say different things find out at their first greeting.
    """
    if every is None and runs is None:
        return manifest
    if every is None or runs is None:
        raise InputError("how often and how many runs go together, such as every 1d and 30 runs.")
    asked = msgspec.structs.replace(manifest.repeat, runs=runs, every=seconds_of(every, field="every"))
    asked.checked()
    if manifest.repeat not in (Repeat(changes=manifest.repeat.changes), asked):
        agreed = manifest.repeat
        raise InputError(
            f"the manifest says {agreed.runs} runs, one every {spoken(agreed.every)}: all have agreed on that; "
            "leave it out here."
        )
    return msgspec.structs.replace(manifest, repeat=asked)
