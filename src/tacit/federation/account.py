"""A member's ledger around its run: asked before anything is sent, written before anything is published.

A restart finds its own entry and makes no second one, and so does one that comes after a crash between the entry
and the first message. The same manifest with fresh masks, in a new folder or after the state was lost, is another
run, and counts again.

A later epoch is no second run. With Gaussian masks it is the same view of those who stay, on a graph without those
who have left: what is entered is by how much that costs more. Secret sums have new masks, and cost nothing. Either
way the sums before and after tell the leavers' contribution, which must be accepted in so many words.

A run with newcomers lists the runs before it. What a ledger does not know of them is entered, too: the newcomer's
own knows none, and the sums of both tell what the newcomer brings. Everybody accepts that in so many words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tacit.certificates import Exposure, Ledger, Release, Review
from tacit.differential.budget import mu_for
from tacit.errors import FileError, InputError, RefusedError
from tacit.federation.earlier import entry_name, newcomers, refusal, released_by
from tacit.federation.entries import (
    Consent,
    earlier_entry,
    is_entered,
    release_of,
    repetitions,
    unheard,
    unnamed,
)
from tacit.federation.epochs import Brought, brought
from tacit.federation.manifest import Manifest, refuse_strangers
from tacit.listing import listed
from tacit.runtimes.peers import Agent


class _Case(NamedTuple):
    """What is to be entered; nothing where the same is shown again."""

    release: Release | None
    left: tuple[str, ...] = ()


class Permit(NamedTuple):
    """What a ledger gives that has agreed to a run."""

    enter: Callable[[], None]
    """Enters it; called again, it enters nothing."""
    accepted: tuple[Exposure, ...]
    """What it tells of this member by subtraction, which was accepted."""


def ask_ledger(manifest: Manifest, agent: Agent, file: Path, consent: Consent) -> Permit:
    """Refuse a run that a member's ledger refuses; return what enters it, for `agent.run(on_commit=…)`."""
    before = brought(agent.file, agent.seat) if manifest.epoch else None
    return permit(manifest, agent.me, file, consent, draw=agent.draw, before=before)


def permit(
    manifest: Manifest,
    me: str,
    file: Path,
    consent: Consent,
    *,
    draw: Callable[[], str],
    before: Brought | None = None,
) -> Permit:
    """Return the permit of a member's ledger: the law by itself, without an agent.

    *draw* names the masks, and nothing while there are none; *before* is what the member brings from an earlier
    epoch.
    """
    refuse_strangers(manifest, consent.changed, who="{} is said to have changed and")
    release = release_of(manifest, consent, draw=draw())
    standing = manifest.repeat.changes == "accept"  # all have agreed to it, in the manifest
    accept = (me,) if consent.accept_change or standing else ()
    came, earlier = newcomers(manifest), [released_by(run) for run in manifest.earlier if run.level != "none"]
    accepted: tuple[Exposure, ...] = ()
    with _opened(file) as book:
        if book.owner not in (None, me):
            raise InputError(f"{file}: is the ledger of {book.owner}, not of {me}.")
        if before is not None and before.committed:
            _make_up_for(book, manifest, before, consent)
        case = _case(book, manifest, release, before)
        if case.release is not None and not is_entered(book, case.release):
            review = book.check(
                unnamed(book, case.release),
                left=case.left,
                came=came,
                heard=unheard(book, earlier),
                accept_changes=accept,
            )
            _refuse(case, review, consent)
            _refuse_newcomers(manifest, review, consent)
            accepted = tuple(exposure for exposure in review.exposed if exposure.is_change)
        elif case.release is not None:
            accepted = _accepted(book, manifest, draw())

    def enter() -> None:
        if case.release is None:
            return
        new = case.release if case.release.masks else replace(case.release, key=draw())
        with Ledger(file) as book:
            for run in unheard(book, earlier):
                if me in run.participants:
                    book.add(run, anyway=True)
                else:
                    book.hear_of(run)
            if not is_entered(book, new):
                book.add(unnamed(book, new), left=case.left, came=came, accept_changes=accept)

    return Permit(enter, accepted)


def refuse_unaffordable(manifest: Manifest, file: Path, consent: Consent) -> None:
    """Refuse a series whose noisy answers together would exceed what the ledger allows, before its first run."""
    promised, runs = manifest.promised(), manifest.repeat.runs
    with _opened(file) as book:
        answered = book.answered(consent.cost_version)
    if promised is None or answered is None or runs == 1:
        return
    why = answered.refusal(mu_for(answered.unit, promised.guarantee), runs=runs)
    if why is not None:
        raise RefusedError(f"{manifest.title} is refused: {why}. Agree on fewer runs, or on a smaller epsilon.")


def _opened(file: Path) -> Ledger:
    if not file.exists():
        raise FileError(f"{file}: there is no ledger.", command="`tacit ledger new` starts one, with a budget.")
    return Ledger(file)


def accepted_before(manifest: Manifest, agent: Agent, file: Path) -> tuple[Exposure, ...]:
    """Return what a run that is over, and was entered, tells of this member by subtraction."""
    with _opened(file) as book:
        return _accepted(book, manifest, agent.draw())


def _accepted(book: Ledger, manifest: Manifest, draw: str) -> tuple[Exposure, ...]:
    name = entry_name(manifest, manifest.epoch, manifest.session())
    entries = book.entries()
    same = [entry for entry in entries if draw and entry.release.key == draw]
    names = set(repetitions(name, len(entries)))
    same = same or [entry for entry in entries if entry.release.run in names]
    return tuple(e for e in book.reviewed(same[-1]).exposed if e.is_change) if same else ()


def _make_up_for(book: Ledger, manifest: Manifest, before: Brought, consent: Consent) -> None:
    """Enter an earlier epoch that is in no ledger: something may have been published in it."""
    if earlier_entry(book, manifest, before) is None:
        book.add(unnamed(book, release_of(before.origin, consent, draw=before.draw)), anyway=True)


def _case(book: Ledger, manifest: Manifest, release: Release, before: Brought | None) -> _Case:
    """Return what a run tells beyond what is in the ledger."""
    earlier = None if before is None else earlier_entry(book, manifest, before)
    if before is None or earlier is None:
        return _Case(release)
    left = tuple(a for a in earlier.release.participants if a not in manifest.members)
    if not release.sigmas or not before.committed:  # masks of their own
        return _Case(release, left)
    if not left:  # links alone were left out: their terms are still in the masks
        return _Case(None)
    return _Case(earlier.release.without(left, run=release.run), left)


def _refuse(case: _Case, review: Review, consent: Consent) -> None:
    run = "" if case.release is None else case.release.run
    if not review.accepted:
        changed = any(exposure.is_change for exposure in review.exposed) and not consent.accept_change
        remedy = (
            " The sums of both runs are told, and their difference is that of the records that came or went. Name "
            "the members whose data have changed too; if the change may be known, accept it and start again."
        )
        raise RefusedError(
            f"{run} is refused: {'; '.join(review.reasons)}.{remedy * changed}",
            command="--changed names them, and --accept-change accepts it." * changed,
        )
    exposed = sorted({e.agent for e in review.exposed if e.agent in case.left})
    if exposed and not consent.accept_exposure:
        leavers = listed(exposed)
        raise RefusedError(
            f"{run} is refused: to go on without {leavers} exposes what {leavers} brought in, to whoever "
            f'knows the sums before and after. The members agreed to that beforehand (dropout = "exclude"); if you '
            "do so now, accept the exposure and start again.",
            command="--accept-exposure accepts it.",
        )


def _refuse_newcomers(manifest: Manifest, review: Review, consent: Consent) -> None:
    exposed = sorted({e.agent for e in review.exposed if e.agent in newcomers(manifest)})
    if exposed and not consent.accept_exposure:
        raise refusal(manifest, exposed)
