"""The table of a federation's model: what `fit` prints, from what one member ends with.

    G = Σ_i ∇²ℓ_i(x̂), the sum of all costs at x̂, and facts        all of it added up in secret during the run

    logistic   log-likelihood  −h(x̂) − n log 2
    poisson    log-likelihood  −h(x̂) − n − Σ log y!
    linear     Σ residual²      2 h(x̂) + Σ y²

where h is without penalties. Standard errors are those of `tacit.learning.inference`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.federation.manifest import Manifest
from tacit.federation.sections import Model
from tacit.learning.inference import Summary, covariance, deviations, named
from tacit.runtimes.phases import Outcome
from tacit.solving.facts import Facts
from tacit.typing import Array

_LINEAR = ("least-squares", "ridge")


class _Likely(NamedTuple):
    """What a family's table says besides the coefficients."""

    dispersion: float
    freedom: float
    facts: tuple[tuple[str, float], ...]


def fitted_table(manifest: Manifest, columns: Sequence[str], outcome: Outcome) -> Summary | None:
    """Return the table; None where no model of records is fitted. Without facts, as much as the Hessian gives."""
    model = manifest.model
    if model is None or model.family not in _TITLES:
        return None
    m, facts = len(outcome.x), None if outcome.facts is None else Facts.read(outcome.facts)
    columns = columns or [f"x{k}" for k in range(m - model.intercept)]
    if manifest.privacy.promise is not None:
        return Summary(
            model=f"{model.family} ({_title(manifest, model)}), differentially private",
            names=named(columns, intercept=model.intercept), coefficients=outcome.x,
            standard_errors=np.full(m, np.nan) if outcome.errors is None else outcome.errors, freedom=np.inf,
            observations=manifest.privacy.promise.records, parties=len(manifest.members),
            notes=(_noise_note(outcome),),
        )  # fmt: skip
    penalty = _penalty(manifest, model, m)
    G = None if outcome.hessian is None or model.l1 else outcome.hessian - np.diag(penalty)
    value = None if outcome.value is None else outcome.value - 0.5 * float(penalty @ outcome.x**2)
    likely = None
    if facts is not None and value is not None and G is not None and model.family in _LIKELY:
        likely = _LIKELY[model.family](value, facts, G, penalty, model.intercept)
    known = likely.dispersion if likely is not None else 1.0 if model.family in ("logistic", "poisson") else np.nan
    errors = np.full(m, np.nan) if G is None else deviations(np.eye(m), covariance(G, penalty, known))
    extra = () if facts is None or not facts.dropped else (("left out", float(facts.dropped)),)
    return Summary(
        model=f"{model.family} ({_title(manifest, model)})", names=named(columns, intercept=model.intercept),
        coefficients=outcome.x, standard_errors=errors, freedom=np.inf if likely is None else likely.freedom,
        observations=None if facts is None else facts.records, parties=len(manifest.members),
        facts=(*(likely.facts if likely is not None else ()), *extra),
    )  # fmt: skip


_TITLES = {
    "logistic": "log-odds", "poisson": "Poisson, logarithmic link", "least-squares": "least squares",
    "ridge": "least squares with a penalty", "lasso": "least squares with an L1 penalty",
    "elastic-net": "least squares with an elastic net", "huber": "Huber's loss",
}  # fmt: skip


def _noise_note(outcome: Outcome) -> str:
    """Return what is known of the noise in the coefficients."""
    beside = "no standard errors beside it" if outcome.errors is None else "standard errors include it"
    if outcome.noise is None:
        return f"The coefficients carry noise, whose deviation nobody knows, and {beside}."
    each = ", ".join(f"{deviation:.2g}" for deviation in outcome.noise)
    return f"The coefficients carry noise of deviations {each}, in this order, and {beside}."


def _title(manifest: Manifest, model: Model) -> str:
    """Return what is explained; the word for the class, where the dictionary has words."""
    explained = None if manifest.data is None else manifest.data.explained
    of = f" of {explained.name} = {explained.others[0]}" if explained is not None and explained.levels else ""
    return _TITLES[model.family] + of


def _penalty(manifest: Manifest, model: Model, unknowns: int) -> Array:
    """Return the total l2 of every unknown: whoever has left took its share along."""
    members = len(manifest.members)
    penalty = np.full(unknowns, model.l2 * members / (model.shares or members))
    if model.intercept:
        penalty[-1] = 0.0
    return penalty


def _logistic(value: float, facts: Facts, G: Array, penalty: Array, intercept: bool) -> _Likely:
    counts = np.array([facts.records - facts.labels, facts.labels])
    likelihood = -value - facts.records * np.log(2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        null = float(np.nansum(counts * np.log(counts / facts.records)))
    more = (("null", null), ("pseudo R²", 1.0 - likelihood / null)) if null else ()
    return _Likely(1.0, np.inf, (("log-likelihood", likelihood), *more))


def _poisson(value: float, facts: Facts, G: Array, penalty: Array, intercept: bool) -> _Likely:
    logs, saturated = facts.more
    likelihood = -value - facts.records - logs
    return _Likely(1.0, np.inf, (("log-likelihood", likelihood), ("deviance", 2.0 * (saturated - likelihood))))


def _linear(value: float, facts: Facts, G: Array, penalty: Array, intercept: bool) -> _Likely:
    n, squares = facts.records, max(2.0 * value + facts.more[0], 0.0)
    freedom = n - float(np.trace(np.linalg.pinv(G + np.diag(penalty), hermitian=True) @ G))
    about = facts.more[0] - facts.labels**2 / n
    explained = (("R²", 1.0 - squares / about),) if intercept and about > 0 else ()
    if not freedom > 1e-9:
        return _Likely(np.nan, np.inf, explained)
    return _Likely(
        squares / freedom, freedom, (*explained, ("residual std err", float(np.sqrt(squares / freedom))))
    )


_LIKELY: dict[str, Callable[[float, Facts, Array, Array, bool], _Likely]] = {
    "logistic": _logistic, "poisson": _poisson, "least-squares": _linear, "ridge": _linear,
}  # fmt: skip
