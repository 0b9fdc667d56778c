"""Runs as a member's ledger knows them: what was released, under which name, and which entry it is.

A run is known by its title, number and session, by the key of its masks and by this member's records, the last two
by one-way digests. The same manifest with fresh masks is another run, and its name says that it is a repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from tacit.certificates import Entry, Ledger, Release
from tacit.certificates.release import Version
from tacit.errors import RefusedError
from tacit.federation.earlier import entry_name
from tacit.federation.epochs import Brought
from tacit.federation.manifest import Manifest


class Consent(NamedTuple):
    """What a member says to its ledger before a run: which records these are, and what it takes upon itself."""

    cost_version: str = "1"
    versions: tuple[Version, ...] = ()
    """Of its records."""
    changed: tuple[str, ...] = ()
    """Others who have said that theirs have changed."""
    accept_exposure: bool = False
    accept_change: bool = False


def release_of(manifest: Manifest, consent: Consent, *, draw: str) -> Release:
    """Return a run as far as others see it; *draw* names its masks."""
    masks, name = manifest.privacy, entry_name(manifest, manifest.epoch, manifest.session())
    if masks.level == "none":
        raise RefusedError(
            f"{name} is refused: the manifest hides nothing (level = none), and no budget covers that."
        )
    promised = manifest.promised()
    return Release.of(
        name,
        manifest.network().graph,
        sigma=masks.effective_sigma,
        basis=masks.level,
        answer=None if promised is None else promised.guarantee,
        cost_version=consent.cost_version,
        versions=consent.versions,
        changed=consent.changed,
        key=draw,
    )


def earlier_entry(book: Ledger, manifest: Manifest, before: Brought) -> Entry | None:
    """Return the entry of the epoch in which the masks were exchanged, or else of the one just before."""
    entries = book.entries()
    same = [entry for entry in entries if entry.release.key == before.draw]
    names = (
        entry_name(manifest, before.origin.epoch, before.origin.session()),
        entry_name(manifest, manifest.epoch - 1, manifest.previous),
    )
    unkeyed = {entry.release.run: entry for entry in entries if not entry.release.key}
    return next(iter(same), None) or next((unkeyed[name] for name in names if name in unkeyed), None)


def unnamed(book: Ledger, release: Release) -> Release:
    """Return the release under a name that no entry has yet: a repetition says that it is one."""
    names = {entry.release.run for entry in book.entries()}
    return replace(release, run=next(name for name in repetitions(release.run, len(names)) if name not in names))


def repetitions(run: str, count: int) -> Iterator[str]:
    """Yield the names that so many entries of one run may have, and one more."""
    yield run
    yield from (f"{run}, again {k}" for k in range(2, count + 3))


def is_entered(book: Ledger, release: Release) -> bool:
    """Tell whether an entry has these masks. Entries from before masks had names are known by the run's."""
    if not release.key and not release.masks:  # not drawn yet
        return False
    return any(
        entry.release.participants == release.participants
        and (entry.release.key == release.key if entry.release.key else entry.release.run == release.run)
        for entry in book.entries()
    )


def unheard(book: Ledger, releases: Iterable[Release]) -> list[Release]:
    """Return those of some earlier runs that a ledger does not know."""
    entries = book.entries()
    known = {(entry.release.run, entry.release.participants) for entry in entries}
    return [
        release
        for release in releases
        if not any((name, release.participants) in known for name in repetitions(release.run, len(entries)))
    ]
