"""A fit on several parties' files, and everything that is to be said about it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.showing import Shown
from tacit.solving.solve import NotPrivateWarning

if TYPE_CHECKING:
    from tacit.learning.files import Joined
    from tacit.learning.model import PrivateModel


@dataclass(frozen=True)
class FitReport(Shown):
    """A fitted model with the cautions that came up on the way."""

    model: PrivateModel
    privacy: tuple[str, ...]
    """What hid the records, and what was hidden from whom, a sentence each."""
    cautions: tuple[str, ...]
    """Warnings, each once; what they say about privacy is in `privacy`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the coefficients, the sums that were told and the protection, for JSON."""
        model, certificate = self.model, self.model.certificate_
        return {
            **model.summary_.to_dict(),
            "told": model.ledger_.to_dict()["sums"],
            **model.answer_.protection(any=model.any),
            "status": model.answer_.status,
            "privacy": list(self.privacy),
            "warnings": list(self.cautions),
            "certificate": None if certificate is None else certificate.to_dict(),
        }


def fit_records(model: PrivateModel, records: Joined, target: str) -> FitReport:
    """Fit a model on the records of all parties, under the names of their columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit_named(
            records.X, records.y, records.groups, columns=records.columns, target=target, dropped=records.dropped,
            sample_weight=records.weight, offset=records.offset,
        )  # fmt: skip
    others = (each for each in caught if not issubclass(each.category, NotPrivateWarning))
    phase1 = model.answer_.record.phase1
    masks = () if phase1 is None else (str(phase1),)
    privacy = (*masks, *model.answer_.privacy(any=model.any))
    return FitReport(model, privacy, tuple(dict.fromkeys(str(each.message) for each in others)))
