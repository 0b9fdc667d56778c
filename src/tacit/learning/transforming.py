"""What every transformer of parties' records does alike."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from tacit.learning.assembly import Assembly
from tacit.learning.parties import joined
from tacit.learning.unpromised import refuse_promise


class PartyTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Learns from secret sums over the parties; each then transforms its own records."""

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse settings of a promise that the transformer cannot make."""
        refuse_promise(cls, settings)
        return super().__new__(cls)

    @abstractmethod
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn; *groups* names the party of every row, as in the models."""

    def fit_parties(self, parties: Any) -> Self:
        """Learn from one X per party, in a list or by name."""
        X, _, groups = joined(parties)
        return self.fit(X, groups=groups)

    def _learnt(self, assembly: Assembly) -> Self:
        """Keep what the sums were booked as, and what they guarantee."""
        self.ledger_ = assembly.account
        self.certificate_ = assembly.certificate()
        return self
