"""Logistic regression, of two classes or of many.

    two classes     Σ log(1 + exp(zⱼ)) − yⱼ zⱼ + |w|²/2C
    more            Σ log Σ_k exp(z_jk) − z_{j,yⱼ} + |W|²/2C,   Σ_k w_k = 0

C = ∞ is the maximum likelihood, with the standard errors that statsmodels prints.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax, xlogy
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from tacit.costs import Logistic, Multinomial, contrasts
from tacit.errors import DataError, InputError
from tacit.learning.assembly import Assembly
from tacit.learning.inference import Summary, named
from tacit.learning.model import Fit, PrivateModel, Shrinkage
from tacit.learning.parties import Party, Table, refuse_look_alikes
from tacit.learning.promised import close, errors_of, fitted, promise_of, score_noise
from tacit.learning.standardising import StandardUnits
from tacit.solving import Answer
from tacit.spelling import did_you_mean
from tacit.typing import Array


class PrivateLogisticRegression(ClassifierMixin, PrivateModel):
    """`LogisticRegression` by secret sums; binary and multinomial.

    *classes* lists the labels beforehand, as parties must who do not know each other's; without it they are
    read off all records. A party need not have all classes. *class_weight* weighs the records of every class: a
    dict, or "balanced", by the classes' secret counts. *l1_ratio* mixes in an L1 penalty, for two classes.
    With *epsilon*, *delta* and *clip*, the public limit on a row's length with its 1 for the intercept, the answer
    is differentially private for every record: in the units that columns come in, for two declared classes.

    >>> import numpy as np
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = PrivateLogisticRegression(C=np.inf).fit(X, y, groups=[0, 1, 2, 2, 2, 2])
    >>> model.coef_.round(4).tolist(), model.intercept_.round(4).tolist()
    ([[1.214]], [-3.0351])
    """

    _scaled_target = False
    _numeric_target = False
    _repeats = True
    _makes_promises = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        classes: Any = None,
        tol: float = 1e-9,
        max_iter: int = 1000,
        privacy: Any = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        accept_changes: Any = (),
        epsilon: float | None = None,
        delta: float | None = None,
        clip: float | None = None,
        records: int | None = None,
    ) -> None:
        self.C, self.l1_ratio, self.fit_intercept, self.classes = C, l1_ratio, fit_intercept, classes
        self.class_weight = class_weight
        self.tol, self.max_iter = tol, max_iter
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes
        self.epsilon, self.delta, self.clip, self.records = epsilon, delta, clip, records

    labels = None  # there is nothing to limit: classes are declared

    def _promised(self, table: Table) -> None:
        """Fit with noise that keeps (ε, δ) for every record; a label that is not declared counts as the first."""
        promise = promise_of(self)
        if self.classes is None or len(self.classes) != 2 or self.l1_ratio or self.class_weight is not None:
            raise InputError(
                "epsilon needs two classes that are declared beforehand, as classes, no l1_ratio and no "
                "class_weight: what is read off records has no noise."
            )
        self.classes_ = np.asarray(self.classes)
        share = 1.0 / (self.C * len(table.parties))
        costs = [
            Logistic(party.X, party.y == self.classes_[1], l2=share, intercept=self.fit_intercept)
            for party in table.here
        ]
        answer = fitted(self, table, costs, promise)
        p = len(table.columns)
        self.coef_ = answer.x[None, :p]
        self.intercept_ = answer.x[p:] if self.fit_intercept else np.zeros(1)
        close(self, answer, table)
        errors = errors_of(answer)
        self.standard_errors_ = errors[None, :p]
        self.intercept_standard_error_ = errors[p:] if self.fit_intercept else np.zeros(1)

    def score_noise(self, X: Any, y: Any, *, draws: int = 200, seed: int | None = None) -> float:
        """Return the deviation that noise gives the accuracy on these records."""
        return score_noise(self, X, y, draws=draws, seed=seed)

    def decision_function(self, X: Any) -> Array:
        """Return the scores: of the second class, or of every class where there are more than two."""
        scores = self.predict_rows(X) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: Any) -> Any:
        """Return the most probable classes."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))

    def _refuse_settings(self) -> None:
        super()._refuse_settings()
        if not self.C > 0 or not self.l1_ratio <= 1:
            raise InputError(f"C = {self.C} must be positive, and l1_ratio = {self.l1_ratio} at most 1.")

    def _prepared(self, table: Table, assembly: Assembly) -> Table:
        """Return labels as 0 … K − 1; refuse a class that nobody has, by the sum of everybody's counts."""
        labels = [party.labels for party in table.parties]
        self._refuse_amounts(np.concatenate(labels), table.target)
        if self.classes is None:
            refuse_look_alikes(table)
        known = np.unique(np.concatenate(labels)) if self.classes is None else np.asarray(self.classes)

        def numbered(party: Party) -> Party:
            return replace(party, y=_places(known, party, table.target))

        parties = [party.changed(numbered) for party in table.parties]
        terms = [party.of_labels(lambda p: _counted(p.y, len(known))) for party in parties]
        counts = assembly.total(terms, "number of records of every class")
        if any(party.has_weights for party in parties):
            terms = [party.of_labels(lambda p: _counted(p.y, len(known), weights=p.mass)) for party in parties]
            masses = assembly.total(terms, "weight of the records of every class")
        else:
            masses = np.rint(counts)
        empty = np.flatnonzero(np.rint(counts) == 0)
        if len(empty):
            raise DataError(
                f"column {table.target!r}: number {empty[0] + 1} in the list of classes occurs in no record of any "
                "party; leave that class out."
            )
        if len(known) < 2:
            raise DataError(f"column {table.target!r}: all records of all parties have one class; two are needed.")
        if len(known) > 2 and self.l1_ratio:
            raise InputError("l1_ratio is for two classes; use an l2 penalty for more.")
        if len(known) > 2 and any(party.has_offsets for party in parties):
            raise InputError("an offset is for two classes: of more, nobody knows whose score it moves.")
        self.classes_ = known
        factors = self._class_factors(known, np.rint(counts))
        if factors is not None:

            def weighed(party: Party) -> Party:
                return replace(party, weight=party.mass * factors[party.y.astype(np.intp)])

            parties = [party.changed(weighed, has_weights=True) for party in parties]
            masses = masses * factors
        self._masses = masses
        if any(party.has_weights for party in parties):
            self._mass = float(masses.sum())
        return replace(table, parties=tuple(parties))

    @staticmethod
    def _refuse_amounts(labels: Any, target: str) -> None:
        """Refuse a target that is measured and not chosen: scikit-learn's own sentence has no remedy."""
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise DataError(
                f"column {target!r}: holds amounts, and a logistic model takes classes; use a linear model, or cut "
                f"it into classes. ({error})"
            ) from None

    def _class_factors(self, known: Any, counts: Array) -> Array | None:
        """Return the weight of every class: as given, or n / (K n_k) where they are to be balanced."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise InputError(
                    f"class_weight = {self.class_weight!r} is neither 'balanced' nor a dict of weights."
                    f"{did_you_mean(self.class_weight, ['balanced'])}"
                )
            return np.asarray(counts.sum() / (len(counts) * counts))
        strangers = [label for label in self.class_weight if label not in known.tolist()]
        if strangers:
            raise InputError(f"class_weight names {strangers[0]!r}, which is no class.")
        factors = np.array([float(self.class_weight.get(label, 1.0)) for label in known.tolist()])
        if not (np.isfinite(factors) & (factors >= 0)).all():
            raise InputError("class_weight must be zero or positive.")
        return factors

    def _cost(self, Z: Array, y: Array, l2: Array, **extras: Array) -> Logistic | Multinomial:
        if len(self.classes_) == 2:
            return Logistic(Z, y, l2=l2, intercept=self.fit_intercept, **extras)
        return Multinomial(Z, y, classes=len(self.classes_), l2=l2, intercept=self.fit_intercept, **extras)

    def _weights(self, units: StandardUnits) -> Shrinkage:
        return Shrinkage(self.l1_ratio / (self.C * units.scale), (1.0 - self.l1_ratio) / (self.C * units.scale**2))

    def _why(self, answer: Answer) -> str:
        if np.isfinite(self.C) or answer.status != "stalled":
            return super()._why(answer)
        return "the columns tell the classes apart without error, so the likelihood has no maximum; use a finite C."

    def _facts(self, party: Party, Z: Array, y: Array, x: Array) -> Array:
        """Return the log-likelihood."""
        if len(self.classes_) == 2:
            z = Z @ x[: Z.shape[1]] + (x[-1] if self.fit_intercept else 0.0) + party.shift
            return np.array([party.mass @ log_expit(np.where(y > 0, z, -z))])
        A = np.column_stack([Z, np.ones(len(Z))]) if self.fit_intercept else Z
        scores = A @ (x.reshape(-1, A.shape[1]).T @ contrasts(len(self.classes_)).T)
        return np.array([party.mass @ log_softmax(scores, axis=1)[np.arange(len(y)), y.astype(np.intp)]])

    def _finish(self, fit: Fit, table: Table, columns: tuple[str, ...]) -> None:
        p, turn, binary = len(columns), fit.units.back(self.fit_intercept), len(self.classes_) == 2
        B = np.ones((1, 1)) if binary else contrasts(len(self.classes_))
        each: Array = np.kron(B, turn).astype(np.float64)
        own, errors = each @ fit.x, fit.curvature.deviations(each, 1.0)
        W, deviation = own.reshape(len(B), -1), errors.reshape(len(B), -1)
        self.coef_, self.standard_errors_ = W[:, :p], deviation[:, :p]
        none = np.zeros(len(W))
        self.intercept_ = W[:, p] if self.fit_intercept else none
        self.intercept_standard_error_ = deviation[:, p] if self.fit_intercept else none
        names = named(columns, intercept=self.fit_intercept)
        if not binary:  # against the first class, as statsmodels prints it
            each = np.kron(B[1:] - B[0], turn).astype(np.float64)
            own, errors = each @ fit.x, fit.curvature.deviations(each, 1.0)
            names = tuple(f"{label}: {name}" for label in self.classes_[1:] for name in names)
        likelihood, null = float(fit.facts[0]), float(xlogy(self._masses, self._masses / self._masses.sum()).sum())
        del self._masses
        explained = 1.0 - likelihood / null if null else np.nan
        against = f", against class {self.classes_[0]}" if not binary else f" of class {self.classes_[1]}"
        self.summary_ = Summary(
            model=f"{type(self).__name__} (log-odds{against})", names=names, coefficients=own,
            standard_errors=errors, freedom=np.inf, observations=fit.units.count, parties=len(table.parties),
            facts=(("log-likelihood", likelihood), ("null", null), ("pseudo R²", explained)),
        )  # fmt: skip


def _places(known: Any, party: Party, target: str) -> Array:
    """Return the number of every record's class in the list; refuse others without showing them."""
    labels, inverse = party.y, None
    if labels.dtype.kind in "biuf" and known.dtype.kind in "biuf":
        order = np.argsort(known)
        place = order[np.minimum(np.searchsorted(known, labels, sorter=order), len(known) - 1)]
        if not (known[place] == labels).all():
            raise _unlisted(party, target)
        return place.astype(np.float64)
    if labels.dtype.kind != "O":
        labels, inverse = np.unique(labels, return_inverse=True)
    place = np.array([np.flatnonzero(known == label)[:1].sum() for label in labels], dtype=np.intp)
    if not (known[place] == labels).all():
        raise _unlisted(party, target)
    return np.asarray(place if inverse is None else place[inverse], dtype=np.float64)


def _counted(y: Array, classes: int, weights: Array | None = None) -> Array:
    return np.bincount(y.astype(np.intp), weights=weights, minlength=classes).astype(np.float64)


def _unlisted(party: Party, target: str) -> DataError:
    return DataError(f"party {party.name}, column {target!r}: has a class that classes= does not list.")
