"""Fixed point and words: integers modulo 2⁶⁴ and 2¹²⁸, checked against Python's own."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import MaskError
from tacit.masks import FixedPoint
from tacit.masks.fixed_point import OneWord, TwoWords
from tacit.network import Network
from tacit.runtimes import Stacked

WIDE = st.integers(0, 2**128 - 1)


def pairs(numbers):
    return np.array([part for k in numbers for part in (k % 2**64, k >> 64)], dtype=np.uint64)


def whole(words):
    return [int(low) + (int(high) << 64) for low, high in zip(words[0::2], words[1::2], strict=True)]


@given(st.lists(st.tuples(WIDE, WIDE), min_size=1, max_size=5))
def test_two_words_add_modulo_2_to_the_128(numbers):
    a, b = zip(*numbers, strict=True)
    assert whole(TwoWords.add(pairs(a), pairs(b))) == [(x + y) % 2**128 for x, y in numbers]


@given(st.lists(WIDE, min_size=8, max_size=8), st.sampled_from(["cycle", "star", "path"]))
def test_two_words_mask_as_integers_do(numbers, kind):
    """a_i = Σ_j (r_ji − r_ij) modulo 2¹²⁸, link by link with Python's integers."""
    graph = {"cycle": nx.cycle_graph(4), "star": nx.star_graph(4), "path": nx.path_graph(5)}[kind]
    network = Network(graph)
    r = pairs(numbers).reshape(8, 2)
    a = [whole(row)[0] for row in TwoWords.net(r, Stacked(network).swap(r), Stacked(network))]
    rows = [(i, int(j)) for i in range(len(network)) for j in network.neighbours(i)]
    value = dict(zip(rows, numbers, strict=True))
    assert a == [sum(value[j, i] - value[i, j] for k, j in rows if k == i) % 2**128 for i in range(len(network))]
    assert sum(a) % 2**128 == 0


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.sampled_from([1, 2]),
    st.floats(1e6, 1e12),
)
def test_a_sum_is_off_by_at_most_n_halves_of_a_step(numbers, words, bound):
    from fractions import Fraction

    v = np.array(numbers)[:, None]
    fixed = FixedPoint.fit(bound=bound, agents=len(v), words=words)
    total = fixed.encode(v[0])
    for row in v[1:]:
        total = fixed.ring.add(total, fixed.encode(row))
    exact = sum(Fraction(x) for x in numbers)
    found = Fraction(float(fixed.decode(total)[0]))
    ulp = Fraction(float(np.spacing(abs(float(found)))))  # of the answer as a float64
    assert abs(found - exact) <= Fraction(fixed.error) + ulp


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("agents", [2, 3, 20, 1000, 4096])
def test_everybody_at_the_bound_does_not_wrap_round(words, agents):
    for bound in (1.0, 3.7, 2.0**20, 1e12):
        fixed = FixedPoint.fit(bound=bound, agents=agents, words=words)
        one = fixed.encode(np.array([bound, -bound]))
        total = one
        for _ in range(agents - 1):
            total = fixed.ring.add(total, one)
        np.testing.assert_allclose(fixed.decode(total), [agents * bound, -agents * bound], rtol=1e-12)


def test_the_step_follows_from_the_bound_and_the_agents_alone():
    fixed = FixedPoint.fit(bound=2.0**20, agents=20, words=1)
    assert fixed.step == 2.0**-37
    assert fixed.error == 20 * 2.0**-38
    assert FixedPoint.fit(bound=2.0**20, agents=20, words=2).step == 2.0**-101


@pytest.mark.parametrize("bound", [0.0, -1.0, float("inf"), float("nan")])
def test_an_impossible_bound_is_refused(bound):
    with pytest.raises(MaskError, match="bound"):
        FixedPoint.fit(bound=bound, agents=3, words=1)
    with pytest.raises(MaskError, match="words"):
        FixedPoint.fit(bound=1.0, agents=3, words=3)


def test_words_come_back_as_they_went_in():
    values = np.array([0.0, 1.0, -1.0, 0.5, -(2.0**19), 123456.789])
    for words, tolerance in ((1, 2.0**-40), (2, 0.0)):
        fixed = FixedPoint.fit(bound=2.0**20, agents=2, words=words)
        np.testing.assert_allclose(fixed.decode(fixed.encode(values)), values, rtol=0, atol=tolerance)
    assert OneWord.decode(OneWord.encode(np.array([-3.0])))[0] == -3.0
