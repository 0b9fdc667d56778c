"""Labels that follow from an answer: every verdict is what singular values say, whatever the features look like."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.certificates.determined import knowledge
from tacit.solving.telling.label_rank import labels_told

KINDS = (
    "dense",
    "sparse",
    "categories",
    "beside a constant",
    "flags",
    "whole numbers",
    "repeated",
    "few directions",
)
FAMILIES = {
    "squares": lambda A: tacit.LeastSquares(A, np.zeros(len(A)), l2=0.1),
    "logistic": lambda A: tacit.Logistic(A, np.zeros(len(A)), l2=0.1),
}


def table(rng, kind, rows, m):
    A = rng.normal(size=(rows, m))
    if kind == "sparse":
        A *= rng.random(A.shape) < 0.2
    if kind == "categories":
        A = np.eye(m)[rng.integers(0, m, rows)]
    if kind == "beside a constant":
        A = np.column_stack([np.eye(m - 1)[rng.integers(0, m - 1, rows)], np.ones(rows)])
    if kind == "flags":
        A = np.column_stack([rng.random((rows, m - 1)) < 0.1, np.ones(rows)]).astype(float)
    if kind == "whole numbers":
        A = rng.integers(0, 3, A.shape).astype(float)
    if kind == "repeated":
        A = A[rng.integers(0, max(1, rows // 2), rows)]
    if kind == "few directions":
        A = A[:, : m // 2] @ rng.normal(size=(m // 2, m))
    return A


def single_verdict(tables):
    """How many labels of each agent some other agent computes, by the singular values of every honest table."""
    told = [np.zeros(len(A), dtype=bool) for A in tables]
    for c in range(len(tables)):
        honest = [i for i in range(len(tables)) if i != c]
        ends = np.cumsum([len(tables[i]) for i in honest])
        singles = knowledge(np.concatenate([tables[i] for i in honest]).T).singles
        for i, part in zip(honest, np.split(singles, ends[:-1]), strict=True):
            told[i] |= part
    return tuple(int(each.sum()) for each in told)


def first_told(tables):
    """The smallest coalition, of those with most records, to which some label follows."""
    order = np.argsort([-len(A) for A in tables], kind="stable")
    for size in range(2, len(tables) - 1):
        if knowledge(np.concatenate([tables[i] for i in order[size:]]).T).singles.any():
            return size
    return len(tables)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_are_what_singular_values_say(kind, family):
    rng = np.random.default_rng(0)
    for _ in range(15):
        n, m = int(rng.integers(3, 9)), int(rng.integers(2, 9))
        sizes = rng.integers(1, int(rng.choice([2, 4, 12, 60])) + 1, n)
        tables = [table(rng, kind, r, m) for r in sizes]
        verdict = labels_told([FAMILIES[family](A).labels for A in tables], precision=1e-9)
        assert verdict.determined == single_verdict(tables)
        if not any(verdict.determined):
            assert (verdict.coalition or n) <= first_told(tables)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_record_unlike_any_number_of_others_is_told(family):
    """All records but one are alike: there are far more of them than unknowns, and that one follows all the same."""
    tables = [np.ones((20, 2)) for _ in range(10)]
    tables[3] = np.vstack([tables[3], [[0.3, -2.0]]])
    verdict = labels_told([FAMILIES[family](A).labels for A in tables], precision=1e-9)
    assert verdict.determined == (0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    assert verdict.coalition == 1


def test_an_honest_agent_with_many_records_hides_everybody_from_any_coalition():
    rng = np.random.default_rng(1)
    tables = [rng.normal(size=(40, 5)) for _ in range(4)] + [rng.normal(size=(1, 5)) for _ in range(4)]
    verdict = labels_told([FAMILIES["logistic"](A).labels for A in tables], precision=1e-9)
    assert verdict.determined == (0,) * 8
    assert verdict.coalition == 4  # all four that do: the others have four records for five unknowns
    small = labels_told([FAMILIES["logistic"](A).labels for A in tables[:5]], precision=1e-9)
    assert small.coalition is None  # one of the four is honest, whoever two are left
