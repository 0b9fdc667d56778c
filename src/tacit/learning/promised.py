"""A fit whose answer is differentially private: public units, declared classes, and nothing exact beside it.

    numbers of records                   declared, where it is public; not added up
    class counts                         not added up; `histogram` has them with noise
    means and scales                     columns are fitted in the units that they come in, which are public; a
                                         `PrivateStandardScaler` with epsilon has them with noise
    gaps, infinite numbers               zeros, and large numbers: nothing is refused
    classes                              declared; a label that is none of them counts as the first
    standard errors                      of logistic costs, from Hessians with noise, and with what noise adds; of
                                         linear ones what noise adds, as residuals are not added up
    likelihoods                          none

Everything else about an estimator is exact, and would undo the promise.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.costs import Family, packed_size
from tacit.differential import DifferentialPrivacy
from tacit.errors import InputError
from tacit.learning.account import Account, Sums, enter_noisy
from tacit.learning.inference import Summary, named
from tacit.learning.parties import Table
from tacit.learning.party_network import connected
from tacit.masks import SumMasks
from tacit.solving import Answer, Problem, solve
from tacit.typing import Array


def promise_of(model: Any) -> DifferentialPrivacy:
    """Return what an estimator's settings promise; refuse settings that would not keep it."""
    refuse_exact(model, counted=True)
    return DifferentialPrivacy(
        epsilon=model.epsilon, delta=model.delta, clip=model.clip, any=model.any, labels=model.labels,
        records=model.records,
    )  # fmt: skip


def refuse_exact(model: Any, *, counted: bool = False) -> float:
    """Refuse settings of an estimator with epsilon that go with exact answers; return its delta.

    Whether a ledger counts what it tells is said by *counted*.
    """
    if model.privacy != "sums":
        raise InputError("epsilon goes with privacy = 'sums': its shares travel in secret sums.")
    if model.ledger is not None and not counted:
        raise InputError(
            "a ledger counts noisy answers of models only; leave it out, and keep a budget of epsilon."
        )
    if model.delta is None:
        raise InputError("epsilon needs delta, far below one over the number of records.")
    delta: float = model.delta
    return delta


def fitted(model: Any, table: Table, costs: Sequence[Family], promise: DifferentialPrivacy) -> Answer:
    """Return the answer of the parties' costs, with noise that keeps *promise*."""
    if table.dealt:
        raise InputError("epsilon needs parties: name the party of every row, as groups.")
    if any(party.weight is not None or party.offset is not None for party in table.here):
        raise InputError("epsilon does not go with weights or offsets: what one record does has no bound then.")
    promise.refuse_few(len(table.names))
    network = connected(table.names, model.network, any=model.any)
    if model.ledger is not None:
        enter_noisy(type(model).__name__, network, promise, model.ledger)
    return solve(Problem(network, costs), privacy=SumMasks(answer=promise), runtime=model.runtime)


def close(model: Any, answer: Answer, table: Table) -> None:
    """Set what every fitted model has, and what this one promises."""
    record, m = answer.record, len(answer.x)
    model.answer_, model.guarantee_, model.noise_errors_ = answer, answer.guarantee, answer.noise
    model.n_iter_, model.parties_ = record.phase2.rounds, table.names
    model.certificate_ = answer.certificate(any=model.any)
    bends = 1 if answer.errors is None else 2
    gradients = Sums("slopes, with noise", m, max(record.phase2.rounds - bends, 1))
    model.ledger_ = Account(None, (Sums("bends, with noise", packed_size(m), bends), gradients))
    model.summary_ = _summarised(model, answer, table)


def _summarised(model: Any, answer: Answer, table: Table) -> Summary:
    """Return the fit as a table: coefficients, standard errors where there are some, and a note about noise."""
    noise, errors = answer.noise, answer.errors
    known = "" if noise is None else f" Noise gives them deviations of {noise.min():.2g} to {noise.max():.2g}."
    beside = "and no standard errors beside it" if errors is None else "and standard errors include it"
    return Summary(
        model=f"{type(model).__name__} (differentially private)",
        names=named(table.columns, intercept=model.fit_intercept),
        coefficients=answer.x,
        standard_errors=errors_of(answer),
        freedom=np.inf,
        observations=model.records,
        parties=len(table.parties),
        notes=(f"The coefficients carry noise, {beside}.{known}",),
    )


def errors_of(answer: Answer) -> Array:
    """Return the standard errors of all unknowns, an intercept's last; NaN where there are none."""
    return np.full(len(answer.x), np.nan) if answer.errors is None else answer.errors


def score_noise(model: Any, X: Any, y: Any, *, draws: int = 200, seed: int | None = None) -> float:
    """Return the deviation that noise gives the model's score on these records, by drawing it again.

    It follows from the answer and from public numbers, so that it costs nothing. The score itself is of whose
    records these are: publish it only if they may be known.
    """
    if getattr(model, "noise_errors_", None) is None:
        raise InputError("the model is not fitted with epsilon, or nobody knows what noise does to it.")
    rng, scores = np.random.default_rng(seed), []
    p = np.atleast_2d(model.coef_).shape[1]
    for _ in range(draws):
        shaken = copy.copy(model)
        moved = rng.normal(size=len(model.noise_errors_)) * model.noise_errors_
        shaken.coef_ = model.coef_ + moved[:p].reshape(np.shape(model.coef_))
        shaken.intercept_ = model.intercept_ + (moved[p] if len(moved) > p else 0.0)
        scores.append(shaken.score(X, y))
    return float(np.std(scores))
