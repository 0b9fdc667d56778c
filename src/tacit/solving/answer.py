"""What `solve` returns: the minimiser, how it was reached, and what it cost in privacy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from tacit.certificates import Certificate, certify, exposing, headline, privacy_lines
from tacit.certificates.finite import finite_or_none
from tacit.differential import AnswerGuarantee
from tacit.errors import ProtectionError, VacuousError
from tacit.masks import effective_sigma, has_a_law
from tacit.network import Network
from tacit.showing import Shown, frame
from tacit.solving.guarantee import of_run
from tacit.solving.public import WITHIN, PublicAnswer, published
from tacit.solving.record import RunRecord
from tacit.solving.telling import against
from tacit.stamps import Stamp, beyond_the_network, voided
from tacit.typing import Array

_SEARCHED = 500  # agents up to which the worst coalition is searched for, and not only bounded


class Answer(Shown):
    """The answer of one run. Holds public things only."""

    def __init__(self, record: RunRecord, network: Network) -> None:
        self.record, self.network = record, network
        self._known: dict[int, tuple[list[Stamp], Certificate | None]] = {}

    @property
    def x(self) -> Array:
        """The minimiser that all agents agree on, (m,)."""
        return np.array([np.nan if value is None else value for value in self.record.x])

    @property
    def converged(self) -> bool:
        """Whether the agents reached the tolerance, or the rounding floor of their masks."""
        return self.record.converged

    @property
    def status(self) -> str:
        """One of converged, stalled, diverged, out of rounds."""
        return self.record.status

    @property
    def sentence(self) -> str:
        """What happened, and what to try where it went wrong."""
        return self.record.sentence

    def certificate(
        self,
        coalition: Iterable[Any] | None = None,
        *,
        any: int | None = None,
        quick: bool = False,
    ) -> Certificate:
        """Return what is guaranteed against *coalition*, or against every coalition of at most *any* agents."""
        phase1 = self.record.phase1
        if phase1 is None:
            raise VacuousError(
                "this run used no masks, so nothing is guaranteed; solve with affine masks or secret sums."
            )
        names = self.network.agents
        members = None if coalition is None else list(coalition)
        size = len(members) if members is not None else 1 if any is None else any
        link_scales = {(names[i], names[j]): scale for i, j, scale in phase1.link_scales} or None
        sigma = effective_sigma(phase1)
        certificate = certify(
            self.network, members, any=any, sigma=sigma, link_scales=link_scales, hide=phase1.hide, quick=quick
        )
        stamps = (*beyond_the_network(self.record.stamps), *against(self.record.tells, size))
        noisy = phase1.answer is not None
        return of_run(certificate, coverage=phase1.coverage, stamps=stamps, pairing=phase1.pairing, noisy=noisy)

    @property
    def guarantee(self) -> AnswerGuarantee | None:
        """What holds of the answer itself; None where it is exact, or where a stamp takes the promise back.

        What a network exposes of exact sums does not: shares are as large as the worst coalition makes them.
        """
        phase1 = self.record.phase1
        return None if phase1 is None or voided(beyond_the_network(self.record.stamps)) else phase1.answer

    @property
    def noise(self) -> Array | None:
        """The deviation of every unknown from noise shares, to first order; None where nobody knows it."""
        return None if self.record.noise is None else np.array(self.record.noise)

    @property
    def errors(self) -> Array | None:
        """Standard errors of every unknown, of chance in the records and of noise; None where nobody knows them."""
        return None if self.record.errors is None else np.array(self.record.errors)

    def for_public(self, *, within: float = WITHIN) -> PublicAnswer:
        """Return an answer to publish, private for every record against whoever sees it and nothing else.

        It is for affine masks with shares, whose answer as it is protects labels; others are refused, with the
        reason. *within* is a public limit on how far the run may be from the minimiser: noise of a few hundred
        times that hides the last digits. Publish once; against agents, who see more, nothing of it holds.
        """
        guarantee = self.guarantee
        if guarantee is None:
            raise ProtectionError("this answer carries no noise that anybody promises, and tells what it tells.")
        if guarantee.public is None:
            reason = guarantee.not_public or "its records are private against agents and public alike as it is."
            raise ProtectionError(f"this answer has no statement of its own for the public: {reason}")
        if not self.converged:
            raise ProtectionError("this run did not come to the minimiser, and nothing is known of what it tells.")
        record, m, phase1 = self.record, len(self.x), self.record.phase1
        size = float(np.abs(self.x).max()) * math.sqrt(m)
        error = max(record.error or 0.0, record.disagreement or 0.0) * size
        step = phase1.step if phase1 is not None else 0.0
        lattice = len(self.network) * math.sqrt(m) * step / 2.0 / guarantee.public.ridge
        return published(self.x, guarantee.public, within=within, error=error, lattice=lattice)

    def privacy(self, *, any: int = 1) -> list[str]:
        """Return what was hidden from whom, in sentences: against every coalition of at most *any* agents."""
        return self._lines(*self._against(any))

    def protection(self, *, any: int = 1) -> dict[str, Any]:
        """Return the same as data for JSON: whether the run is private, why not, and how much is hidden.

        `private` is what the certificate says. `hidden_difference` is None where it is infinite, as under secret
        sums; 0 if nothing is sure.
        """
        stamps, certificate = self._against(any)
        private = certificate is not None and not voided(stamps)
        difference = certificate.hidden_difference() if certificate is not None and private else 0.0
        return {
            "private": private,
            "stamps": msgspec.to_builtins(stamps),
            "privacy": self._lines(stamps, certificate),
            "hidden_difference": finite_or_none(difference),
        }

    def to_json(self, *, any: int = 1) -> str:
        """Return the record as indented JSON, with its `protection` against coalitions of at most *any* agents."""
        whole = {**msgspec.to_builtins(self.record), **self.protection(any=any)}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()

    def stamps(self, *, any: int = 1) -> list[Stamp]:
        """Return why this run is not private against coalitions of at most *any* agents; cautions too."""
        return list(self._against(any)[0])

    def _against(self, any: int) -> tuple[list[Stamp], Certificate | None]:
        if any not in self._known:
            self._known[any] = self._examined(any)
        return self._known[any]

    def _examined(self, any: int) -> tuple[list[Stamp], Certificate | None]:
        """Return the stamps and the certificate against so many agents; no certificate where there can be none."""
        stamps = [stamp for stamp in self.record.stamps if stamp.reason not in ("coalition", "not proven")]
        agents = len(self.network)
        if self.record.phase1 is None or not has_a_law(self.record.phase1):
            return stamps, None
        if any > agents - 2:
            return stamps if agents == 2 else [*stamps, _alone(agents)], None
        certificate = self.certificate(any=any, quick=agents > _SEARCHED)
        return exposing(stamps, certificate), certificate

    def _lines(self, stamps: list[Stamp], certificate: Certificate | None) -> list[str]:
        """Return the lines of all commands; where one agent learns too much, also what σ hides from outsiders."""
        lines = privacy_lines(stamps, certificate)
        if self.guarantee is not None:
            lines = [*lines, self.guarantee.headline()]
        elsewhere = beyond_the_network(stamps)
        lost = voided(stamp for stamp in elsewhere if not stamp.agents)
        weak = voided(stamp for stamp in stamps if stamp not in elsewhere)
        if certificate is None or certificate.is_perfect or lost or not weak:
            return lines
        outsiders = self.certificate(any=0, quick=len(self.network) > _SEARCHED)
        return [*lines, headline(replace(outsiders, stamps=()))]

    def to_frame(self) -> Any:
        """Return every look at the agents as a table of pandas: round, change, disagreement and error."""
        return frame([check._asdict() for check in self.record.history], "round")

    def __str__(self) -> str:
        return str(self.record)

    def __repr__(self) -> str:
        record = self.record
        stamp = "" if record.private else ", NOT PRIVATE"
        rounds = f"{record.phase2.rounds} round{'s' * (record.phase2.rounds != 1)}"
        return f"Answer({record.status} after {rounds} of {record.phase2.algorithm}{stamp})"


def _alone(agents: int) -> Stamp:
    return Stamp(
        reason="coalition",
        sentence=f"of {agents} agents, {agents - 1} who collude learn the part of the last one from the sum.",
    )
