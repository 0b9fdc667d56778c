"""A member's ledger around its run: asked before anything is sent, written before anything is published.

A run is known by its title, its number and its session, so a restart finds its own entry and makes no second one,
and so does one that comes after a crash between the entry and the first message.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from tacit.certificates import Ledger, Release
from tacit.errors import FileError, InputError, RefusedError
from tacit.runtimes.peers import Manifest

_SHOWN = 16  # letters of the session in the name of an entry


def release_of(manifest: Manifest, cost_version: str) -> Release:
    """Return a run as far as others see it."""
    masks = manifest.privacy
    name = f"{manifest.title}, run {manifest.run}, session {manifest.session()[:_SHOWN]}"
    if masks.level == "none":
        raise RefusedError(
            f"{name} is refused: the manifest hides nothing (level = none), and no budget covers that."
        )
    sigma = math.inf if masks.sigma is None else masks.sigma
    graph = manifest.network().graph
    return Release.of(name, graph, sigma=sigma, basis=masks.level, cost_version=cost_version)


def opened(manifest: Manifest, me: str, file: Path, cost_version: str) -> Callable[[], None]:
    """Refuse a run that the ledger refuses, and return what enters it: called again, it enters nothing."""
    if not file.exists():
        raise FileError(f"{file}: there is no ledger; `tacit ledger new` starts one, with a budget.")
    release = release_of(manifest, cost_version)
    with Ledger(file) as book:
        if book.owner not in (None, me):
            raise InputError(f"{file}: is the ledger of {book.owner}, not of {me}.")
        if not _is_entered(book, release):
            review = book.check(release)
            if not review.accepted:
                raise RefusedError(f"{release.run} is refused: {'; '.join(review.reasons)}.")

    def enter() -> None:
        with Ledger(file) as book:
            if not _is_entered(book, release):
                book.add(release)

    return enter


def _is_entered(book: Ledger, release: Release) -> bool:
    return any(entry.release.run == release.run for entry in book.entries())
