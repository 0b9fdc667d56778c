"""What a run guarantees of its answer: who is protected, what may change, against whom, and at which price."""

from __future__ import annotations

from typing import Literal

import msgspec

from tacit.differential.public import PublicGuarantee
from tacit.differential.tradeoff import TradeOff
from tacit.showing import Readable

Unit = Literal["record", "label"]
_CHANGE: dict[Unit, str] = {
    "record": "one record is there or not",
    "label": "one label is another; features are in the open, and nothing is promised for them",
}


class AnswerGuarantee(msgspec.Struct, Readable, frozen=True, kw_only=True):
    """(ε, δ)-differential privacy of everything that a coalition sees, and of the answer."""

    unit: Unit
    """What differs between two worlds that cannot be told apart."""
    epsilon: float
    delta: float
    mu: float
    """The same in the currency that adds up: squares of μ, over sums and over runs."""
    any: int
    """How many agents may put their views together."""
    agents: int
    share: float
    """The deviation of every agent's noise share, in units of what one record moves."""
    beyond_curator: float
    """How many times the noise of a curator whom everybody would have to trust."""
    exact: bool
    """Whether some coalition reaches μ, and it is not only a bound."""
    computational: bool = False
    """Whether agents could undo it by breaking ciphers: masks are drawn from keys that neighbours agree on."""
    public: PublicGuarantee | None = None
    """What holds for whoever sees what `for_public` publishes, where this is not for records itself."""
    not_public: str = ""
    """Why there is no such guarantee, in a sentence."""

    @property
    def guess(self) -> float:
        """How often the best guess between two such worlds, equally likely, is right."""
        return TradeOff(self.mu).guess

    @property
    def _coalition(self) -> str:
        return "any one agent" if self.any == 1 else f"any {self.any} agents"

    @property
    def _unless(self) -> str:
        return ", unless they break X25519 or AES-256" if self.computational and self.any else ""

    def headline(self) -> str:
        """Return the guarantee in one line."""
        whom = f"{self._coalition} and all who see the answer" if self.any else "all who see the answer"
        return (
            f"The answer is ({self.epsilon:g}, {self.delta:g})-differentially private for every {self.unit}, "
            f"against {whom}{self._unless}: the best guess is right at most {100 * self.guess:.1f} % of the time."
        )

    def statement(self) -> str:
        """Return the guarantee in words, with its assumptions and what it does not cover."""
        together = " who put together what they see" * (self.any > 1)
        whom = f"{self._coalition}{together}, and everybody who sees the answer"
        whom = whom if self.any else "everybody who sees the answer and is no agent"
        bound = "" if self.exact else " (by a bound on all coalitions)"
        return (
            f"Every {self.unit} of every honest agent is protected: worlds in which {_CHANGE[self.unit]}, are "
            f"({self.epsilon:g}, {self.delta:g})-indistinguishable to {whom}{bound}{self._unless}. The best guess "
            f"between two of them is right {100 * self.guess:.1f} % of the time, where a coin is right half of the "
            f"time. The noise is {self.beyond_curator:.3g} times that of a curator who sees all records. It "
            "assumes that honest agents clip their records and draw their shares as agreed, from a cryptographic "
            "source, and that links are private. Not covered: further runs, which add up in squares of "
            f"μ = {self.mu:.4g}; several records of one person; the number of agents, of records that are "
            "declared, and all other settings, which are public."
        )

    def __str__(self) -> str:
        return self.statement()
