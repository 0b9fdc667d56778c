"""What a member is told at the end of a run: the answer, the table of its model, and what was hidden of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.federation.participation import Participation
from tacit.federation.statements import Statements
from tacit.learning.fitted import fitted_table
from tacit.learning.inference import Summary
from tacit.runtimes.peers.spells import LinkTimes
from tacit.runtimes.phases import Outcome
from tacit.showing import Shown
from tacit.solving.record import vector


@dataclass(frozen=True, slots=True)
class MemberReport(Shown):
    """One member's answer with everything that is to be said about it."""

    session: str
    outcome: Outcome
    privacy: Statements
    table: Summary | None
    """The coefficients, where the manifest has a model of records."""
    links: LinkTimes | None = None
    """When its links were up since it was last started, where somebody has kept a diary."""

    def __str__(self) -> str:
        verdict = self.outcome.verdict
        answer = [f"x = {vector(self.outcome.x.tolist())}."] if self.table is None else self.table.lines()
        return "\n".join([f"{str(verdict.status).capitalize()}. {verdict.sentence}", *answer, *self.privacy.lines])

    @property
    def converged(self) -> bool:
        """Whether all members agree on the minimiser."""
        return self.outcome.verdict.converged

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        verdict = self.outcome.verdict
        return {
            "x": self.outcome.x.tolist(),
            "rounds": self.outcome.rounds,
            "noise": None if self.outcome.noise is None else self.outcome.noise.tolist(),
            "status": str(verdict.status),
            "sentence": verdict.sentence,
            "session": self.session,
            **self.privacy.to_dict(),
            **({} if self.table is None else self.table.to_dict()),
        }


def member_report(part: Participation, outcome: Outcome, links: LinkTimes | None = None) -> MemberReport:
    """Return what a member is told after its *part* in a run; *links* are from its diary."""
    table = fitted_table(part.manifest, part.columns, outcome)
    return MemberReport(part.manifest.session(), outcome, part.statements(), table, links)
