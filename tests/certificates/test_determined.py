"""One rank test for everything that is told: labels, sums, histories."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.certificates.determined import knowledge
from tacit.errors import InputError


def kernel(J):
    """A second method: the null space, from a full decomposition."""
    _, s, v = np.linalg.svd(J)
    return v[int((s > 1e-9 * s[0]).sum()) :]


def test_a_sum_tells_one_combination_and_nobody():
    told = knowledge(np.ones((1, 5)))
    assert (told.rank, told.free) == (1, 4)
    assert not told.singles.any()
    assert all(len(told.own([k])) == 0 for k in range(5))
    assert len(told.own(range(5))) == 1


def test_nothing_told_determines_nothing():
    told = knowledge(np.zeros((0, 4)))
    assert (told.rank, told.free) == (0, 4)
    assert not told.singles.any()
    assert knowledge(np.zeros((3, 4))).rank == 0


def test_as_many_independent_sums_as_numbers_tell_them_all():
    told = knowledge(np.random.default_rng(1).normal(size=(7, 6)))
    assert told.free == 0
    assert told.determines(range(6))


def test_the_change_between_two_versions_is_a_combination_of_one_agent_alone():
    """Columns: (a, v1), (b, v1), (c, v1), (c, v2); two runs, the second after c's data changed."""
    told = knowledge([[1, 1, 1, 0], [1, 1, 0, 1]])
    assert not told.singles.any()
    change = told.own([2, 3])
    assert len(change) == 1
    np.testing.assert_allclose(np.abs(change[0]), np.sqrt([0.5, 0.5]), atol=1e-12)
    assert change[0, 0] * change[0, 1] < 0
    assert len(told.own([0])) == len(told.own([1])) == 0


def test_who_knows_its_own_number_subtracts_it():
    told = knowledge([[1, 1, 1]])
    assert told.given([0]).singles.tolist() == [True, False, False]
    assert told.given([0, 1]).singles.tolist() == [True, True, True]
    assert told.given([]).rank == 1
    assert told.given([0, 0]).rank == 2


def test_labels_of_an_agent_are_determined_iff_its_rows_are_independent_of_the_rest():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(12, 10))
    A[4:] = A[4:] @ np.diag([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])  # the last eight share six columns
    told = knowledge(A.T)
    assert told.determines(range(4))
    assert not told.determines(range(4, 12))
    assert told.singles.sum() == 4


def test_a_column_of_one_party_alone_tells_a_combination_of_its_labels_and_no_label():
    rng = np.random.default_rng(3)
    A = np.column_stack([rng.normal(size=(30, 2)), np.arange(30) < 10])
    told = knowledge(A.T)
    assert not told.singles.any()
    assert len(told.own(range(10))) == 1
    np.testing.assert_allclose(np.abs(told.own(range(10))[0]), np.full(10, 10**-0.5), atol=1e-9)
    assert len(told.own(range(10, 20))) == 0


@given(told=st.integers(0, 6), unknowns=st.integers(1, 7), inner=st.integers(0, 6), seed=st.integers(0, 2**32 - 1))
def test_the_row_space_and_the_kernel_say_the_same(told, unknowns, inner, seed):
    rng = np.random.default_rng(seed)
    J = rng.integers(-2, 3, size=(told, inner)) @ rng.integers(-2, 3, size=(inner, unknowns))
    found = knowledge(J)
    assert found.rank == np.linalg.matrix_rank(J) if J.any() else found.rank == 0
    free = kernel(J) if J.any() else np.eye(unknowns)
    assert found.singles.tolist() == (np.abs(free).max(axis=0, initial=0.0) < 1e-6).tolist()
    block = rng.choice(unknowns, size=int(rng.integers(1, unknowns + 1)), replace=False)
    rest = np.setdiff1d(np.arange(unknowns), block)
    outside = np.linalg.matrix_rank(J[:, rest]) if J[:, rest].any() else 0
    assert len(found.own(block)) == found.rank - outside
    np.testing.assert_allclose(free[:, block] @ found.own(block).T, 0, atol=1e-7)
    known = found.given(block)
    np.testing.assert_allclose(found.leverage_given(block), known.leverage, atol=1e-7)
    assert known.rank == len(block) + outside
    assert known.determines(block)


def test_the_order_of_the_told_numbers_and_their_units_do_not_matter():
    rng = np.random.default_rng(5)
    J = rng.normal(size=(4, 6))
    first, second = knowledge(J), knowledge(np.diag([1e-9, 1, 1e6, 1e12]) @ J[::-1])
    np.testing.assert_allclose(first.space.T @ first.space, second.space.T @ second.space, atol=1e-9)


def test_what_is_below_the_precision_of_the_told_numbers_is_not_told():
    J = [[1.0, 1.0], [1.0, 1.0 + 1e-5]]
    assert knowledge(J, precision=1e-3).rank == 1
    assert knowledge(J, precision=1e-7).rank == 2


@pytest.mark.parametrize("rows", [[1.0, 2.0], [[np.nan]], [[[1.0]]]])
def test_what_is_no_matrix_of_numbers_is_refused(rows):
    with pytest.raises(InputError, match="finite numbers"):
        knowledge(rows)


def test_a_precision_that_leaves_nothing_is_refused():
    with pytest.raises(InputError, match="below 1"):
        knowledge([[1.0]], precision=1.0)
