"""Parties whose records stay in files or databases, among others: as a table, and as rows in standard units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.costs import RowBatch
from tacit.errors import DataError, InputError
from tacit.learning.parties import OutsideParty, Party, Table, joined, read, refuse_other_columns
from tacit.learning.standardising import StandardUnits
from tacit.records import Batch, Dataset
from tacit.typing import Array

__all__ = ["Dataset", "PartyRows", "datasets_of", "holds_datasets"]


@dataclass(frozen=True)
class PartyRows:
    """A party's records in standard units, as a cost takes them."""

    party: OutsideParty
    units: StandardUnits
    intercept: bool

    def added_up(self, part: Callable[[RowBatch], Array]) -> Array:
        """Return the sum of what all batches give."""
        return self.party.dataset.added_up(lambda batch: part(self._rows(batch)))

    def joined(self, part: Callable[[RowBatch], Any], join: Callable[[Any, Any], Any]) -> Any:
        """Return what all batches give, joined in their order."""
        return self.party.dataset.joined(lambda batch: part(self._rows(batch)), join)

    def _rows(self, batch: Batch) -> RowBatch:
        """Return a batch in standard units: columns are read where they lie, and written once."""
        living = np.flatnonzero(self.units.varies)
        A = np.empty((len(living) + self.intercept, len(batch)))
        A[len(living) :] = 1.0
        for row, column, centre, inverse in zip(A, living, self.units.centre, 1.0 / self.units.scale, strict=False):
            np.subtract(batch.columns[column], centre, out=row)
            row *= inverse  # a fourth of the time of a quotient
        party = self.party.seen(batch, A.T)
        return RowBatch(A.T, self.units.labels(party.y), party.weight, party.offset)


def holds_datasets(parties: Any) -> bool:
    """Tell whether some party's records are a dataset."""
    return any(
        isinstance(held, Dataset) for held in (parties.values() if isinstance(parties, Mapping) else parties)
    )


def datasets_of(estimator: Any, parties: Any, *, numeric_target: bool) -> tuple[Table, list[int] | None]:
    """Return the table of parties of which some have datasets, and how many records each leaves out."""
    if not estimator._takes_datasets:
        raise InputError(
            "this model takes records in memory only, and some of these stay in files or databases: load them, as "
            "arrays."
        )
    items = list(parties.items() if isinstance(parties, Mapping) else enumerate(parties))
    if len(items) < 2:
        raise DataError("there is one party, and nobody to hide anything from: name at least three.")
    first = next(held for _, held in items if isinstance(held, Dataset))
    columns, target = first.features, first.target
    memory = {name: held for name, held in items if not isinstance(held, Dataset)}
    here = _in_memory(estimator, memory, columns, target) if memory else {}
    members: list[Party | OutsideParty] = []
    for name, held in items:
        if not isinstance(held, Dataset):
            members.append(here[name])
            continue
        dataset = replace(held, label=f"party {name}", words=not numeric_target)
        if set(dataset.features) == set(columns):
            dataset = replace(dataset, features=columns)  # by their names, in whatever order they are
        refuse_other_columns(name, dataset.features, items[0][0], columns)
        if dataset.target != target:
            raise DataError(f"party {name} explains {dataset.target!r}, and others {target!r}; choose one of them.")
        dataset.refuse_types()
        members.append(OutsideParty.of(name, dataset))
    estimator.n_features_in_ = len(columns)
    return Table(tuple(members), columns, target), _left_out(members)


def _in_memory(estimator: Any, memory: dict[Any, Any], columns: tuple[str, ...], target: str) -> dict[Any, Party]:
    X, y, groups = joined(memory)
    table = read(estimator, X, y, groups, numeric_target=estimator._numeric_target, target=target)
    for name in memory:
        refuse_other_columns(name, table.columns, "with a dataset", columns)
    return {party.name: party for party in table.parties if isinstance(party, Party)}


def _left_out(members: list[Party | OutsideParty]) -> list[int] | None:
    """Return how many records each party leaves out; None where none may have gaps."""
    if not any(isinstance(each, OutsideParty) and each.dataset.gaps == "drop" for each in members):
        return None
    return [each.dataset.left_out() if isinstance(each, OutsideParty) else 0 for each in members]
