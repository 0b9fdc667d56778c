"""From one epoch of a run to the next: the same manifest without some members and links, and nothing else.

Whoever starts an agent with the next epoch's manifest accepts it; nobody can be made to. What an agent does with
its masks then, and what that costs, is told in `tacit.runtimes.peers.epochs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from tacit.errors import InputError
from tacit.federation.manifest import Manifest, refuse_strangers
from tacit.federation.rotation import refuse_unsigned
from tacit.runtimes.peers.epochs import carried_by
from tacit.runtimes.peers.seat import Origin, Seat
from tacit.spelling import did_you_mean


def without(manifest: Manifest, *, members: Iterable[str] = (), links: Iterable[tuple[str, str]] = ()) -> Manifest:
    """Return the manifest of the next epoch: the same run without some members and links."""
    gone, links = set(members), list(links)
    down = {frozenset(link) for link in links}
    refuse_strangers(manifest, sorted(gone))
    missing = [link for link in links if frozenset(link) not in map(frozenset, manifest.links)]
    if missing:
        stranger = next((name for name in missing[0] if name not in manifest.members), None)
        meant = "" if stranger is None else did_you_mean(stranger, manifest.members)
        raise InputError(f"{missing[0][0]} and {missing[0][1]} are not linked.{meant}")
    if not gone and not down:
        raise InputError("say which member has left, or which link is down.")
    return _next(manifest, gone, down)


def _next(manifest: Manifest, gone: set[str], down: set[frozenset[str]]) -> Manifest:
    if gone and manifest.dropout != "exclude":
        raise InputError(
            'the members have agreed to wait (dropout = "wait"): nobody is left out of this run. Wait for '
            f"{', '.join(sorted(gone))}, or begin a new run under a new manifest."
        )
    stay = {name: member for name, member in manifest.members.items() if name not in gone}
    if len(stay) < 2:
        raise InputError(f"{len(stay)} member(s) would stay: there is nothing to agree on.")
    linked = [link for link in manifest.links if not gone & set(link) and frozenset(link) not in down]
    model = manifest.model
    if model is not None and gone:  # masks serve one cost: everybody keeps its share of the penalties
        model = msgspec.structs.replace(model, shares=model.shares or len(manifest.members))
    after = msgspec.structs.replace(
        manifest,
        members=stay,
        links=linked,
        model=model,
        epoch=manifest.epoch + 1,
        previous=manifest.session(),
        left=[*manifest.left, *sorted(gone)],
    )
    after.job()  # refuses what falls apart
    return after


def refuse_unrelated(before: Manifest, after: Manifest) -> None:
    """Refuse a manifest that says anything else than the one before it, but who and which links are left out.

    Members and the relay may have moved to another address. A certificate stays, unless the key of before has
    signed the new one.
    """
    stay = {name: before.members[name] for name in after.members if name in before.members}
    links = {frozenset(link) for link in after.links}
    down = [link for link in before.links if set(link) <= set(stay) and frozenset(link) not in links]
    fresh = {name for name in stay if after.members[name].certificate != stay[name].certificate}
    for name in fresh:
        refuse_unsigned(name, stay[name], after.members[name])
    gone = set(before.members) - set(stay)
    if fresh:
        expected = _next(before, gone, {frozenset(link) for link in down})
    else:
        expected = without(before, members=gone, links=down)
    moved = dict(after.members)
    for name, member in stay.items():
        moved[name] = member if name in fresh else msgspec.structs.replace(moved[name], address=member.address)
    if msgspec.structs.replace(after, members=moved, relay=before.relay) != expected:
        raise InputError(
            "this manifest does not follow from the one before it: from epoch to epoch members and links are left "
            "out, members have new keys, and nothing else changes."
        )


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epochs before that of a manifest, from what state files have kept of theirs."""

    manifest: Manifest

    def before(self, agreement: bytes) -> Origin:
        """Return the epoch just before; refuse it where the manifest does not follow from its."""
        former = msgspec.json.decode(agreement, type=Manifest)
        refuse_unrelated(former, self.manifest)
        return _origin(former)

    def origin(self, agreement: bytes) -> Origin:
        """Return the epoch in which masks were exchanged."""
        return _origin(msgspec.json.decode(agreement, type=Manifest))


def _origin(manifest: Manifest) -> Origin:
    return Origin(manifest.job(), tuple(manifest.members), manifest.epoch)


class Brought(NamedTuple):
    """Where a member's masks come from, as far as it can tell before it goes on."""

    origin: Manifest
    """Of the epoch in which they were exchanged."""
    committed: bool
    """Whether this member may have published something under them: then it goes on with them, if Gaussian."""
    draw: str = ""
    """Names them: a one-way digest of their key."""


def brought(file: Path, seat: Seat) -> Brought | None:
    """Return what the member with this state *file* brings into a later epoch; None if there is nothing to read."""
    carried = carried_by(file, seat)
    if carried is None:
        return None
    return Brought(msgspec.json.decode(carried.agreement, type=Manifest), carried.committed, carried.draw)
