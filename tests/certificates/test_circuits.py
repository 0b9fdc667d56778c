"""Plain answers about rows that stand alone are never wrong: singular values say the same."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.certificates.circuits import closed, closed_without_any, independent
from tacit.certificates.determined import knowledge
from tacit.costs.alone import shortened

KINDS = ("dense", "sparse", "categories", "beside a constant", "repeated", "few directions", "one that is far out")


def table(rng, kind, rows, m):
    A = rng.normal(size=(rows, m))
    if kind == "sparse":
        A *= rng.random(A.shape) < 0.3
    if kind == "categories":
        A = np.eye(m)[rng.integers(0, m, rows)]
    if kind == "beside a constant":
        A = np.column_stack([np.eye(m)[rng.integers(0, m, rows)], np.ones(rows)])
    if kind == "repeated":
        A = A[rng.integers(0, max(1, rows // 2), rows)]
    if kind == "few directions":
        A = A[:, : m // 2 + 1] @ rng.normal(size=(m // 2 + 1, m))
    if kind == "one that is far out":
        A[0] *= 1e6
    return A


def alone(A):
    return knowledge(A.T).singles if len(A) else np.zeros(0, dtype=bool)


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_table_has_no_row_that_stands_alone_nor_has_one_that_it_is_part_of(kind):
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(60):
        m = int(rng.integers(1, 9))
        A = table(rng, kind, int(rng.integers(2, 30)), m)
        part = A[: rng.integers(1, len(A) + 1)]
        answers.append(bool(closed(part[None], np.abs(A).max(axis=0))[0]))
        assert not answers[-1] or not alone(A).any()
    assert kind not in ("dense", "sparse", "categories", "repeated") or any(answers)
    assert kind != "beside a constant" or not any(answers)  # categories add up to it: nothing is spanned


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_closed_without_any_group_hide_each_other_from_every_group(kind):
    rng = np.random.default_rng(1)
    answers = []
    for _ in range(60):
        m, k = int(rng.integers(1, 7)), int(rng.integers(2, 6))
        groups = np.array([table(rng, kind, 6, m) for _ in range(k)])
        if rng.random() < 0.5:
            groups[0, 3:] = 0.0  # a short one
        answers.append(closed_without_any(groups, np.abs(groups).max(axis=(0, 1))))
        for c in range(k if answers[-1] else 0):
            assert not alone(np.delete(groups, c, axis=0).reshape(-1, groups.shape[2])).any()
    assert kind != "dense" or any(answers)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_plainly_independent_all_stand_alone(kind):
    rng = np.random.default_rng(2)
    answers = []
    for _ in range(60):
        A = table(rng, kind, int(rng.integers(1, 8)), int(rng.integers(1, 12)))
        answers.append(independent(A, 1e-9))
        assert not answers[-1] or alone(A).all()
    assert kind != "dense" or any(answers)


def test_two_rows_in_one_direction_are_closed_and_one_is_not():
    """What rounding leaves of a residual that is zero is no residual."""
    assert closed(np.array([[[2.0], [1.0]]]), np.array([2.0])).all()
    assert not closed(np.array([[[2.0], [0.0]]]), np.array([2.0])).any()
    assert not closed_without_any(np.array([[[1.7]], [[-0.4]], [[0.0]]]), np.array([1.7]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_shortened_table_has_the_same_products_and_the_records_that_stand_alone(kind):
    rng = np.random.default_rng(3)
    for _ in range(50):
        A = table(rng, kind, int(rng.integers(1, 40)), int(rng.integers(1, 6)))
        short = shortened(A)
        np.testing.assert_allclose(short.rows.T @ short.rows, A.T @ A, atol=1e-9 * np.abs(A).max() ** 2)
        kept = {row.tobytes() for row in short.rows[: short.alone]}
        assert {row.tobytes() for row in A[alone(A)]} <= kept
