"""What a run would do to a ledger: the law by which it is accepted or refused.

ε adds up over the runs about the same costs, and over costs that differ by something that is told. Besides what
exceeds the budget, a run is refused where masks are used again for something else, where a coalition cuts the
honest agents apart, and where it exposes somebody together with the runs before it.

Runs whose answers carry noise are another matter. Their sums are not exact, so that nothing is told by subtraction:
they take no part in that. What adds up is μ², and a budget for answers says how much of it. Nothing of that looks
at records, or at digests of them: whether such a run is refused follows from promises alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.certificates.certifying import certify
from tacit.certificates.composition import exposures_to_any, joint_changes
from tacit.certificates.exposure import Exposure, newly_exposed
from tacit.certificates.finite import finite_or_none
from tacit.certificates.ledger_file import Entry
from tacit.certificates.release import NUMBER, Release, exact, is_repeated, reused_masks
from tacit.certificates.unclear import unclear_changes
from tacit.differential import AnswerBudget
from tacit.differential.budget import mu_for
from tacit.errors import InputError
from tacit.later import later
from tacit.showing import Readable

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


@dataclass(frozen=True, slots=True)
class Review(Readable):
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
    answers: AnswerBudget | None = None
    """What all noisy answers about these costs may tell, with what they have told before it; None without one."""

    @property
    def total(self) -> float:
        """ε with the run."""
        return self.spent + self.epsilon

    def __str__(self) -> str:
        limit = "" if self.budget is None else f" of {self.budget:g}"
        costs = f"ε = {self.epsilon:.4g} for this run, {self.total:.4g}{limit} with those before it"
        exposures = [str(exposure) for exposure in (*self.exposed, *self.joint)]
        return "\n".join([f"{'Accepted' if self.accepted else 'Refused'}: {costs}.", *self.reasons, *exposures])

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement for JSON; ∞ becomes None."""
        return {
            "accepted": self.accepted,
            "epsilon": finite_or_none(self.epsilon),
            "spent": finite_or_none(self.spent),
            "budget": self.budget,
            "reasons": list(self.reasons),
            "exposures": [exposure.to_dict() for exposure in (*self.exposed, *self.joint)],
            "answers": None
            if self.answers is None
            else {"mu": self.answers.mu, "spent": finite_or_none(self.answers.mu_spent)},
        }


@dataclass(frozen=True, slots=True)
class Law:
    """The terms that runs are judged by: whose ledger it is, its budget, and the size of coalitions."""

    owner: str | None
    budget: float | None
    guards: int
    answers: AnswerBudget | None = None
    """For all noisy answers about the same costs together; None where nobody has set one."""

    def review(
        self,
        entries: tuple[Entry, ...],
        new: Release,
        left: tuple[str, ...],
        accepted: tuple[str, ...],
        came: tuple[str, ...],
    ) -> Review:
        """Judge a run after those that are recorded; *left*, *accepted* and *came* are those of `Ledger.check`."""
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
        epsilon = 0.0 if is_repeated(past, new) else epsilon_of(new, self.guards)
        if left and new.masks and math.isfinite(epsilon):  # one view of those who stay: the larger ε counts
            epsilon = max(epsilon - sum(e.epsilon for e in entries if e.release.same_masks(new)), 0.0)
        if math.isinf(epsilon):
            reasons.append(
                f"a coalition of {self.guards} cuts its honest agents apart, so nothing bounds what it learns"
            )
        answered = self.answered(entries, new.cost_version)
        reasons += self._beyond_promises(past, new, answered)
        if new.answer is not None:  # noise is told, and no sum
            spent = sum(e.epsilon for e in entries if e.release.cost_version == new.cost_version)
            reasons += self._beyond_budget(spent, epsilon)
            return Review(not reasons, epsilon, spent, self.budget, (), tuple(reasons), (), answered)
        past = exact(past)
        past_exposed = exposures_to_any(past, self.guards, owner=self.owner)
        now_exposed = exposures_to_any([*past, new], self.guards, owner=self.owner)
        spent = _spent(entries, new, now_exposed, self.owner)
        reasons += self._beyond_budget(spent, epsilon)
        exposed = newly_exposed(past_exposed, now_exposed)
        exposed += unclear_changes(past, new, self.guards)
        if self.owner is None and _is_anothers(past, new):
            reasons.append(
                f"its costs are {new.cost_version} and earlier ones were others, and nobody knows whose have "
                "changed: a ledger that is started with an owner does"
            )
        reasons += [str(e) for e in exposed if e.agent not in (*left, *came) and not self._allows(e, accepted)]
        joint = joint_changes([*past, new], self.guards, owner=self.owner)
        return Review(not reasons, epsilon, spent, self.budget, exposed, tuple(reasons), joint, answered)

    def answered(self, entries: Iterable[Entry], cost_version: str) -> AnswerBudget | None:
        """Return the budget of answers with what was spent on a version of the costs: every draw once."""
        if self.answers is None:
            return None
        drawn = {
            (entry.release.key or entry.release.run, entry.release.participants): entry.release.answer
            for entry in entries
            if entry.release.cost_version == cost_version
            and entry.release.answer is not None
            and self._is_mine(entry.release)
        }
        return replace(self.answers, spent=tuple(each for each in drawn.values() if each is not None))

    def _beyond_promises(self, past: list[Release], new: Release, answered: AnswerBudget | None) -> list[str]:
        """Return why promises about answers would not hold together, by public numbers alone."""
        if new.answer is not None and new.answer.any < self.guards:
            return [
                f"its answer is private against any {new.answer.any}, and this ledger guards against any "
                f"{self.guards}"
            ]
        if answered is None:
            return []
        if new.answer is None:
            return ["its answer is exact, and no budget for answers covers that"]
        bare = next((r for r in exact(past) if self._is_mine(r) and r.cost_version == new.cost_version), None)
        if bare is not None:
            return [f"run {bare.run} has told its answer about these records exactly, so that nothing is left"]
        mu = mu_for(answered.unit, new.answer)
        if math.isinf(mu):
            return ["it protects labels and leaves features in the open, and the budget is for whole records"]
        why = answered.refusal(mu)
        return [] if why is None or is_repeated(past, new) else [why]

    def _is_mine(self, release: Release) -> bool:
        return self.owner is None or self.owner in release.participants

    def _beyond_budget(self, spent: float, epsilon: float) -> list[str]:
        if self.budget is None or spent + epsilon <= self.budget * (1 + 1e-12):
            return []
        return [
            f"ε would come to {spent + epsilon:.3g}, above the budget of {self.budget:.3g} "
            f"({spent:.3g} is spent on these costs)"
        ]

    def _allows(self, exposure: Exposure, accepted: tuple[str, ...]) -> bool:
        """Tell whether a change may be known: it was accepted, or it is not the owner's, who has none to refuse."""
        mine = self.owner is None or self.owner in exposure.agents
        return exposure.is_change and (not mine or set(exposure.agents) <= set(accepted))


def epsilon_of(release: Release, guards: int) -> float:
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
