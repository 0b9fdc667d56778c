"""What all private estimators share: parties in, standard units, one fit by sums, coefficients back.

    read → assemble → measure (two sums) → solve (a few sums) → one more sum for the standard errors

A model gives its cost, its penalties and what to make of the answer. Everything that crosses from one party to
another is a sum over all of them.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.algorithms.directions import NOTICED
from tacit.costs import (
    L1,
    Composite,
)
from tacit.errors import DataError, InputError
from tacit.learning.assembly import Assembly
from tacit.learning.curvature import FitCurvature, Loss, curvature
from tacit.learning.inference import Summary
from tacit.learning.outside import PartyRows, datasets_of, holds_datasets
from tacit.learning.parties import OutsideParty, Party, Table, joined, read
from tacit.learning.standardising import StandardUnits, measure
from tacit.learning.unpromised import refuse_promise, refuse_without_epsilon
from tacit.runtimes.doubt import Doubt
from tacit.showing import Shown
from tacit.solving import Answer
from tacit.solving.effort import ONCE
from tacit.solving.solve import CollinearWarning
from tacit.typing import Array

_FELT = 1e-8  # of a score, in its own unit: rounding below this moves no loss that anybody could see


class Shrinkage(NamedTuple):
    """Total weights of Σ l1|u| and ½ Σ l2 u² over the columns, in standard units."""

    l1: Array
    l2: Array


class Fit(NamedTuple):
    """A fit in standard units: what a model turns into its attributes."""

    x: Array
    curvature: FitCurvature
    """Of the summed losses and penalties at x."""
    facts: Array
    """What else the parties added up there, see `_facts`."""
    units: StandardUnits


class PrivateModel(Shown, BaseEstimator):
    """A regression that parties fit together without showing their records."""

    _scaled_target: ClassVar[bool] = True
    """Whether labels are standardised too: where other units of y change nothing but the units of the answer."""
    _numeric_target: ClassVar[bool] = True
    _has_errors: ClassVar[bool] = True
    _takes_datasets: ClassVar[bool] = True
    """Whether records may stay in files and databases."""
    _makes_promises: ClassVar[bool] = False
    """Whether epsilon makes the answer differentially private."""
    _repeats: ClassVar[bool] = False
    """Whether the unknowns are the columns several times over, once for each class but one."""

    fit_intercept: bool
    tol: float
    max_iter: int
    privacy: Any
    network: Any
    runtime: str
    any: int
    ledger: Any
    accept_changes: Any
    summary_: Summary
    coef_: Array
    intercept_: Any
    _mass: float | None

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse settings of a promise that the model cannot make."""
        refuse_promise(cls, settings)
        return super().__new__(cls)

    # what a model gives ----------------------------------------------------------------------

    @abstractmethod
    def _cost(self, Z: Array, y: Array, l2: Array, **extras: Array) -> Loss:
        """Return one party's loss in standard units, with its share of the penalty; *extras* are about its rows."""

    @abstractmethod
    def _weights(self, units: StandardUnits) -> Shrinkage:
        """Return the penalties in standard units."""

    @abstractmethod
    def _finish(self, fit: Fit, table: Table, columns: tuple[str, ...]) -> None:
        """Set the fitted attributes."""

    def _prepared(self, table: Table, assembly: Assembly) -> Table:
        """Return the records with labels as numbers; refuse labels that the model has no place for."""
        return table

    def _start(self, units: StandardUnits, unknowns: int) -> Array:
        """Return the public starting point."""
        return np.zeros(unknowns)

    def _why(self, answer: Answer) -> str:
        """Return why a fit did not converge, and what to try."""
        return answer.sentence

    def _facts(self, party: Party, Z: Array, y: Array, x: Array) -> Array:
        """Return what a party adds to the sum at the fit, besides its Hessian."""
        return np.zeros(0)

    def _shortest(self, x: Array, curvature: FitCurvature, units: StandardUnits) -> Array:
        """Return the fit in standard units; the shortest of those that fit as well, where a model says which."""
        return x

    def _fits_as_well(self, facts: Array, others: Array, units: StandardUnits) -> bool:
        """Tell from the facts of two fits whether the first is as good: far out, even a rounding is not."""
        return True

    # what every model then has ---------------------------------------------------------------

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit the model; *groups* names the party that holds each row.

        *sample_weight* weighs every row, as in scikit-learn; *offset* is added to every row's linear predictor,
        with a coefficient of one, as in statsmodels (of exposures e that is log e). Without groups the rows are
        dealt out to five parties in turn, which changes no coefficient: for trying out.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._refuse_settings()
        table = read(
            self, X, y, groups, numeric_target=self._numeric_target, sample_weight=sample_weight, offset=offset,
            mapped=self._has_promise,
        )  # fmt: skip
        return self._fit(table)

    def fit_named(
        self,
        X: Array,
        y: Any,
        groups: Any,
        *,
        columns: Sequence[str],
        target: str,
        dropped: Sequence[int] | None = None,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> Self:
        """Fit the model on arrays whose columns have these names, which summaries and sentences use.

        *dropped* is how many records each party has left out because of gaps: added up in secret, too.
        """
        self._refuse_settings()
        table = read(
            self, X, y, groups, numeric_target=self._numeric_target, columns=columns, target=target,
            sample_weight=sample_weight, offset=offset, mapped=self._has_promise,
        )  # fmt: skip
        return self._fit(table, dropped)

    @property
    def _has_promise(self) -> bool:
        """Tell whether the answer is to be differentially private; only some models can make it so."""
        return self._makes_promises and getattr(self, "epsilon", None) is not None

    def _promised(self, table: Table) -> None:
        """Fit with a promise about the answer, and set the fitted attributes."""
        raise NotImplementedError

    def _fit(self, table: Table, dropped: Sequence[int] | None = None) -> Self:
        if self._has_promise:
            if dropped is not None:
                raise InputError("records were left out because of gaps, and how many is exact; fill gaps instead.")
            self._promised(table)
            return self
        if self._makes_promises:
            refuse_without_epsilon(self)
        assembly = Assembly.of(self, table, target=True)
        gone = None if dropped is None else _left_out(dropped, assembly)
        self._mass = _total_weight(table, assembly)
        table = self._prepared(table, assembly)
        units = measure(table, assembly, intercept=self.fit_intercept, target=self._scaled_target, mass=self._mass)
        answer, fit = self._fitted(table, assembly, units)
        if not answer.converged:
            sentence = f"{type(self).__name__} did not converge: {self._why(answer)}"
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
        self._finish(fit, table, table.columns)
        del self._mass
        if gone is not None:
            self.summary_ = replace(self.summary_, facts=(*self.summary_.facts, ("left out", gone)))
        self._say_doubts(answer, assembly, units, table.columns)
        self.n_iter_ = answer.record.phase2.rounds
        answer = assembly.closed(answer)
        self.certificate_ = assembly.certificate(answer)
        self.answer_ = assembly.exposing(answer, self.certificate_)
        self.ledger_ = assembly.account
        self.parties_ = table.names
        return self

    def _say_doubts(
        self, answer: Answer, assembly: Assembly, units: StandardUnits, columns: tuple[str, ...]
    ) -> None:
        """Warn, and note in the summary, what the records do not determine, or own units cannot hold."""
        notes = []
        living = [name for name, varies in zip(columns, units.varies, strict=True) if varies]
        names = (*living, *["(intercept)"] * self.fit_intercept)
        times = len(answer.x) // len(names) if self._repeats else 1
        around = (*names * times, *["(scale)"] * (len(answer.x) - times * len(names)))
        doubt = answer.record.doubt
        rounded = self._rounded_away(answer, assembly, units)
        if rounded is not None:
            others = () if doubt is None else doubt.unknowns
            share = None if doubt is not None and doubt.share is None else (doubt.share or 0.0 if doubt else 0.0)
            whole = None if share is None or rounded.share is None else share + rounded.share
            doubt = Doubt(unknowns=tuple(sorted({*others, *rounded.unknowns})), share=whole)
        if doubt is not None:
            notes.append(doubt.sentence(around))
            warnings.warn(f"{type(self).__name__}: {notes[-1]}", CollinearWarning, stacklevel=4)
        self.doubt_ = doubt
        gone = [
            name
            for name, error in zip(self.summary_.names, self.summary_.standard_errors, strict=True)
            if np.isnan(error)
        ]
        if gone and self._has_errors and self.summary_.has_errors:
            notes.append(f"no standard error for {', '.join(gone)}: the records do not determine it.")
        self.summary_ = replace(self.summary_, notes=tuple(notes))

    def _rounded_away(self, answer: Answer, assembly: Assembly, units: StandardUnits) -> Doubt | None:
        """Return what coefficients in the parties' own units lose by being float64, where that is worth a word.

        A column far from zero that has a large coefficient needs an intercept as large as their product: digits
        below its rounding are gone, and Σ ½ ρ''·(rounding of a score)² of the loss with them.
        """
        far = np.abs(units.centre) + 2.0 * units.scale
        w = np.abs(np.atleast_2d(self.coef_)[:, units.varies])
        rounding = 4.0 * np.finfo(float).eps * float((w @ far).max() + np.abs(np.atleast_1d(self.intercept_)).max())
        if rounding < _FELT:
            return None
        lost = 0.5 * assembly.bend(answer.x) * rounding**2 * np.exp(min(rounding, 50.0))
        share = lost / assembly.gained if assembly.gained > 0 else np.inf
        if share <= NOTICED:
            return None
        parts = (w * far).max(axis=0)
        worst = np.flatnonzero(parts > 1e-3 * parts.max())
        return Doubt(unknowns=tuple(worst.tolist()), share=float(share) if np.isfinite(share) else None)

    def fit_parties(self, parties: Any) -> Self:
        """Fit the model on one (X, y), or one `tacit.learning.Dataset`, per party, in a list or by name.

        The records of a dataset stay in their files or their database, and are read in batches.
        """
        if holds_datasets(parties):
            self._refuse_settings()
            table, dropped = datasets_of(self, parties, numeric_target=self._numeric_target)
            return self._fit(table, dropped)
        X, y, groups = joined(parties)
        return self.fit(X, y, groups=groups)

    def _fitted(self, table: Table, assembly: Assembly, units: StandardUnits) -> tuple[Answer, Fit]:
        parties, weights = table.parties, self._weights(units)
        share = weights.l2 / len(parties)
        smooth = [self._loss(party, units, share) for party in parties]
        x0 = self._start(units, smooth[0].dim)
        costs: list[Loss] | list[Composite] = smooth
        if weights.l1.any():
            l1 = np.zeros(len(x0))
            l1[: len(weights.l1)] = weights.l1 / len(parties)
            costs = [cost + L1(l1) for cost in smooth]
        answer = assembly.solve(
            costs, f"{type(self).__name__} of {len(x0)} unknowns", x0=x0, tol=self.tol, max_iter=self.max_iter
        )
        x, m = answer.x, len(x0)
        penalty = len(parties) * np.asarray(smooth[0].l2)
        if not self._has_errors:
            return answer, Fit(x, FitCurvature.unknown(m), np.zeros(0), units)
        facts = [self._facts_at(party, units, x) for party in parties]
        if m > ONCE:  # too many unknowns to add up their Hessians
            total = assembly.total(facts, "how well the fit explains the labels")
            return answer, Fit(x, FitCurvature.unknown(m), total, units)
        known, total = curvature(assembly, smooth, x, penalty, facts)
        shortest = self._shortest(x, known, units)
        if not np.array_equal(shortest, x):
            facts = [self._facts_at(party, units, shortest) for party in parties]
            there = assembly.total(facts, "how well the shortest fit explains the labels")
            x, total = (shortest, there) if self._fits_as_well(there, total, units) else (x, total)
        return answer, Fit(x, known, total, units)

    def _loss(self, party: Party | OutsideParty, units: StandardUnits, l2: Array) -> Any:
        """Return one party's loss, of records in memory or of a dataset."""
        if isinstance(party, Party):
            return self._cost(units.rows(party.X), units.labels(party.y), l2, **party.extras)
        kind = self._cost(np.zeros((1, len(units.scale))), np.zeros(1), l2)
        return kind.over(PartyRows(party, units, self.fit_intercept))

    def _facts_at(self, party: Party | OutsideParty, units: StandardUnits, x: Array) -> Array:
        return party.added_up(lambda p: self._facts(p, units.rows(p.X), units.labels(p.y), x))

    def _weight_of(self, units: StandardUnits) -> float:
        """Return the total weight of all records: their number, where they have none."""
        return float(units.count) if self._mass is None else self._mass

    def predict_rows(self, X: Any) -> Array:
        """Return X as numbers, checked against the columns that the model was fitted on."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def _refuse_settings(self) -> None:
        for name in ("alpha", "C", "l1_ratio"):
            value: Any = getattr(self, name, 0.0)
            if not (isinstance(value, Real) and float(value) >= 0):
                raise InputError(f"{name} = {value} must be zero or positive.")


def _left_out(dropped: Sequence[int], assembly: Assembly) -> int:
    """Return how many records all parties together have left out; no party's own number is told."""
    terms = [np.array([float(count)]) for count in dropped]
    return round(float(assembly.total(terms, "number of records left out because of gaps")[0]))


def _total_weight(table: Table, assembly: Assembly) -> float | None:
    """Return the sum of all records' weights; None where they have none."""
    if not any(party.has_weights for party in table.parties):
        return None
    terms = [party.of_labels(lambda p: np.array([p.mass.sum()])) for party in table.parties]
    total = float(assembly.total(terms, "sum of the weights")[0])
    if not total > 0:
        raise DataError("every record of every party has the weight zero: nothing is left to fit.")
    return total


def shifted(table: Table) -> Table:
    """Return the records with their offsets taken off the labels: what an offset is to a linear model."""

    def taken_off(party: Party) -> Party:
        return replace(party, y=party.y - party.shift, offset=None)

    moved = [p.changed(taken_off, has_offsets=False) if p.has_offsets else p for p in table.parties]
    return replace(table, parties=tuple(moved))
