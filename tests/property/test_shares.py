"""Shares: the discrete Gaussian exactly, from the cryptographic source, and tied to the numbers that they hide."""

import math
from fractions import Fraction
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from tacit.errors import TacitError
from tacit.masks import shares
from tacit.masks.randomness import Keystream
from tacit.masks.shares import ShareKeys, _settled, discrete_gaussian


def exact(deviation):
    """Return all k that matter, and their probabilities."""
    k = np.arange(-12 * deviation, 12 * deviation + 1)
    weight = np.exp(-(k.astype(float) ** 2) / (2.0 * deviation**2))
    return k, weight / weight.sum()


@pytest.mark.parametrize("deviation", [1, 2, 3, 5, 8, 20])
@pytest.mark.parametrize("unsure", [2.0**-36, 1e-2])
def test_draws_have_exactly_the_discrete_gaussian_law(deviation, unsure):
    """Chi-squared over all cells, with the usual margin and with one that sends many draws to exact arithmetic."""
    count = 200_000 if unsure < 1e-9 else 20_000
    with patch.object(shares, "_UNSURE", unsure):
        drawn = discrete_gaussian(Keystream(bytes([deviation]) * 32), count, deviation)
    k, p = exact(deviation)
    expected = count * p
    seen = np.bincount(drawn - k[0], minlength=len(k))
    often = expected >= 5.0
    statistic = ((seen - expected)[often] ** 2 / expected[often]).sum()
    statistic += (seen[~often].sum() - expected[~often].sum()) ** 2 / expected[~often].sum()
    assert chi2.sf(statistic, often.sum()) > 1e-4


@pytest.mark.parametrize("deviation", [2**20, 3 * 2**40 + 1, 2**52])
def test_wide_draws_are_gaussian_to_the_last_bit_and_as_far_out_as_they_should_be(deviation):
    drawn = discrete_gaussian(Keystream(b"w" * 32), 400_000, deviation)
    assert drawn.std() / deviation == pytest.approx(1.0, abs=6.0 / math.sqrt(2 * 400_000))
    assert abs(drawn.mean()) / deviation < 6.0 / math.sqrt(400_000)
    for bit in range(3):  # the lowest bits are fair coins
        ones = int(((drawn >> bit) & 1).sum())
        assert abs(ones - 200_000) < 6.0 * math.sqrt(100_000)
    beyond = int((np.abs(drawn) > 4 * deviation).sum())
    assert abs(beyond - 25.3) < 6.0 * math.sqrt(25.3)


@given(st.integers(0, 2**64 - 1), st.fractions(0, 30))
def test_exact_arithmetic_decides_as_many_digits_do(word, gamma):
    class Bits:
        def words(self, count):
            return np.full(count, 2**63, dtype=np.uint64)

    with mpmath.workdps(80):
        chance = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)
        assert _settled(Bits(), word, gamma) == bool(mpmath.mpf(word) / 2**64 + mpmath.mpf(2) ** -65 < chance)


def test_a_number_next_to_its_limit_is_settled_by_further_bits():
    with mpmath.workdps(60):
        first = int(mpmath.floor(mpmath.exp(-1) * 2**64))
        rest = int(mpmath.floor((mpmath.exp(-1) * 2**64 - first) * 2**64))

    class Bits:
        def __init__(self, word):
            self.word = word

        def words(self, count):
            return np.full(count, self.word, dtype=np.uint64)

    assert _settled(Bits(rest - 1), first, Fraction(1))
    assert not _settled(Bits(rest + 1), first, Fraction(1))


def test_the_same_numbers_have_the_same_share_and_others_another():
    keys, other = ShareKeys([b"k" * 32]), ShareKeys([b"l" * 32])
    numbers = np.arange(6, dtype=np.uint64)
    share = keys.draw(b"sum 1", numbers, 2**30)
    changed = numbers.copy()
    changed[3] += 1
    assert (keys.draw(b"sum 1", numbers, 2**30) == share).all()
    for another in (
        keys.draw(b"sum 2", numbers, 2**30),
        keys.draw(b"sum 1", changed, 2**30),
        other.draw(b"sum 1", numbers, 2**30),
    ):
        assert not (another == share).any()


def test_shares_show_no_secret_and_refuse_what_cannot_be_drawn():
    assert repr(ShareKeys([b"k" * 32])) == "ShareKeys(…)"
    with pytest.raises(TacitError, match="steps"):
        discrete_gaussian(Keystream(b"k" * 32), 1, 0)
