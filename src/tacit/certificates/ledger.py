"""What an agent has already released, across runs: a file that only grows.

One SQLite file per agent. Every row carries the SHA-256 of itself and of the row before, the first one that of
the ledger's terms, and the head of the chain is kept beside them, so that a changed, missing or reordered row is
noticed (not a forger who rewrites the whole file: keep copies). Triggers refuse updates and deletions; a row is
on disk before `add` returns (write-ahead log, full synchronisation). `add` judges a run and records it in one
transaction, so two processes cannot both take the last of the budget.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import networkx as nx

from tacit.certificates.certificate import certify
from tacit.certificates.composition import exposures, exposures_to_any, joint_changes
from tacit.certificates.exposure import Exposure, newly_exposed
from tacit.certificates.release import NUMBER, Release, is_repeated, reused_masks
from tacit.certificates.unclear import unclear_changes
from tacit.errors import FileError, InputError, LedgerError, RefusedError

_SCHEMA = """
CREATE TABLE terms (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    recorded REAL NOT NULL,
    release TEXT NOT NULL,
    epsilon REAL NOT NULL,
    chain TEXT NOT NULL
) STRICT;
CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, chain TEXT NOT NULL) STRICT;
CREATE TRIGGER head_remains BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER terms_stay BEFORE UPDATE ON terms BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER terms_remain BEFORE DELETE ON terms BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER rows_stay BEFORE UPDATE ON releases BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER rows_remain BEFORE DELETE ON releases BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
PRAGMA user_version = 1;
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a release, when it was recorded, and what it cost."""

    number: int
    recorded: float
    release: Release
    epsilon: float
    """ε of this run alone against every coalition of the ledger's size; 0 for a repeated view, and what it rises by
    where a run went on without somebody."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row for JSON; ∞ becomes None."""
        return {
            "number": self.number,
            "run": self.release.run,
            "recorded": self.recorded,
            "agents": len(self.release.participants),
            "sigma": list(self.release.sigmas),
            "basis": self.release.basis,
            "cost_version": self.release.cost_version,
            "epsilon": _finite(self.epsilon),
        }


@dataclass(frozen=True, slots=True)
class Review:
    """What a run would do to the ledger."""

    accepted: bool
    epsilon: float
    """ε of the run alone."""
    spent: float
    """ε of everything recorded for the same costs before it."""
    budget: float | None
    exposed: tuple[Exposure, ...]
    """What it would tell of single agents, together with the runs before it; accepted or not."""
    reasons: tuple[str, ...]
    joint: tuple[Exposure, ...] = ()
    """Sums over few agents that it would tell in the same way; no reason to refuse, and worth knowing."""

    @property
    def total(self) -> float:
        """ε with the run."""
        return self.spent + self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement for JSON; ∞ becomes None."""
        return {
            "accepted": self.accepted,
            "epsilon": _finite(self.epsilon),
            "spent": _finite(self.spent),
            "budget": self.budget,
            "reasons": list(self.reasons),
            "exposures": [exposure.to_dict() for exposure in (*self.exposed, *self.joint)],
        }


class Ledger:
    """An agent's record of its releases.

    *budget* is the largest total ε for one version of the costs, against every coalition of at most *any* agents;
    both are fixed when the file is made. *owner* is the agent whose ledger this is.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        owner: str | None = None,
        budget: float | None = None,
        any: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if budget is not None and not (math.isfinite(budget) and budget > 0):
            raise InputError(f"budget = {budget} must be a positive number: the largest total ε.")
        if any is not None and any < 0:
            raise InputError(f"any = {any} must not be negative: the size of the coalitions to guard against.")
        self.path, self._clock = Path(path), clock
        if not self.path.parent.is_dir():
            raise FileError(f"{self.path}: the folder does not exist.")
        if self.path.exists() and self.path.stat().st_size == 0:
            raise LedgerError(f"{self.path}: is empty, and a ledger never is; restore a copy.")
        fresh = not self.path.exists()
        try:
            self._database = sqlite3.connect(self.path, isolation_level=None, timeout=30.0)
            self._database.execute("PRAGMA synchronous = FULL")
            terms = {"owner": owner, "budget": None if budget is None else float(budget), "any": any}
            self._terms = self._opened({name: value for name, value in terms.items() if value is not None})
            self._database.execute("PRAGMA journal_mode = WAL")
            self._verify()
        except (
            sqlite3.OperationalError
        ) as error:  # of the disk, the folder or another process: not of what it holds
            if fresh:
                with contextlib.suppress(OSError):
                    self.path.unlink()  # an empty file would pass for a ledger that was emptied
            raise FileError(
                f"{self.path}: cannot be {'started' if fresh else 'opened'} ({error}); see whether the folder can "
                f"be written and the disk has room.{'' if fresh else ' Nothing in it was changed.'}"
            ) from error
        except sqlite3.DatabaseError as error:
            raise LedgerError(
                f"{self.path}: is damaged or no ledger ({error}); it was left as it is. Restore a copy, and do not "
                "start a new one for the same costs: what was released stays released."
            ) from error

    @classmethod
    def existing(cls, path: str | Path) -> Self:
        """Return the ledger in a file; refuse to start one, as a misspelt name would."""
        if not Path(path).exists():
            raise FileError(
                f"{path}: there is no ledger.",
                command="`tacit ledger add` starts one, and so does `tacit ledger new`.",
            )
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @property
    def owner(self) -> str | None:
        """The agent whose ledger this is."""
        return self._terms.get("owner")

    @property
    def budget(self) -> float | None:
        """The largest total ε, if one was set."""
        value = self._terms.get("budget")
        return None if value is None else float(value)

    @property
    def guards(self) -> int:
        """The size of the coalitions that ε is counted against; 1 unless set."""
        return int(self._terms.get("any", 1))

    def entries(self) -> tuple[Entry, ...]:
        """Return everything recorded, in order."""
        return tuple(entry for entry, _, _ in self._rows())

    def spent(self, cost_version: str) -> float:
        """Return the total ε released about one version of the costs."""
        return sum(e.epsilon for e in self.entries() if e.release.cost_version == cost_version)

    def exposed(self, coalition: tuple[str, ...] = ()) -> tuple[Exposure, ...]:
        """Return who is exposed by everything recorded together."""
        return exposures([e.release for e in self.entries()], coalition=coalition, owner=self.owner)

    def agents(self) -> tuple[str, ...]:
        """Return everybody who has taken part in a run."""
        return tuple(dict.fromkeys(agent for e in self.entries() for agent in e.release.participants))

    def to_dict(self, coalition: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the terms, the runs, and who is exposed by all of them together to *coalition*, for JSON."""
        exposed = self.exposed(coalition)
        return {
            "owner": self.owner,
            "budget": self.budget,
            "any": self.guards,
            "runs": [entry.to_dict() for entry in self.entries()],
            "exposed": [str(exposure) for exposure in exposed],
            "exposures": [exposure.to_dict() for exposure in exposed],
        }

    def check(
        self,
        release: Release,
        *,
        left: Iterable[str] = (),
        came: Iterable[str] = (),
        heard: Iterable[Release] = (),
        accept_changes: Iterable[str] = (),
    ) -> Review:
        """Judge a run before it happens. Nothing is recorded.

        Where agents have *left* in the middle of a run, and the others go on, its masks stay and those agents'
        exposure is accepted: it is in the review, and is no reason to refuse. *accept_changes* names agents of whom
        others may learn how their data differ from before; never the data themselves. Of those who *came* since the
        runs before, the exposure is accepted like that of leavers. *heard* are earlier runs that are not recorded
        here, as `hear_of` would.
        """
        past = [*self.entries(), *(Entry(0, 0.0, other, 0.0) for other in heard)]
        return self._review(tuple(past), release, tuple(left), tuple(accept_changes), tuple(came))

    def reviewed(self, entry: Entry) -> Review:
        """Judge a run that is recorded already, as it was when it was entered: by the runs before it."""
        before = tuple(each for each in self.entries() if each.number < entry.number)
        return self._review(before, entry.release, (), (), ())

    def add(
        self,
        release: Release,
        *,
        left: Iterable[str] = (),
        came: Iterable[str] = (),
        accept_changes: Iterable[str] = (),
        anyway: bool = False,
    ) -> Entry:
        """Record a run; refuse one that `check` refuses, unless it has happened *anyway* and must be counted.

        A run that goes on without those who have *left* is entered with what ε rises by: ε' − ε, or 0.
        """
        with self._exclusively():
            review = self._review(self.entries(), release, tuple(left), tuple(accept_changes), tuple(came))
            if not review.accepted and not anyway:
                raise RefusedError(f"run {release.run} is refused: {'; '.join(review.reasons)}.")
            return self._append(release, review.epsilon)

    def hear_of(self, release: Release) -> Entry:
        """Record a run of others, of which the owner was told: it costs nothing, and its sums count from now on."""
        if self.owner in release.participants:
            raise InputError(
                f"{self.owner}, whose ledger this is, took part in run {release.run}: it is to be added."
            )
        with self._exclusively():
            return self._append(release, 0.0)

    def _append(self, release: Release, epsilon: float) -> Entry:
        number, now = len(self.entries()) + 1, self._clock()
        text = msgspec.json.encode(release).decode()
        spent = epsilon if math.isfinite(epsilon) else 1e308
        chain = _link(self._head()[1], number, now, text, spent)
        self._database.execute("INSERT INTO releases VALUES (?, ?, ?, ?, ?)", (number, now, text, spent, chain))
        self._database.execute("UPDATE head SET number = ?, chain = ?", (number, chain))
        return Entry(number, now, release, epsilon)

    def _review(
        self,
        entries: tuple[Entry, ...],
        new: Release,
        left: tuple[str, ...],
        accepted: tuple[str, ...],
        came: tuple[str, ...],
    ) -> Review:
        if self.owner is not None and self.owner not in new.participants:
            raise InputError(f"{self.owner}, whose ledger this is, takes no part in run {new.run}.")
        past = [entry.release for entry in entries]
        reasons: list[str] = []
        if any(old.run == new.run for old in past):
            reasons.append(f"another run is recorded as {new.run}; a retry is a run of its own")
        if new.masks and not any(old.draw == new.masks for old in past):
            reasons.append(f"no run {new.masks} is recorded whose masks could be used again")
        reused = reused_masks(past, new, left=left)
        if reused is not None:
            reasons.append(
                f"the masks of run {reused.run} would be used again with other costs, agents or links, and the "
                "difference of the two would be exact"
            )
        epsilon = 0.0 if is_repeated(past, new) else _epsilon(new, self.guards)
        if left and new.masks and math.isfinite(epsilon):  # one view of those who stay: the larger ε counts
            epsilon = max(epsilon - sum(e.epsilon for e in entries if e.release.same_masks(new)), 0.0)
        if math.isinf(epsilon):
            reasons.append(
                f"a coalition of {self.guards} cuts its honest agents apart, so nothing bounds what it learns"
            )
        past_exposed = exposures_to_any(past, self.guards, owner=self.owner)
        now_exposed = exposures_to_any([*past, new], self.guards, owner=self.owner)
        spent = _spent(entries, new, now_exposed, self.owner)
        if self.budget is not None and spent + epsilon > self.budget * (1 + 1e-12):
            reasons.append(
                f"ε would come to {spent + epsilon:.3g}, above the budget of {self.budget:.3g} "
                f"({spent:.3g} is spent on these costs)"
            )
        exposed = newly_exposed(past_exposed, now_exposed)
        exposed += unclear_changes(past, new, self.guards)
        if self.owner is None and _is_anothers(past, new):
            reasons.append(
                f"its costs are {new.cost_version} and earlier ones were others, and nobody knows whose have "
                "changed: a ledger that is started with an owner does"
            )
        reasons += [str(e) for e in exposed if e.agent not in (*left, *came) and not self._allows(e, accepted)]
        joint = joint_changes([*past, new], self.guards, owner=self.owner)
        return Review(not reasons, epsilon, spent, self.budget, exposed, tuple(reasons), joint)

    def _allows(self, exposure: Exposure, accepted: tuple[str, ...]) -> bool:
        """Tell whether a change may be known: it was accepted, or it is not the owner's, who has none to refuse."""
        mine = self.owner is None or self.owner in exposure.agents
        return exposure.is_change and (not mine or set(exposure.agents) <= set(accepted))

    def _opened(self, given: dict[str, object]) -> dict[str, str]:
        """Make a new file, or compare the terms given with those of the file."""
        with self._exclusively():
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version == 0 and not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for command in _commands(_SCHEMA):
                    self._database.execute(command)
                rows = [(name, str(value)) for name, value in given.items()]
                self._database.executemany("INSERT INTO terms VALUES (?, ?)", rows)
                self._database.execute("INSERT INTO head VALUES (1, 0, ?)", (_genesis(dict(rows)),))
            elif version != 1:
                raise LedgerError(f"{self.path}: is another kind of file, and was left as it is.")
            terms = dict(self._database.execute("SELECT name, value FROM terms").fetchall())
        for name, value in given.items():
            if name not in terms or str(value) != terms[name]:
                kept = terms.get(name, "none")
                raise LedgerError(
                    f"{self.path}: was made with {name} = {kept}, not {value}; a ledger's terms stay."
                )
        return terms

    def _verify(self) -> None:
        broken = self._database.execute("PRAGMA quick_check").fetchone()[0]
        if broken != "ok":
            raise sqlite3.DatabaseError(broken)
        before, count = _genesis(self._terms), 0
        for entry, text, chain in self._rows():
            count = entry.number
            stored = entry.epsilon if math.isfinite(entry.epsilon) else 1e308
            before = _link(before, entry.number, entry.recorded, text, stored)
            if before != chain:
                raise LedgerError(
                    f"{self.path}: row {entry.number} was changed after it was written; restore a copy."
                )
        if self._head() != (count, before):
            raise LedgerError(f"{self.path}: its last rows are missing or its terms were changed; restore a copy.")

    def _rows(self) -> Iterator[tuple[Entry, str, str]]:
        """Yield every row as an entry, with its text as stored and its link of the chain."""
        rows = self._database.execute("SELECT * FROM releases ORDER BY number").fetchall()
        for expected, (number, recorded, text, epsilon, chain) in enumerate(rows, start=1):
            if number != expected:
                raise LedgerError(f"{self.path}: row {expected} is missing; restore a copy.")
            try:
                release = msgspec.json.decode(text, type=Release)
            except msgspec.MsgspecError as error:
                raise LedgerError(f"{self.path}: row {number} cannot be read; restore a copy.") from error
            yield Entry(number, recorded, release, math.inf if epsilon >= 1e308 else epsilon), text, chain

    def _head(self) -> tuple[int, str]:
        """Return the number and the chain of the last row."""
        number, chain = self._database.execute("SELECT number, chain FROM head").fetchone()
        return number, chain

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """One transaction that no other process can enter: all of it happens, or nothing."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise LedgerError(f"{self.path}: cannot be written now ({error}); try again.") from error
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _epsilon(release: Release, guards: int) -> float:
    """Return ε of one run against every coalition of at most *guards* of its participants."""
    size = min(guards, len(release.participants) - 2)
    scales = {(a, b): scale for a, b, scale in release.link_scales} or None
    sigma = release.sigmas or math.inf
    return certify(release.graph(), any=max(size, 0), sigma=sigma, link_scales=scales).epsilon


def _spent(entries: tuple[Entry, ...], new: Release, exposed: Iterable[Exposure], owner: str | None) -> float:
    """Return the ε of all runs about the costs of *new*, and about costs that differ from them by something told.

    To whoever knows the change, a view of the one is a view of the other. Costs of the same data are the same,
    whatever they are called.
    """
    version = {entry.release.run: entry.release.cost_version for entry in entries} | {new.run: new.cost_version}
    same: nx.Graph[Any] = nx.Graph([(new.cost_version, new.cost_version)])
    for release in (*(entry.release for entry in entries), new):
        of_data = [v for v in release.versions if owner in (None, v[0]) and v[1] != NUMBER]
        same.add_edges_from((release.cost_version, version) for version in of_data)
    for exposure in exposed:
        if exposure.is_change:
            nx.add_path(same, [version[run] for run in exposure.between])
    counted = nx.node_connected_component(same, new.cost_version)
    return sum(entry.epsilon for entry in entries if entry.release.cost_version in counted)


def _is_anothers(past: Iterable[Release], new: Release) -> bool:
    """Tell whether costs are called otherwise than before and no run says whose they are."""
    silent = [release for release in past if not release.versions and not release.changed]
    named = bool(new.versions or new.changed)
    return not named and any(old.cost_version != new.cost_version for old in silent)


def _genesis(terms: dict[str, str]) -> str:
    return hashlib.sha256(repr(sorted(terms.items())).encode()).hexdigest()


def _link(before: str, number: int, recorded: float, text: str, epsilon: float) -> str:
    return hashlib.sha256(f"{before}|{number}|{recorded!r}|{text}|{epsilon!r}".encode()).hexdigest()


def _commands(script: str) -> list[str]:
    """Split a script into statements; triggers hold semicolons of their own."""
    commands, current = [], ""
    for line in script.strip().splitlines():
        current += line + "\n"
        if sqlite3.complete_statement(current):
            commands.append(current)
            current = ""
    return commands
