"""What was hidden of a member, from whom, and where it is weak: the last lines of its run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from tacit.certificates import Certificate, Exposure, exposing, limits, privacy_lines
from tacit.certificates.finite import finite_or_none
from tacit.costs import Family
from tacit.differential import AnswerGuarantee, TradeOff
from tacit.federation.declared import UNCOUNTED, telling_of
from tacit.federation.earlier import told_together
from tacit.federation.guarantees import certified
from tacit.federation.manifest import Manifest
from tacit.listing import conjoined, listed
from tacit.showing import Readable
from tacit.solving.stamping import nothing_hidden, of_masks, of_network
from tacit.stamps import Stamp, voided

_CHANGING = (
    "the members have agreed that records may change from run to run. The sums of two runs tell the difference, "
    "and where one member's alone have changed, it is told what came or went there."
)


class Statements(NamedTuple):
    """What was hidden of a member, from whom, and where it is weak."""

    stamps: list[Stamp]
    certificate: Certificate | None
    lines: list[str]
    guarantee: AnswerGuarantee | None = None
    """What holds of the answer itself; None where it is exact."""

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        return Readable._repr_html_(self)  # type: ignore[arg-type]

    @property
    def is_private(self) -> bool:
        """Whether something was hidden, and nothing makes it void."""
        return self.certificate is not None and self.certificate.is_private and not voided(self.stamps)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        difference = self.certificate.hidden_difference() if self.certificate and self.is_private else 0.0
        return {
            "private": self.is_private,
            "stamps": msgspec.to_builtins(self.stamps),
            "hidden_difference": finite_or_none(difference),
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "privacy": self.lines,
            "answer": None if self.guarantee is None else msgspec.to_builtins(self.guarantee),
        }


def statements_of(manifest: Manifest, me: str, cost: Family, *, accepted: Iterable[Exposure] = ()) -> Statements:
    """Return what a run hides of a member with this *cost*; first what it tells together with earlier runs.

    *accepted* is what its ledger says of that, and the member has taken.
    """
    mechanism, neighbours = manifest.privacy.mechanism(), manifest.neighbours()[me]
    if mechanism is None:
        bare = Stamp(
            reason="no masks", sentence=f"nothing of {me} was hidden, and {listed(neighbours)} can read its cost."
        )
        return Statements([bare], None, [str(bare)])
    coverage, telling = mechanism.coverage(cost), telling_of(manifest)
    certificate = certified(manifest, telling=telling)
    exposures = {str(each): each for each in (*accepted, *(e for e in told_together(manifest) if me in e.agents))}
    stamps = [Stamp(reason="history", sentence=f"{text}.", agents=each.agents) for text, each in exposures.items()]
    promised = manifest.promised()
    if manifest.repeat.changes == "accept" and promised is None:
        stamps.append(Stamp(reason="history", sentence=_CHANGING, voids=False))
    stamps += [*of_masks(mechanism), *nothing_hidden(coverage, [me]), *of_network(manifest.network())]
    if 1 < len(neighbours) <= manifest.privacy.any:
        sentence = f"{me}'s neighbours, {listed(neighbours)}, know all its masks if they all collude."
        stamps.append(Stamp(reason="cut", sentence=sentence, agents=(me,)))
    stamps += [] if telling is None else telling.stamps
    stamps = stamps if certificate is None else exposing(stamps, certificate)
    own = [f"{me}'s masks hide {coverage}."] * coverage.keeps_a_secret
    if manifest.epoch and promised is None:
        own.append(f"This was epoch {manifest.epoch}: {_told_by_subtraction(manifest.left)}")
    void = sum(stamp.voids for stamp in stamps)
    lines = privacy_lines(stamps, certificate)
    lines = [*lines[:void], *own, *lines[void:], *([] if certificate is None else limits(certificate))]
    if promised is not None:
        lines += [promised.guarantee.statement(), *_of_several_runs(manifest, promised.guarantee)]
        return Statements(stamps, certificate, lines, promised.guarantee)
    lines += [UNCOUNTED] * (telling is None and manifest.model is not None)
    return Statements(stamps, certificate, lines)


def _of_several_runs(manifest: Manifest, guarantee: AnswerGuarantee) -> list[str]:
    """Return what noisy answers tell together, where there are several: of a series, or of a run with epochs."""
    runs, epochs = manifest.repeat.runs, 1 + manifest.epoch
    if runs * epochs == 1:
        return []
    what = [f"{runs} runs"] * (runs > 1) + [f"{epochs} epochs"] * (epochs > 1)
    mu = guarantee.mu * math.sqrt(runs * epochs)  # later epochs have fewer members, and the same promise
    together = f"μ = {mu:.4g}, which is ({TradeOff(mu).epsilon(guarantee.delta):.3g}, {guarantee.delta:g})"
    return [
        f"{conjoined(what)} add up to {together} for a {guarantee.unit} that is in all of them. Every one has "
        "shares of its own: records may change in between, and members come and go, without telling more."
    ]


def _told_by_subtraction(left: list[str]) -> str:
    """Return what this epoch and those before it tell together, of whoever has *left*."""
    if not left:
        return "nobody has left the run since it began, so that nothing can be told by subtraction."
    return (
        f"if anything was published before it, what {conjoined(left)} brought in can be told by subtraction. The "
        "rest is about those who stayed."
    )
