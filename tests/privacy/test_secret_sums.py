"""Secret sums: what a coalition sees depends on the sums over the honest components, and on nothing else.

Exactly, not by sampling: with a small modulus all masks can be enumerated, and the distribution of the view counted.
"""

from collections import Counter
from itertools import product

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import ProtectionError, RangeError
from tacit.masks import Keystreams, SecretSums, SumMasks, agent_keys, pair
from tacit.masks.sums import masked
from tacit.network import Network
from tacit.runtimes import RUNTIMES, Stacked
from tacit.typing import Summand


class Modulo:
    """Integers modulo a small q, in the place of 2⁶⁴."""

    words = 1

    def __init__(self, q):
        self.q = np.uint64(q)

    def add(self, a, b):
        return (a + b) % self.q

    def net(self, went, came, peers):
        return peers.total(came + (self.q - went)) % self.q


class Enumerated:
    """A source that goes through all masks there are, one column each."""

    def __init__(self, r):
        self.r, self.start = r, 0

    def words(self, count):
        width = count // len(self.r)
        piece = self.r[:, self.start : self.start + width]
        self.start += width
        return piece.ravel()


def view_distribution(network, q, coalition, secrets):
    """Count the views: the coalition's masks, sent and received, and everybody's masked words."""
    links = 2 * len(network.links)
    r = np.array(list(product(range(q), repeat=links)), dtype=np.uint64).T
    words = np.tile(np.array(secrets, dtype=np.uint64)[:, None], (1, r.shape[1]))
    published = masked(words, pair("both", Enumerated(r), Stacked(network)), Stacked(network), Modulo(q))
    rows = [(i, int(j)) for i in range(len(network)) for j in network.neighbours(i)]
    seen = [k for k, (i, j) in enumerate(rows) if i in coalition or j in coalition]
    return Counter(map(tuple, np.concatenate([r[seen], published]).T.tolist()))


CASES = {
    "triangle, one corrupted": (nx.complete_graph(3), 4, {2}),
    "triangle, nobody": (nx.complete_graph(3), 4, set()),
    "square, one corrupted": (nx.cycle_graph(4), 3, {0}),
    "square, cut": (nx.cycle_graph(4), 3, {0, 2}),
    "path, cut in the middle": (nx.path_graph(4), 4, {1}),
    "star, centre corrupted": (nx.star_graph(3), 4, {0}),
    "star, leaf corrupted": (nx.star_graph(3), 4, {3}),
    "complete, two corrupted": (nx.complete_graph(4), 2, {0, 3}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_view_depends_only_on_the_sums_of_the_honest_components(case):
    graph, q, coalition = CASES[case]
    network = Network(graph)
    components = [set(c) for c in nx.connected_components(graph.subgraph(set(graph) - coalition))]
    fixed = 1 % q  # what the coalition itself adds: the same in all worlds
    worlds = {}
    for honest in product(range(q), repeat=len(graph) - len(coalition)):
        values = iter(honest)
        secrets = [fixed if agent in coalition else next(values) for agent in graph]
        sums = tuple(sum(secrets[agent] for agent in component) % q for component in components)
        distribution = view_distribution(network, q, coalition, secrets)
        if sums in worlds:
            assert distribution == worlds[sums], "two worlds of the same sums look different"
        worlds[sums] = distribution
    assert len(worlds) == q ** len(components)
    everything = list(worlds.values())
    for k, one in enumerate(everything):
        for other in everything[k + 1 :]:
            assert not one.keys() & other.keys(), "worlds of different sums must differ: the test sees something"


@pytest.mark.parametrize("case", ["triangle, one corrupted", "square, one corrupted"])
def test_views_are_uniform_where_the_honest_graph_is_connected(case):
    """Every view that fits the sum is equally likely: nothing to weigh."""
    graph, q, coalition = CASES[case]
    secrets = [k % q for k in range(len(graph))]
    distribution = view_distribution(Network(graph), q, coalition, secrets)
    assert len(set(distribution.values())) == 1


class Spy:
    """Peers that remember every word that travelled in a sum."""

    def __init__(self, peers):
        self.peers, self.words = peers, []
        self.degree, self.links, self.first = peers.degree, peers.links, peers.first

    def sum(self, v, add=np.add):
        self.words.append(v.copy())
        return self.peers.sum(v, add)

    def __getattr__(self, name):
        return getattr(self.peers, name)


def secret_sums(graph, *, words=1, bound=2.0**20, seed=1):
    network = Network(graph)
    spy = Spy(Stacked(network))
    source = Keystreams(agent_keys(len(network), seed=seed), network.degrees)
    fixed = SumMasks(bound=bound, words=words).fixed_point(agents=len(network))
    return SecretSums(spy, source, fixed), spy, fixed


@pytest.mark.parametrize("words", [1, 2])
def test_the_same_numbers_travel_under_fresh_masks_every_time(words):
    """Neither repeated nor shifted: the difference of two sums of the same numbers is not zero anywhere."""
    peers, spy, _ = secret_sums(nx.cycle_graph(5), words=words)
    v = np.random.default_rng(0).standard_normal((5, 40))
    first, second = peers.sum(v), peers.sum(v)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, v.sum(axis=0), atol=1e-9)
    one, other = spy.words
    assert not (one == other).any()


def test_a_mask_used_twice_would_give_the_difference_away():
    """Why it is not: the control that this test can see a reuse."""
    network = Network(nx.cycle_graph(4))
    fixed, peers = SumMasks().fixed_point(agents=4), Stacked(network)
    v, w = np.random.default_rng(0).standard_normal((2, 4, 3))
    seen = [
        masked(fixed.encode(x), pair("both", source, peers), peers, fixed.ring)
        for x in (v, w)
        for source in [Keystreams(agent_keys(4, seed=7), network.degrees)]
    ]
    np.testing.assert_allclose(fixed.decode(seen[0] - seen[1]), v - w, atol=2 * fixed.step)
    other = pair("both", Keystreams(agent_keys(4), network.degrees), peers)
    fresh = masked(fixed.encode(w), other, peers, fixed.ring)
    assert np.abs(fixed.decode(seen[0] - fresh) - (v - w)).min() > 1e-3


def test_masked_words_are_uniform_to_the_last_bit():
    """High bytes and low bytes of what a leaf sends, for a number that is almost zero and one at the bound."""
    from scipy import stats

    for value in (0.0, 2.0**20):
        peers, spy, _ = secret_sums(nx.path_graph(3), seed=5)
        peers.sum(np.full((3, 40_000), value))
        words = spy.words[0][2, :-1]
        for byte in (0, 3, 7):
            counts = np.bincount(((words >> np.uint64(8 * byte)) & np.uint64(255)).astype(int), minlength=256)
            assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("bad", [2.0**21, -(2.0**21), np.inf, np.nan])
def test_a_number_beyond_the_bound_is_complained_of_without_a_name_or_a_value(bad):
    peers, _, _ = secret_sums(nx.cycle_graph(4))
    v = np.ones((4, 3))
    v[2, 1] = bad
    with pytest.raises(RangeError, match=r"1 agent\(s\) hold a number beyond the public bound") as caught:
        peers.sum(v)
    assert "2097152" not in str(caught.value)
    np.testing.assert_allclose(peers.sum(np.ones((4, 3))), 4.0)  # and the next sum works


@pytest.mark.parametrize("words", [1, 2])
def test_a_sum_with_a_complaint_is_noise_to_everybody(words):
    """With zeros it would be the sum of the others, and a second attempt would tell what was missing."""
    peers, spy, fixed = secret_sums(nx.cycle_graph(6), words=words, bound=10.0)
    v = np.tile(np.array([0.0, 1.0, 2.0, 50.0, 4.0, 5.0])[:, None], (1, 200))
    with pytest.raises(RangeError):
        peers.sum(v)
    seen = fixed.decode(spy.peers.sum(spy.words[-1], add=fixed.ring.add))
    assert seen[-1] == fixed.step  # one complaint
    assert not np.isclose(seen[:-1], 12.0, atol=1e-3).any()
    assert np.abs(seen[:-1]).max() > 10 * np.abs(seen[:-1]).min()  # all over the range


def test_two_words_carry_what_one_does_not():
    v = np.array([[1e15, 1e-7], [-1e15, 1e-7], [1.0, 1e-7]])
    wide, _, fine = secret_sums(nx.complete_graph(3), words=2, bound=1e16)
    np.testing.assert_allclose(wide.sum(v), [1.0, 3e-7], rtol=1e-12)
    narrow, _, coarse = secret_sums(nx.complete_graph(3), words=1, bound=1e16)
    assert np.abs(narrow.sum(v) - [1.0, 3e-7]).max() > 1e-7
    assert coarse.error > 1e-3 > 1e-15 > fine.error


@pytest.mark.parametrize("verb", ["mix", "gather", "swap", "total"])
def test_nothing_but_a_sum_gets_through(verb):
    peers, _, _ = secret_sums(nx.cycle_graph(4))
    with pytest.raises(ProtectionError, match="as it is"):
        getattr(peers, verb)(np.ones((4, 3)))
    assert "Secret" in repr(peers)
    with pytest.raises(ProtectionError, match="do not cancel"):
        peers.sum(np.ones((4, 3)), add=np.maximum)


def test_an_algorithm_that_says_it_sums_and_gossips_is_stopped():
    """The table is checked before a run, and the peers themselves refuse during it."""

    class Liar(tacit.algorithms.NIDS):
        sums = (Summand.GRADIENTS,)

        def init(self, x, cost):
            return super().init(np.tile(x, (4, 1)), cost)

    problem = tacit.Problem(nx.cycle_graph(4), [tacit.Quadratic.distance([float(k)]) for k in range(4)])
    with pytest.raises(ProtectionError, match="peers.mix"):
        tacit.solve(problem, privacy=SumMasks(), algorithm=Liar(step_size=0.1))


@pytest.mark.parametrize(
    "runtime",
    [
        pytest.param(name, marks=pytest.mark.ray if name == "ray" else ())
        for name in RUNTIMES
        if not name.startswith("jax")  # which takes no sums
    ],
)
def test_a_private_number_out_of_range_stops_all_agents_alike(runtime):
    costs = [tacit.Quadratic.distance([float(k)]) for k in range(5)]
    costs[3] = tacit.Quadratic([[2.0]], [-4.8611173e9])
    problem = tacit.Problem(nx.cycle_graph(5), costs)
    with pytest.raises(RangeError, match=r"1 agent\(s\)") as caught:
        tacit.solve(problem, privacy=SumMasks(), runtime=runtime)
    assert "48611173" not in str(caught.value).replace(".", "")
    answer = tacit.solve(problem, privacy=SumMasks(bound=1e10), runtime=runtime)
    np.testing.assert_allclose(answer.x, [(2 * (0 + 1 + 2 + 4) + 4.8611173e9) / 10], rtol=1e-12)
