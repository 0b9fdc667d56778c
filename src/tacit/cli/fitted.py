"""The coefficients of a federation's model, with the standard errors that its summed Hessian gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.learning.inference import Summary, covariance, deviations, named
from tacit.runtimes.agent import Outcome
from tacit.runtimes.peers import Manifest
from tacit.tables import Sheet


def feature_names(manifest: Manifest, data: Path | Sheet) -> tuple[str, ...]:
    """Return the names of the unknowns without an intercept; none for files that have no names."""
    if manifest.data is not None:
        return manifest.data.names
    if isinstance(data, Path):
        return ()
    target = manifest.model.target if manifest.model is not None else None
    return tuple(name for name in data.columns if name != (target or data.columns[-1]))


_KNOWN_DISPERSION = {"logistic": "log-odds", "poisson": "Poisson, logarithmic link"}


def fitted_table(manifest: Manifest, data: Path | Sheet, outcome: Outcome) -> Summary | None:
    """Return the table; None for a model that needs more than the Hessian, such as the variance of residuals."""
    model, H = manifest.model, outcome.hessian
    if model is None or H is None or model.l1 or model.family not in _KNOWN_DISPERSION:
        return None
    free = np.arange(len(H)) == len(H) - 1 if model.intercept else np.zeros(len(H), dtype=bool)
    penalty = np.where(free, 0.0, model.l2)
    errors = deviations(np.eye(len(H)), covariance(H - np.diag(penalty), penalty, 1.0))
    columns = feature_names(manifest, data) or [f"x{k}" for k in range(len(H) - model.intercept)]
    return Summary(
        model=f"{model.family} ({_KNOWN_DISPERSION[model.family]})",
        names=named(columns, intercept=model.intercept), coefficients=outcome.x, standard_errors=errors,
        freedom=np.inf, observations=None,
        parties=len(manifest.members),
    )  # fmt: skip
