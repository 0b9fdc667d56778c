"""What an agent has already released, across runs: a file that only grows.

One SQLite file per agent (`ledger_file`). `add` judges a run (`reviewing`) and records it in one transaction, so
two processes cannot both take the last of the budget.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tacit.certificates.composition import exposures
from tacit.certificates.exposure import Exposure
from tacit.certificates.finite import finite_or_none
from tacit.certificates.ledger_file import Entry, LedgerFile
from tacit.certificates.release import Release, exact
from tacit.certificates.reviewing import Law, Review
from tacit.differential import AnswerBudget
from tacit.differential.guarantee import Unit
from tacit.errors import FileError, GraphError, InputError, RefusedError
from tacit.spelling import did_you_mean


class Ledger:
    """An agent's record of its releases.

    *budget* is the largest total ε for one version of the costs, against every coalition of at most *any* agents.
    *answers* is what all noisy answers about one version may tell together, (ε, δ); exact ones are refused then.
    All are fixed when the file is made. *owner* is the agent whose ledger this is.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        owner: str | None = None,
        budget: float | None = None,
        any: int | None = None,
        answers: AnswerBudget | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if budget is not None and not (math.isfinite(budget) and budget > 0):
            raise InputError(f"budget = {budget} must be a positive number: the largest total ε.")
        if any is not None and any < 0:
            raise InputError(f"any = {any} must not be negative: the size of the coalitions to guard against.")
        self.path, self._clock = Path(path), clock
        terms = {"owner": owner, "budget": None if budget is None else float(budget), "any": any}
        if answers is not None:
            terms |= {"epsilon": float(answers.epsilon), "delta": float(answers.delta), "unit": answers.unit}
        self._file = LedgerFile(self.path, terms)
        self._terms = self._file.terms

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
        self._file.close()

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

    @property
    def answers(self) -> AnswerBudget | None:
        """What all noisy answers may tell together, if that was set; nothing of it is spent yet in this value."""
        if "epsilon" not in self._terms:
            return None
        unit: Unit = "label" if self._terms.get("unit") == "label" else "record"
        return AnswerBudget(float(self._terms["epsilon"]), float(self._terms["delta"]), unit=unit)

    def answered(self, cost_version: str = "1") -> AnswerBudget | None:
        """Return that budget with what the noisy answers about one version have spent of it."""
        return self._law.answered(self.entries(), cost_version)

    @property
    def _law(self) -> Law:
        return Law(self.owner, self.budget, self.guards, self.answers)

    def entries(self) -> tuple[Entry, ...]:
        """Return everything recorded, in order."""
        return self._file.entries()

    def spent(self, cost_version: str) -> float:
        """Return the total ε released about one version of the costs."""
        return sum(e.epsilon for e in self.entries() if e.release.cost_version == cost_version)

    def exposed(self, coalition: tuple[str, ...] = ()) -> tuple[Exposure, ...]:
        """Return who is exposed by everything recorded together."""
        return exposures(exact([e.release for e in self.entries()]), coalition=coalition, owner=self.owner)

    def agents(self) -> tuple[str, ...]:
        """Return everybody who has taken part in a run."""
        return tuple(dict.fromkeys(agent for e in self.entries() for agent in e.release.participants))

    def named(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return agents by their names; refuse one who has taken part in no run."""
        agents, wanted = self.agents(), tuple(names)
        stranger = next((name for name in wanted if name not in agents), None)
        if stranger is not None:
            meant = did_you_mean(stranger, agents)
            raise GraphError(f"no agent is called {stranger} in any run of this ledger.{meant}")
        return wanted

    def to_dict(self, coalition: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the terms, the runs, and who is exposed by all of them together to *coalition*, for JSON."""
        exposed = self.exposed(coalition)
        return {
            "owner": self.owner,
            "budget": self.budget,
            "any": self.guards,
            "answers": self._answers_to_dict(),
            "runs": [entry.to_dict() for entry in self.entries()],
            "exposed": [str(exposure) for exposure in exposed],
            "exposures": [exposure.to_dict() for exposure in exposed],
        }

    def _answers_to_dict(self) -> dict[str, Any] | None:
        """Return the budget of answers, and what is spent of it for every version of the costs."""
        versions = dict.fromkeys(entry.release.cost_version for entry in self.entries())
        spent = {version: budget.mu_spent for version in versions if (budget := self.answered(version))}
        terms = self.answers
        if terms is None:
            return None
        named = {"epsilon": terms.epsilon, "delta": terms.delta, "unit": terms.unit, "mu": terms.mu}
        return named | {"spent": {version: finite_or_none(mu) for version, mu in spent.items()}}

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
        past = (*self.entries(), *(Entry(0, 0.0, other, 0.0) for other in heard))
        return self._law.review(past, release, tuple(left), tuple(accept_changes), tuple(came))

    def reviewed(self, entry: Entry) -> Review:
        """Judge a run that is recorded already, as it was when it was entered: by the runs before it."""
        before = tuple(each for each in self.entries() if each.number < entry.number)
        return self._law.review(before, entry.release, (), (), ())

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
        with self._file.exclusively():
            review = self._law.review(self.entries(), release, tuple(left), tuple(accept_changes), tuple(came))
            if not review.accepted and not anyway:
                raise RefusedError(f"run {release.run} is refused: {'; '.join(review.reasons)}.")
            return self._append(release, review.epsilon)

    def hear_of(self, release: Release) -> Entry:
        """Record a run of others, of which the owner was told: it costs nothing, and its sums count from now on."""
        if self.owner in release.participants:
            raise InputError(
                f"{self.owner}, whose ledger this is, took part in run {release.run}: it is to be added."
            )
        with self._file.exclusively():
            return self._append(release, 0.0)

    def _append(self, release: Release, epsilon: float) -> Entry:
        entry = Entry(len(self.entries()) + 1, self._clock(), release, epsilon)
        self._file.append(entry)
        return entry
