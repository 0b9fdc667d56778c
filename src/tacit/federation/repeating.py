"""Repeated runs: one manifest, a number for every run, and what a member remembers from one to the next.

    series = Series(manifest, me="north", folder=Path("."))
    account = repeat(series, lambda manifest: participate(manifest, …), play)

Run k of a series is the manifest with `run` raised by k − 1. The number is part of the session: every run has a
key, masks, a state file and a ledger's entry of its own, and members who are at different numbers refuse each
other's greeting. A run begins when all are there. Until the next one everybody waits by its own clock, from the end
of the first run, which all have seen at the same moment: clocks need not agree, and who is early waits for the
others.

What a member remembers is on its disk before a run begins and after it has ended. Started again after a kill, it
goes on with the run that it was in, begins none twice and leaves none out; a run that is late begins at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tacit.errors import DamagedError, InputError, RefusedError, StillNeededError, TacitError
from tacit.federation.durations import spoken
from tacit.federation.manifest import Manifest
from tacit.federation.numbering import numbered
from tacit.federation.participation import Participation
from tacit.listing import listed
from tacit.runtimes.peers.ending import write_whole
from tacit.runtimes.phases import Outcome
from tacit.runtimes.stopping import Progress
from tacit.showing import Readable

log = logging.getLogger("tacit.series")


class Turn(NamedTuple):
    """One run of a series."""

    number: int
    """From 1."""
    manifest: Manifest
    due: float
    """When it is to begin, by this member's clock; 0 for the first run, which begins when all are there."""


class Played(msgspec.Struct, frozen=True):
    """What is remembered of one run."""

    number: int
    records: str = ""
    """A digest of this member's records, keyed by its private key."""
    ended: float = 0.0
    """When it was over, by this member's clock; 0 while it is not."""
    status: str = ""
    rounds: int = 0


class _Memory(msgspec.Struct, frozen=True):
    session: str
    runs: tuple[Played, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesAccount(Readable):
    """What has become of a series so far."""

    title: str
    runs: int
    """How many there are to be."""
    played: tuple[Played, ...]
    """Those that are over."""

    def __str__(self) -> str:
        return self.sentence

    @property
    def converged(self) -> bool:
        """Whether all runs are over, and all have found the optimum."""
        return len(self.played) == self.runs and all(run.status == "converged" for run in self.played)

    @property
    def sentence(self) -> str:
        """All of it in a sentence."""
        apart = [f"run {run.number} ({run.status})" for run in self.played if run.status != "converged"]
        rest = "all of them converged" if not apart else f"not converged: {listed(apart)}"
        return f"{len(self.played)} of {self.runs} runs are over" + (f"; {rest}." if self.played else ".")

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        shown = ("number", "ended", "status", "rounds")
        return {
            "title": self.title,
            "runs": self.runs,
            "over": [{name: getattr(run, name) for name in shown} for run in self.played],
            "sentence": self.sentence,
        }


class Series:
    """A member's runs of one manifest, one after the other. *clock* tells seconds since 1970, *pause* waits."""

    def __init__(
        self,
        manifest: Manifest,
        *,
        me: str,
        folder: Path,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.manifest, self.me, self.folder, self._clock, self._pause = manifest, me, folder, clock, pause
        self.file = folder / f"{me}-{manifest.session()[:12]}.runs"
        self._memory = self._read()

    def __len__(self) -> int:
        return self.manifest.repeat.runs

    def _read(self) -> _Memory:
        if not self.file.exists():
            return _Memory(self.manifest.session())
        try:
            memory = msgspec.json.decode(self.file.read_bytes(), type=_Memory)
        except msgspec.DecodeError as error:
            raise DamagedError(
                f"{self.file}: is damaged. Move it away: runs that are over are known by their own files."
            ) from error
        if memory.session != self.manifest.session():
            raise InputError(f"{self.file}: is of another manifest.")
        return memory

    def _write(self, played: Played) -> None:
        """Remember one run, on disk first."""
        others = [run for run in self._memory.runs if run.number != played.number]
        memory = _Memory(self._memory.session, tuple(sorted((*others, played), key=lambda run: run.number)))
        write_whole(self.file, msgspec.json.encode(memory))
        self._memory = memory

    def _of(self, number: int) -> Played:
        return next((run for run in self._memory.runs if run.number == number), Played(number))

    @property
    def has_begun(self) -> bool:
        """Whether some run of it has."""
        return bool(self._memory.runs)

    def ahead(self) -> Iterator[Turn]:
        """Yield the runs that are not over, each when the one before it is."""
        for number in range(1, len(self) + 1):
            if not self._of(number).ended:
                yield Turn(number, numbered(self.manifest, number), self._due(number))

    def _due(self, number: int) -> float:
        """Return when a run is to begin: on a grid from the end of the first one, however long each takes."""
        first = self._of(1).ended
        return first + (number - 1) * self.manifest.repeat.every if first else 0.0

    def wait(self, turn: Turn) -> None:
        """Wait until a run is due, and say so; never for longer than from one run to the next."""
        every, now = self.manifest.repeat.every, self._clock()
        if turn.number == 1 or self._of(turn.number).records or self._answer(turn).exists():  # begun before
            return
        seconds = min(turn.due - now, every)  # a clock that was put back does not stop a series
        if seconds > 0:
            log.info("run %d of %d begins in %s", turn.number, len(self), spoken(seconds))
            self._pause(seconds)
        elif -seconds > 1.0:
            log.info("run %d of %d begins now, %s late", turn.number, len(self), spoken(-seconds))

    def _answer(self, turn: Turn) -> Path:
        """Return where the answer of a run is when it is over."""
        return self.folder / f"{self.me}-{turn.manifest.session()[:12]}.done"

    def begin(self, turn: Turn, records: str) -> None:
        """Remember that a run begins, with these *records*; refuse others than before, unless all accept that.

        Where answers carry noise, nothing is told by subtraction, and a refusal would tell that something changed.
        """
        before = next(
            (run for run in reversed(self._memory.runs) if run.number < turn.number and run.records), None
        )
        accepted = self.manifest.repeat.changes == "accept" or self.manifest.privacy.promise is not None
        if before is not None and before.records != records and not accepted:
            raise RefusedError(
                f"run {turn.number} of {len(self)} is refused: the records are not those of run {before.number}. "
                "The sums of both runs are told, and their difference is that of the records that came or went. "
                "Take the records of before, or agree on a manifest in which all members accept that.",
                command="See --changes of `tacit federation new`.",
            )
        if not self._of(turn.number).records:
            self._write(Played(turn.number, records))

    def end(self, turn: Turn, outcome: Outcome) -> None:
        """Remember that a run is over, and how; say it."""
        status, rounds = str(outcome.verdict.status), outcome.rounds
        self._write(
            msgspec.structs.replace(self._of(turn.number), ended=self._clock(), status=status, rounds=rounds)
        )
        log.info("run %d of %d is over: %s", turn.number, len(self), outcome.verdict.status)

    def account(self) -> SeriesAccount:
        """Return what has become of the runs so far."""
        over = tuple(run for run in self._memory.runs if run.ended)
        return SeriesAccount(self.manifest.title, len(self), over)


def repeat(
    series: Series,
    take_part: Callable[[Manifest], Participation],
    play: Callable[[Turn, Participation], Outcome],
    decline: Callable[[Manifest], object] | None = None,
) -> SeriesAccount:
    """Take part in all runs of a series that are not over, each when it is due, and return the account.

    *take_part* reads the records again for every run, and asks the ledger. *play* runs it, as `to_the_end` does.
    *decline* tells the neighbours where this member's ledger or its changed records refuse a later run, when nobody
    may be there to read why: they would wait for as long as they have patience. A first run is waited for.
    """
    for turn in series.ahead():
        series.wait(turn)
        try:
            part = take_part(turn.manifest)
            series.begin(turn, part.records)
            outcome = play(turn, part)
        except TacitError as error:
            if isinstance(error, RefusedError) and turn.number > 1 and decline is not None:
                decline(turn.manifest)
            log.warning("run %d of %d is not over; %s", turn.number, len(series), series.account().sentence)
            raise
        series.end(turn, outcome)
    return series.account()


def to_the_end(
    turn: Turn,
    part: Participation,
    on_progress: Callable[[Progress], None] | None = None,
    on_wait: Callable[[str, float], None] | None = None,
    on_answer: Callable[[Outcome], None] | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Run one of a series, and stay until every neighbour has its answer, too.

    In the next run it would be waited for in vain: one that is not in the same run is not let in.
    """
    outcome = part.run(on_progress, on_wait, on_answer)
    # some are back for the next run only
    end = clock() + turn.manifest.stop.patience + turn.manifest.repeat.every
    while not part.agent.result.exists():
        if clock() >= end:
            raise StillNeededError(part.agent.needed_by)
        part.run(on_progress, on_wait)
    return outcome
