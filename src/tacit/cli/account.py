"""A member's ledger around its run: asked before anything is sent, written before anything is published.

A run is known by its title, its number and its session, so a restart finds its own entry and makes no second one,
and so does one that comes after a crash between the entry and the first message.

A later epoch is no second run. With Gaussian masks it is the same view of those who stay, on a graph without those
who have left: what is entered is by how much that costs more. Secret sums have new masks, and cost nothing. Either
way the sums before and after tell the leavers' contribution, which must be accepted in so many words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tacit.certificates import Entry, Ledger, Release, Review
from tacit.errors import FileError, InputError, RefusedError
from tacit.network.topology import listed
from tacit.runtimes.peers import Manifest
from tacit.runtimes.peers.epochs import Brought

_SHOWN = 16  # letters of the session in the name of an entry


def release_of(manifest: Manifest, cost_version: str) -> Release:
    """Return a run as far as others see it."""
    masks, name = manifest.privacy, _name(manifest, manifest.epoch, manifest.session())
    if masks.level == "none":
        raise RefusedError(
            f"{name} is refused: the manifest hides nothing (level = none), and no budget covers that."
        )
    sigma = math.inf if masks.sigma is None else masks.sigma
    graph = manifest.network().graph
    return Release.of(name, graph, sigma=sigma, basis=masks.level, cost_version=cost_version)


def _name(manifest: Manifest, epoch: int, session: str) -> str:
    later = f", epoch {epoch}" if epoch else ""
    return f"{manifest.title}, run {manifest.run}{later}, session {session[:_SHOWN]}"


class _Case(NamedTuple):
    """What is to be entered; nothing where the same is shown again."""

    release: Release | None
    left: tuple[str, ...] = ()


def opened(
    manifest: Manifest,
    me: str,
    file: Path,
    cost_version: str,
    *,
    before: Brought | None = None,
    accepted: bool = False,
) -> Callable[[], None]:
    """Refuse a run that the ledger refuses, and return what enters it: called again, it enters nothing.

    *before* is what this member brings from an earlier epoch, and *accepted* whether it accepts what going on tells
    of those who have left.
    """
    if not file.exists():
        raise FileError(f"{file}: there is no ledger; `tacit ledger new` starts one, with a budget.")
    release = release_of(manifest, cost_version)
    with Ledger(file) as book:
        if book.owner not in (None, me):
            raise InputError(f"{file}: is the ledger of {book.owner}, not of {me}.")
        if before is not None and before.committed:
            _make_up_for(book, manifest, before, cost_version)
        case = _case(book, manifest, release, before)
        if case.release is not None and not _is_entered(book, case.release):
            _refuse(case, book.check(case.release, left=case.left), accepted=accepted)

    def enter() -> None:
        if case.release is None:
            return
        with Ledger(file) as book:
            if not _is_entered(book, case.release):
                book.add(case.release, left=case.left)

    return enter


def _make_up_for(book: Ledger, manifest: Manifest, before: Brought, cost_version: str) -> None:
    """Enter an earlier epoch that is in no ledger: something may have been published in it."""
    if _earlier(book, manifest, before) is None:
        book.add(release_of(before.origin, cost_version), anyway=True)


def _earlier(book: Ledger, manifest: Manifest, before: Brought) -> Entry | None:
    """Return the entry of the epoch in which the masks were exchanged, or else of the one just before."""
    names = (
        _name(manifest, before.origin.epoch, before.origin.session()),
        _name(manifest, manifest.epoch - 1, manifest.previous),
    )
    found = {entry.release.run: entry for entry in book.entries()}
    return next((found[name] for name in names if name in found), None)


def _case(book: Ledger, manifest: Manifest, release: Release, before: Brought | None) -> _Case:
    """Return what a run tells beyond what is in the ledger."""
    earlier = None if before is None else _earlier(book, manifest, before)
    if before is None or earlier is None:
        return _Case(release)
    left = tuple(a for a in earlier.release.participants if a not in manifest.members)
    if not release.sigmas or not before.committed:  # masks of their own
        return _Case(release, left)
    if not left:  # links alone were left out: their terms are still in the masks
        return _Case(None)
    return _Case(earlier.release.without(left, run=release.run), left)


def _refuse(case: _Case, review: Review, *, accepted: bool) -> None:
    run = "" if case.release is None else case.release.run
    if not review.accepted:
        raise RefusedError(f"{run} is refused: {'; '.join(review.reasons)}.")
    told = sorted({e.agent for e in review.exposed if e.agent in case.left})
    if told and not accepted:
        raise RefusedError(
            f"{run} is refused: to go on without {listed(told)} exposes what {listed(told)} brought in, to whoever "
            f'knows the sums before and after. The members agreed to that beforehand (dropout = "exclude"); if you '
            "do so now, start again with --accept-exposure."
        )


def _is_entered(book: Ledger, release: Release) -> bool:
    return any(entry.release.run == release.run for entry in book.entries())
