"""Label inference from many releases of a logistic regression's own slopes, beside the certificate's own law.

What was true is worked out by the simulation alone, by another method than the attack's, and only where Aᵀy leaves
no choice: as many independent features as records, or one subset of them with that sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.auditing.attacks.labels import likeliest_labels
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.subset_sum import only_subset
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.judging.verdict import Verdict, judge_mean, skipped
from tacit.costs import Family, Logistic
from tacit.typing import Array

NAME = "label inference"
_RECORDS = 24  # up to which all subsets are summed
_COPIES, _IDEAL = 40, 200


def labels_of(cost: Logistic) -> Array | None:
    """Return the labels that α = −Aᵀy leaves no choice of; None where there is one, or too many to try."""
    A, moments = cost.A, -cost.affine
    if np.linalg.matrix_rank(A) == len(A):
        solved = np.linalg.lstsq(A.T, moments, rcond=None)[0]
        near = np.rint(solved)
        return near if np.abs(solved - near).max() < 1e-6 else None
    if len(A) > _RECORDS:
        return None
    return only_subset(A, moments, 1e-9 * (1.0 + float(np.abs(A).sum())))


def values_of(cost: Family) -> Array | None:
    """Return labels as real numbers, where α = −Aᵀy leaves no choice of any."""
    labels = cost.labels
    if labels is None or len(labels.rows) < labels.records or np.linalg.matrix_rank(labels.rows) < labels.records:
        return None
    if labels.rows.shape[1] != cost.dim:
        return None
    return np.asarray(np.linalg.lstsq(labels.rows.T, -cost.affine, rcond=None)[0], dtype=np.float64)


def records_of(cost: Family) -> Array | None:
    """Return the real numbers of a cost's records, where it keeps them as they are: features beside classes."""
    labels, secrets = cost.labels, cost.secrets
    if labels is None or labels.bits is None or secrets is None:
        return None
    return labels.rows[:, : secrets.numbers]


def infer_labels(setting: Setting, costs: Sequence[Logistic], labels: Sequence[Array | None]) -> Verdict:
    """Infer labels from masked slopes, again and again; how many are right?"""
    known = [(k, int(i)) for k, i in enumerate(setting.honest) if labels[i] is not None]
    if not known:
        return skipped(NAME, "Aᵀy leaves a choice of labels: nobody can say what is right")
    slopes = np.stack([cost.affine for cost in costs])
    m = slopes.shape[1]

    def right(z: Array) -> Array:
        """Return the share of right labels in every copy of z, (agents, m, copies)."""
        hits = [likeliest_labels(costs[i].A, -z[k].T) == labels[i] for k, i in known]
        return np.concatenate(hits, axis=1).mean(axis=1)

    done = setting.released(np.tile(slopes, (1, _COPIES)))
    z = coefficients(done.views[0], done.public)[1]
    hits = right(z.reshape(len(z), _COPIES, m).transpose(0, 2, 1))
    expected = right(np.stack([slopes[setting.honest] + setting.ideal(m) for _ in range(_IDEAL)], axis=2))
    says = f"of labels right; the certificate's own law gives {100 * float(expected.mean()):.0f} %"
    return judge_mean(NAME, hits, expected, says=says, rng=setting.rng)
