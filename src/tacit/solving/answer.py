"""What `solve` returns: the minimiser, how it was reached, and what it cost in privacy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from tacit.certificates import Certificate, certify, privacy_lines
from tacit.errors import VacuousError
from tacit.network import Network
from tacit.solving.record import RunRecord
from tacit.solving.telling import against
from tacit.stamps import beyond_the_network
from tacit.typing import Array

_SEARCHED = 500  # agents up to which the worst coalition is searched for, and not only bounded
_BOUNDED = 1500  # agents up to which there is a bound at once


class Answer:
    """The answer of one run. Holds public things only."""

    def __init__(self, record: RunRecord, network: Network) -> None:
        self.record, self.network = record, network

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
                "this run used no masks, so nothing is guaranteed; solve with privacy=AffineMasks(…) or SumMasks()."
            )
        names = self.network.agents
        members = None if coalition is None else list(coalition)
        size = len(members) if members is not None else 1 if any is None else any
        link_scales = {(names[i], names[j]): scale for i, j, scale in phase1.link_scales} or None
        sigma = math.inf if phase1.sigma is None else phase1.sigma
        certificate = certify(
            self.network, members, any=any, sigma=sigma, link_scales=link_scales, hide=phase1.hide, quick=quick
        )
        return replace(
            certificate,
            coverage=phase1.coverage,
            stamps=(*beyond_the_network(self.record.stamps), *against(self.record.tells, size)),
            computational=phase1.pairing == "seeds",
        )

    def privacy(self, *, any: int = 1) -> list[str]:
        """Return what was hidden from whom, in sentences: against every coalition of at most *any* agents."""
        return self._lines(self._against(any))

    def to_json(self, *, any: int = 1) -> str:
        """Return the record as indented JSON, with what is hidden from every coalition of at most *any* agents.

        `hidden_difference` is None where it is infinite, as under secret sums, or not known; 0 if nothing is sure.
        """
        certificate = self._against(any)
        difference = certificate.hidden_difference() if certificate else math.inf if self.record.private else 0.0
        whole = {
            **msgspec.to_builtins(self.record),
            "privacy": self._lines(certificate),
            "hidden_difference": difference if math.isfinite(difference) else None,
        }
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()

    def _against(self, any: int) -> Certificate | None:
        """Return the certificate against so many agents; None where there is none, or it would take long."""
        phase1, agents = self.record.phase1, len(self.network)
        if phase1 is None or any > agents - 2 or (agents > _BOUNDED and phase1.sigma is not None):
            return None
        return self.certificate(any=any, quick=len(self.network) > _SEARCHED)

    def _lines(self, certificate: Certificate | None) -> list[str]:
        lines = privacy_lines(self.record.stamps, certificate)
        if certificate is None and self.record.private:
            lines.append("What a coalition can learn in a network this large, `tacit certify` says, after a while.")
        return lines

    def __repr__(self) -> str:
        record = self.record
        stamp = "" if record.private else ", NOT PRIVATE"
        rounds = f"{record.phase2.rounds} round{'s' * (record.phase2.rounds != 1)}"
        return f"Answer({record.status} after {rounds} of {record.phase2.algorithm}{stamp})"
