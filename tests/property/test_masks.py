"""Masks: exact cancellation, the lattice, the distribution, the source."""

import copy
import hashlib
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.errors import MaskError
from tacit.masks import AffineMasks, Keystream, Keystreams, Lattice, agent_keys, draw, mask, randomness
from tacit.network import Network
from tacit.runtimes import Stacked


def masks_of(network, sigma, m, *, seed=1, bound=None):
    lattice = AffineMasks(sigma, bound=bound).lattice(agents=len(network), links=len(network.links))
    source = Keystreams(agent_keys(len(network), seed=seed), network.degrees)
    return mask(draw(source, (2 * len(network.links), m), lattice), Stacked(network)), lattice


@given(
    exponent=st.floats(-3, 9),
    n=st.integers(5, 60),
    m=st.integers(1, 5),
    seed=st.integers(0, 2**32),
)
def test_masks_cancel_bit_for_bit_in_any_order(exponent, n, m, seed):
    network = Network(nx.random_regular_graph(4, n, seed=seed % 1000))
    a, _ = masks_of(network, 10.0**exponent, m, seed=seed)
    rng = np.random.default_rng(seed)
    for order in (np.arange(n), rng.permutation(n), np.argsort(a[:, 0]), np.argsort(-np.abs(a[:, 0]))):
        total = np.zeros(m)
        for row in a[order]:
            total = total + row
        assert (total == 0).all()


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("graph", ["regular", "star", "complete"])
def test_a_thousand_agents_cancel_in_the_worst_order(sigma, graph):
    """All positive masks first: the largest partial sum that any order can have."""
    n = 1000 if graph != "complete" else 100
    build = {
        "regular": lambda: nx.random_regular_graph(4, n, seed=1),
        "star": lambda: nx.star_graph(n - 1),
        "complete": lambda: nx.complete_graph(n),
    }
    network = Network(build[graph]())
    a, lattice = masks_of(network, sigma, 3)
    for column in a.T:
        ascending = np.sort(column)
        assert np.add.accumulate(ascending[::-1])[-1] == 0
        assert np.add.accumulate(ascending)[-1] == 0
        assert np.cumsum(column)[-1] == 0
    np.testing.assert_array_equal(np.rint(a / lattice.step) * lattice.step, a)


@given(sigma=st.floats(1e-6, 1e12), agents=st.integers(2, 10_000), extra=st.integers(0, 50_000))
def test_the_step_follows_from_public_numbers_alone(sigma, agents, extra):
    """Fit takes no private value, and either gives a lattice fine enough for σ or says what to change."""
    try:
        lattice = AffineMasks(sigma).lattice(agents=agents, links=agents - 1 + extra)
    except MaskError:
        with pytest.raises(MaskError, match="a public bound of at most|a sigma of at most"):
            AffineMasks(sigma).lattice(agents=agents, links=agents - 1 + extra)
        return
    assert 12 <= lattice.bits <= 47
    assert lattice.step == 2.0**lattice.exponent
    assert agents * lattice.bound <= 2.0**53 * lattice.step


def test_rounding_is_to_the_nearest_point():
    lattice = Lattice.fit(1.0, bound=100.0, agents=4, links=4)
    values = np.random.default_rng(0).uniform(-100, 100, 1000)
    rounded = lattice.round(values)
    assert np.abs(rounded - values).max() <= lattice.step / 2
    np.testing.assert_array_equal(lattice.round(rounded), rounded)


def test_overflow_raises_with_the_remedy_and_without_the_value():
    lattice = Lattice.fit(1.0, bound=100.0, agents=4, links=4)
    with pytest.raises(MaskError, match="larger bound") as caught:
        lattice.round(np.array([3.0, 123.456]))
    assert "123.456" not in str(caught.value)
    with pytest.raises(MaskError):
        lattice.round(np.array([np.nan]))


def test_sigma_beside_a_huge_bound_is_refused_with_what_would_do():
    with pytest.raises(MaskError, match="too small beside") as caught:
        AffineMasks(1e-9, bound=1e9)
    least = float(str(caught.value).split("at least ")[1].split(",")[0])
    AffineMasks(least, bound=1e9)


def test_one_mask_is_gaussian():
    """Kolmogorov–Smirnov on 200 000 numbers, and the tails where rounding would show."""
    lattice = AffineMasks(5.0).lattice(agents=10, links=20)
    r = draw(Keystream(bytes(range(32))), (200_000,), lattice)
    assert stats.kstest(r / 5.0, "norm").pvalue > 1e-3
    assert abs(np.mean((r / 5.0) ** 4) - 3.0) < 0.05
    assert np.abs(r / 5.0).max() < 6.5


def test_low_order_bits_of_a_mask_are_uniform():
    """The lowest sixteen bits, one by one and all together; `rint(z·2⁴⁶)` would fail in the tails."""
    lattice = AffineMasks(1.0, bound=1.0).lattice(agents=3, links=3)
    assert lattice.bits == 46
    units = np.rint(draw(Keystream(bytes(32)), (1 << 18,), lattice) / lattice.step).astype(np.int64)
    for bit in range(16):
        ones = int(((units >> bit) & 1).sum())
        assert abs(ones - units.size / 2) < 5 * np.sqrt(units.size) / 2, f"bit {bit} is biased"
    assert stats.chisquare(np.bincount(units & 0xFF, minlength=256)).pvalue > 1e-4
    far = np.abs(units) > 3 * 2**46
    assert abs(int((units[far] & 1).sum()) - far.sum() / 2) < 5 * np.sqrt(far.sum()) / 2


def test_agents_draw_the_same_apart_and_together():
    network = Network(nx.star_graph(4))
    lattice = AffineMasks(2.0).lattice(agents=5, links=4)
    keys = agent_keys(5, seed=9)
    together = draw(Keystreams(keys, network.degrees), (8, 3), lattice)
    apart = [draw(Keystream(key), (int(d), 3), lattice) for key, d in zip(keys, network.degrees, strict=True)]
    np.testing.assert_array_equal(together, np.concatenate(apart))


def test_keys_are_fresh_unless_seeded():
    assert agent_keys(3) != agent_keys(3)
    assert agent_keys(3, seed=4) == agent_keys(3, seed=4)
    assert agent_keys(3, seed=4) != agent_keys(3, seed=5)
    assert len(set(agent_keys(100, seed=4))) == 100


def test_a_stream_never_repeats_itself():
    stream = Keystream(bytes(32))
    words = np.concatenate([stream.words(1000), stream.words(1000)])
    assert len(np.unique(words)) == 2000


def test_keystream_is_aes_256_in_counter_mode():
    """NIST SP 800-38A has no zero nonce; this is AES-256 of counter 0 and 1 under the zero key."""
    assert Keystream(bytes(32)).read(32).hex() == (
        "dc95c078a2408989ad48a21492842087530f8afbc74536b9a963b4f1c4cb738b"
    )


def test_a_keystream_cannot_be_copied_or_shown():
    stream = Keystream(b"\x01" * 32)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="secret"):
            attempt(stream)
    assert "01" not in repr(stream)
    with pytest.raises(MaskError, match="32 bytes"):
        Keystream(b"short")


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan"), float("inf"), True, "1"])
def test_impossible_sigmas_are_refused(sigma):
    with pytest.raises(MaskError, match="sigma"):
        AffineMasks(sigma)


def test_totals_that_lead_to_one_digest_lead_to_different_masks_without_the_key(monkeypatch):
    """A liar chooses totals, and can look for two whose public digests begin alike; here two bytes stand for twelve."""
    monkeypatch.setattr(randomness, "_PLACE", 2)
    places: dict[bytes, bytes] = {}
    for k in range(1 << 16):
        total = k.to_bytes(8)
        other = places.setdefault(hashlib.sha256(bytes(32) + total).digest()[:2], total)
        if other != total:
            break
    streams = [Keystream(bytes(range(32))) for _ in range(2)]
    for stream, each in zip(streams, (total, other), strict=True):
        stream.turn(each)
    assert (streams[0].words(4) != streams[1].words(4)).all()


def test_a_stream_that_goes_back_behind_a_turn_reads_on_as_before():
    stream, again = Keystream(bytes(range(32))), Keystream(bytes(range(32)))
    stream.turn(b"a total")
    stream.words(3)
    again.seek(stream.positions)
    assert (stream.words(5) == again.words(5)).all()
