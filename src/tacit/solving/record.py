"""Everything that a report needs about a run, and no secret.

A record holds the public parameters, the answer that all agents share, and how the agents came to
agree. It has no field for a cost, a coefficient, a mask, a key, or a single agent's path.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tacit.coverage import Coverage
from tacit.differential import AnswerGuarantee
from tacit.masks import is_computational
from tacit.runtimes import Check
from tacit.runtimes.doubt import Doubt
from tacit.showing import Readable
from tacit.solving.telling import Telling
from tacit.stamps import Stamp

SHOWN = 12
"""Entries of x that are shown; the record has all."""


class Phase1(msgspec.Struct, frozen=True, kw_only=True):
    """How costs were hidden."""

    mechanism: str
    coverage: Coverage
    """What was hidden of every cost, and what was left in the open."""
    hides: str
    """The same in words."""
    bound: float
    """The public limit on every number that is masked."""
    step: float
    """To which those numbers are rounded."""
    sigma: float | None = None
    """The deviation of Gaussian masks (of the thinnest, over a basis with scales); None for secret sums."""
    link_scales: list[tuple[int, int, float]] = []
    """Links, by the positions of their agents, whose σ is multiplied by a factor of their own."""
    words: int | None = None
    """How many words of 64 bits carry a number of a secret sum."""
    sum_error: float | None = None
    """The most by which a secret sum can be off, beyond the rounding of a float64: n·step/2."""
    pairing: str = "both"
    """How the ends of a link came to know its random terms; with seeds all guarantees are computational."""
    hide: float | None = None
    """How large a difference was declared to be hidden."""
    answer: AnswerGuarantee | None = None
    """What holds of the answer itself, where noise shares make it differentially private."""

    def __str__(self) -> str:
        width = f"with σ = {self.sigma:g}" if self.sigma is not None else "of no known law,"
        width = width if self.sum_error is None else f"exact to {self.sum_error:.1e},"
        name = "secret sums" if self.coverage.kind == "sums" else f"{self.coverage.kind} masks"
        rounding = "" if self.coverage.exact else " (up to rounding)"
        seeds = "; computational: masks from agreed keys" if is_computational(self.pairing) else ""
        return f"{name}{',' * (self.sigma is None)} {width} hide {self.coverage}{rounding}{seeds}"


class Phase2(msgspec.Struct, frozen=True, kw_only=True):
    """How the agents agreed."""

    algorithm: str
    settings: dict[str, Any]
    weights: str
    reason: str
    exact: bool
    sums: list[str]
    """What was added up over a spanning tree; empty for an algorithm that gossips."""
    rounds: int
    exchanges: int
    """Times that agents waited for their neighbours, in both phases: one a gossip, 2·depth a sum."""
    messages: int
    """Vectors sent over links, both directions and both phases together."""
    bytes: int
    """What those messages hold, without framing."""


class RunRecord(msgspec.Struct, Readable, frozen=True, kw_only=True):
    """One run."""

    tacit: str
    agents: list[str]
    links: list[tuple[int, int]]
    families: tuple[str, ...]
    unknowns: int
    runtime: str
    private: bool
    """Whether masks were used and no stamp takes their promise back."""
    stamps: list[Stamp]
    """Why the run, or somebody in it, is not private; cautions too."""
    phase1: Phase1 | None
    phase2: Phase2
    status: str
    sentence: str
    converged: bool
    x: list[float | None]
    """The answer; None where the run diverged beyond all numbers."""
    names: tuple[str, ...] = ()
    """Of the entries of x, where files name their columns."""
    left_out: int | None = None
    """How many records all agents together left out because of gaps: a secret sum; None where nobody may."""
    disagreement: float | None
    """Between agents at the end, relative; None where the run diverged at once."""
    error: float | None
    """The estimated distance to the limit, relative; None where no estimate exists."""
    history: list[Check]
    seconds: float
    warnings: list[str]
    """What may be inexact, in sentences."""
    doubt: Doubt | None = None
    """Unknowns that what was added up does not determine, and how much may be left to gain."""
    noise: list[float] | None = None
    """The deviation of every unknown from noise shares, to first order, where the algorithm knows."""
    errors: list[float] | None = None
    """Standard errors, of chance in the records and of noise together, to first order, where it knows them."""
    tells: Telling | None = None
    """How much of what was hidden the run told, whatever the masks; None where nothing was hidden or known."""

    def __str__(self) -> str:
        stamps = [f"NOT PRIVATE: {stamp}" for stamp in self.stamps if stamp.voids]
        hidden = "nothing was hidden" if self.phase1 is None else str(self.phase1)
        count = f"{self.phase2.rounds} round{'s' * (self.phase2.rounds != 1)}"
        first = f"{self.status.capitalize()} after {count} of {self.phase2.algorithm}: x = {vector(self.x)}."
        return "\n".join([first, self.sentence, *(stamps or [f"{hidden[:1].upper()}{hidden[1:]}."])])

    def to_json(self) -> str:
        """Return the record as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> RunRecord:
        """Return the record that `to_json` wrote."""
        return msgspec.json.decode(text, type=cls)


def vector(x: list[float | None]) -> str:
    """Return x for people: ten digits, and not too many entries."""
    shown = ", ".join("–" if value is None else f"{value:.10g}" for value in x[:SHOWN])
    return f"[{shown}]" if len(x) <= SHOWN else f"[{shown}, … {len(x) - SHOWN} more]"
