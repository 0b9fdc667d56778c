"""A fit on several parties' files, and everything that is to be said about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.showing import Shown
from tacit.solving.solve import NotPrivateWarning

if TYPE_CHECKING:
    from tacit.learning.files import Joined, UsedColumns
    from tacit.learning.model import PrivateModel
    from tacit.tables import Reading


@dataclass(frozen=True)
class FitReport(Shown):
    """A fitted model with the cautions that came up on the way."""

    model: PrivateModel
    privacy: tuple[str, ...]
    """What hid the records, and what was hidden from whom, a sentence each."""
    cautions: tuple[str, ...]
    """Warnings, each once; what they say about privacy is in `privacy`."""
    notes: tuple[str, ...] = ()
    """What was assumed about the files."""

    def __str__(self) -> str:
        return "\n".join([*self.model.summary_.lines(), *self.privacy, *self.cautions, *self.notes])

    def to_frame(self) -> Any:
        """Return the coefficients as a table of pandas."""
        return self.model.summary_.to_frame()

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


def fit_sources(
    model: PrivateModel,
    sources: Sequence[str],
    target: str,
    *,
    words: bool,
    reading: Reading | None = None,
    selection: UsedColumns | None = None,
    unquestioned: bool = False,
) -> FitReport:
    """Fit a model on one source per party: CSV files, which are loaded, or datasets, which are not.

    *unquestioned* records are mapped to what is declared, and none is complained about or counted.
    """
    from tacit.learning.declared_files import read_declared
    from tacit.learning.files import expanded, read_files
    from tacit.learning.sources import open_datasets
    from tacit.records import is_dataset

    if unquestioned:
        declared = read_declared(sources, target, model=model, reading=reading, selection=selection)
        return fit_records(model, declared, target)
    if any(map(is_dataset, sources)):
        datasets = open_datasets(sources, target, words=words, reading=reading, selection=selection)
        return _reported(model, lambda: model.fit_parties(datasets))
    files = expanded([Path(source) for source in sources])
    return fit_records(model, read_files(files, target, words=words, reading=reading, selection=selection), target)


def fit_records(model: PrivateModel, records: Joined, target: str) -> FitReport:
    """Fit a model on the records of all parties, under the names of their columns."""

    def fit() -> None:
        model.fit_named(
            records.X, records.y, records.groups, columns=records.columns, target=target, dropped=records.dropped,
            sample_weight=records.weight, offset=records.offset,
        )  # fmt: skip

    return _reported(model, fit, records.notes)


def _reported(model: PrivateModel, fit: Callable[[], Any], notes: tuple[str, ...] = ()) -> FitReport:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    others = (each for each in caught if not issubclass(each.category, NotPrivateWarning))
    phase1 = model.answer_.record.phase1
    masks = () if phase1 is None else (str(phase1),)
    privacy = (*masks, *model.answer_.privacy(any=model.any))
    return FitReport(model, privacy, tuple(dict.fromkeys(str(each.message) for each in others)), notes)
