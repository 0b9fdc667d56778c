"""Rows that are alike: counted as they are, and whoever is counted as hidden is hidden by singular values."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.certificates.determined import knowledge
from tacit.solving.telling.basis import basis
from tacit.solving.telling.twins import Twins

ROWS = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.1, -0.3]), min_size=3, max_size=3), min_size=1, max_size=12
)


def counted(tables):
    rows = [tuple(row) for A in tables for row in A]
    return Twins.of(np.array(rows), np.array([len(A) for A in tables]))


@settings(max_examples=40)
@given(tables=st.lists(ROWS, min_size=1, max_size=4))
def test_rows_are_counted_as_they_are(tables):
    twins = counted(tables)
    if twins is None:
        return
    assert twins.rows.any(axis=1).all()
    for i, A in enumerate(tables):
        own = Counter(tuple(float(x) for x in row) for row in A if any(row))
        mine = Counter()
        for row, count in zip(twins.rows, twins.counts[i], strict=True):
            mine[tuple(row.tolist())] += int(count)
        assert +mine == own
    np.testing.assert_array_equal(twins.entries, [(np.array(A) != 0).sum(axis=0) for A in tables])


@settings(max_examples=40)
@given(tables=st.lists(ROWS, min_size=2, max_size=4))
def test_whoever_has_a_twin_is_hidden(tables):
    twins = counted(tables)
    order = np.arange(len(tables))
    for size in order if twins is not None else ():
        honest = np.concatenate([tables[i] for i in order[size:]])
        if twins.hide_behind(order)[size]:
            assert not knowledge(honest.T).singles.any()
        if twins.apart and not twins.hide_behind(order)[size]:
            assert knowledge(honest.T).singles.any()


def test_rows_with_one_entry_each_are_apart_only_if_entries_are_equal():
    eye = np.tile(np.eye(3), (4, 1))
    half = np.array([6, 6])
    assert Twins.of(2.0 * eye, half).apart
    assert not Twins.of(eye * np.repeat([1.0, 2.0], 6)[:, None], half).apart
    assert not Twins.of(np.vstack([eye, np.zeros((2, 3))]), half + 1).apart
    pairs = np.vstack([eye, [[0.0, 0, 0], [1, 1, 0]] * 2])  # as many entries as rows
    assert not Twins.of(pairs, half + 2).apart


def test_a_twin_that_only_looks_like_one_does_not_count():
    """Rows whose weighted sums agree to the last digit, and that differ all the same, are two kinds."""
    rows = np.array([[1.0, 1e-30], [1.0, 0.0], [1.0, 1e-30], [1.0, 0.0], [1.0, 2e-30], [1.0, 0.0], [1.0, 0.0]])
    twins = Twins.of(rows, np.array([7]))
    assert twins is None or not twins.hide_all()


@pytest.mark.parametrize("seed", range(5))
def test_a_basis_of_a_few_rows_is_taken_only_if_it_is_one_of_all(seed):
    rng = np.random.default_rng(seed)
    C = np.eye(4)[rng.integers(0, 4, 60)]
    A = np.column_stack([C, np.ones(60), rng.normal(size=60)])
    assert len(basis(A[:30], A, np.abs(A).max(axis=0))) == 5
    B = A.copy()
    B[50, 4] = 2.0  # no longer a constant, beyond the rows that are looked at
    assert basis(B[:30], B, np.abs(B).max(axis=0)) is None
    assert len(basis(B, B, np.abs(B).max(axis=0))) == 6


def test_columns_that_nearly_depend_on_others_do_not():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 5))
    for distance, rank in ((1e-4, 6), (1e-7, 6), (1e-9, 6), (0.0, 5)):
        B = np.column_stack([A, A.sum(axis=1) + distance * rng.normal(size=40)])
        assert len(basis(B, B, np.abs(B).max(axis=0))) == rank
