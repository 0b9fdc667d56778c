"""What fitting a model has told: every sum, over whom, and what it cost.

An `Account` is a value that goes with the fitted model. With a file (`tacit.Ledger`) the run is judged before
anything is added up, together with all earlier ones: fits that leave one party out and are followed by one with it,
as in cross-validation by party, expose that party by subtraction, and are refused.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit.certificates import Ledger, Release
from tacit.masks import GaussianMasks, Mechanism
from tacit.network import Network


@dataclass(frozen=True, slots=True)
class Sums:
    """One thing that was added up over all parties."""

    what: str
    numbers: int
    """How many numbers each party put in, or unknowns of a model."""
    sums: int
    """How often."""


@dataclass(frozen=True, slots=True)
class Account:
    """The sums that one fit has told, and the run as others see it; no release where nothing was hidden."""

    release: Release | None
    sums: tuple[Sums, ...] = ()

    @classmethod
    def opened(
        cls, title: str, network: Network, privacy: Mechanism | None, ledger: str | Path | None, *, any: int
    ) -> Account:
        """Return an empty account; enter the run in the *ledger*, a file, and refuse what that refuses."""
        if privacy is None:
            return cls(None)
        sigma = privacy.sigma if isinstance(privacy, GaussianMasks) else math.inf
        basis = "affine" if isinstance(privacy, GaussianMasks) else "sums"
        release = Release.of(f"{title} {secrets.token_hex(4)}", network.graph, sigma=sigma, basis=basis)
        if ledger is not None:
            path = Path(ledger)
            with Ledger(path) if path.exists() else Ledger(path, any=any) as book:
                book.add(release)
        return cls(release)

    def entered(self, what: str, *, numbers: int, sums: int) -> Account:
        """Return the account with one more line."""
        return replace(self, sums=(*self.sums, Sums(what, numbers, sums)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        run = None if self.release is None else self.release.run
        return {"run": run, "sums": [{"what": s.what, "numbers": s.numbers, "sums": s.sums} for s in self.sums]}

    def __str__(self) -> str:
        return "\n".join(f"{s.what} ({s.numbers} numbers, {s.sums} sum{'s' * (s.sums != 1)})" for s in self.sums)
