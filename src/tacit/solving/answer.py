"""What `solve` returns: the minimiser, how it was reached, and what it cost in privacy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.certificates import Certificate, certify
from tacit.errors import VacuousError
from tacit.network import Network
from tacit.solving.record import RunRecord
from tacit.typing import Array

_SECRETS = {"QuadraticMasks": "quadratic cost", "BasisMasks": "hidden component"}


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
        link_scales = {(names[i], names[j]): scale for i, j, scale in phase1.link_scales} or None
        sigma = math.inf if phase1.sigma is None else phase1.sigma
        certificate = certify(self.network, coalition, any=any, sigma=sigma, link_scales=link_scales, quick=quick)
        secret = _SECRETS.get(phase1.mechanism, certificate.secret)
        return replace(certificate, secret=secret, computational=phase1.pairing == "seeds")

    def __repr__(self) -> str:
        record = self.record
        stamp = "" if record.private else ", NOT PRIVATE"
        rounds = f"{record.phase2.rounds} round{'s' * (record.phase2.rounds != 1)}"
        return f"Answer({record.status} after {rounds} of {record.phase2.algorithm}{stamp})"
