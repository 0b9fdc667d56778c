"""Labels that follow from an answer: every verdict is what singular values say, whatever the features look like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.certificates.determined import knowledge
from tacit.solving.telling.label_rank import labels_told
from tacit.solving.telling.open_rows import OpenRows

KINDS = (
    "dense",
    "sparse",
    "categories",
    "beside a constant",
    "flags",
    "whole numbers",
    "repeated",
    "few directions",
    "rare categories",
    "categories twice",
    "categories of two variables",
    "all categories but one beside a constant",
    "categories beside a number",
    "categories beside a number and a constant",
    "categories of other sizes",
    "records in no category",
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
    return _with_categories(rng, kind, rows, m) if kind in KINDS[8:] else A


def _with_categories(rng, kind, rows, m):
    """Return records in one category each, of which the last are rare."""
    C = np.eye(m)[np.minimum(rng.geometric(0.4, rows), m) - 1]
    return {
        "rare categories": lambda: C,
        "categories twice": lambda: np.column_stack([C, 2.0 * C[:, ::2]]),
        "categories of two variables": lambda: np.column_stack([C, np.eye(3)[rng.integers(0, 3, rows)]]),
        "all categories but one beside a constant": lambda: np.column_stack([C[:, 1:], np.ones(rows)]),
        "categories beside a number": lambda: np.column_stack([C, rng.normal(size=rows)]),
        "categories beside a number and a constant": lambda: np.column_stack(
            [C, rng.normal(size=rows), np.ones(rows)]
        ),
        "categories of other sizes": lambda: C * rng.choice([1.0, -3.0], rows)[:, None],
        "records in no category": lambda: C * (rng.random(rows) < 0.7)[:, None],
    }[kind]()


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


@settings(max_examples=50)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 1),
    agents=st.integers(3, 12),
    columns=st.integers(2, 9),
    most=st.sampled_from([1, 3, 8, 40]),
    strangers=st.sampled_from([0, 0, 0, 1, 2]),
)
def test_what_zeros_and_twins_show_is_what_is_said_without_them(kind, seed, agents, columns, most, strangers):
    """Shortcuts change no verdict: neither a rank, nor a label that follows, nor the size of a coalition."""
    rng = np.random.default_rng(seed)
    tables = [table(rng, kind, int(r), columns) for r in rng.integers(1, most + 1, agents)]
    labels = [FAMILIES["logistic"](A).labels for A in tables]
    verdict = labels_told(labels, precision=1e-9, strangers=strangers)
    plain = OpenRows.of(labels)
    plain.__dict__["is_sparse"] = False
    assert verdict == labels_told(labels, precision=1e-9, strangers=strangers, table=plain)


@settings(max_examples=40)
@given(
    categories=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=3, max_size=7),
    constant=st.booleans(),
)
def test_of_categories_a_label_follows_where_its_record_is_the_only_one_of_its_kind_that_is_left(
    categories, constant
):
    """The rule by which a person would count: two of a kind hide each other, whoever else is in what other one."""
    kinds = [np.bincount(own, minlength=6) for own in categories]
    told = [[False] * len(own) for own in categories]
    for c in range(len(kinds)):
        left = sum(kinds) - kinds[c]
        for i, own in enumerate(categories):
            for r, category in enumerate(own):
                told[i][r] |= i != c and left[category] == 1
    tables = [np.column_stack([np.eye(6)[own], np.ones((len(own), int(constant)))]) for own in categories]
    verdict = labels_told([FAMILIES["logistic"](A).labels for A in tables], precision=1e-9)
    assert verdict.determined == tuple(sum(own) for own in told)
    everything = len({category for own in categories for category in own})
    assert verdict.rank == min(everything, verdict.hidden)


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
