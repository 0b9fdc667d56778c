"""Three ways for the ends of a link to know its masks: the same law, the same optimum, fewer messages."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import MaskError, ProtocolError
from tacit.masks import AffineMasks, Keystream, Keystreams, QuadraticMasks, SumMasks, agent_keys, draw, pair
from tacit.masks.pairing import WAYS, Seeds
from tacit.network import Network
from tacit.runtimes.stacked import Stacked
from tacit.solving.solve import NotPrivateWarning

GRAPHS = {"ring": nx.cycle_graph(5), "star": nx.star_graph(4), "petersen": nx.petersen_graph()}


def net(way, network, m, *, seed=1, sigma=3.0):
    lattice = AffineMasks(sigma).lattice(agents=len(network), links=len(network.links))
    source, peers = Keystreams(agent_keys(len(network), seed=seed), network.degrees), Stacked(network)
    went, came = pair(way, source, peers).terms(lambda s: draw(s, (peers.links, m), lattice))
    return peers.total(came - went), peers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_masks_cancel_to_the_last_bit(way, graph):
    a, _ = net(way, Network(GRAPHS[graph]), 50)
    assert (a.sum(axis=0) == 0.0).all()
    assert (a != 0.0).all()


@pytest.mark.parametrize("way", WAYS)
def test_masks_have_the_covariance_of_the_paper_in_every_way(way):
    """Cov a = 2σ²L, whoever draws."""
    network, sigma, samples = Network(GRAPHS["petersen"]), 3.0, 60_000
    a, _ = net(way, network, samples, sigma=sigma)
    laplacian = np.diag(network.degrees) - network.adjacency.toarray()
    np.testing.assert_allclose(
        a @ a.T / samples, 2 * sigma**2 * laplacian, atol=6 * sigma**2 * 6 / np.sqrt(samples)
    )


def test_one_side_sends_half_the_messages_and_seeds_send_none_of_the_masks():
    network, m = Network(GRAPHS["petersen"]), 1000
    said = {way: net(way, network, m)[1].traffic for way in WAYS}
    assert said["one-sided"].messages * 2 == said["both"].messages
    assert said["one-sided"].bytes * 2 == said["both"].bytes
    assert said["seeds"].bytes == 32 * 2 * len(network.links)


@pytest.mark.parametrize("way", ["one-sided", "seeds"])
@pytest.mark.parametrize("kind", ["affine", "quadratic", "sums", "two words"])
def test_agents_apart_and_together_agree_in_every_way(way, kind):
    masks = {
        "affine": (AffineMasks(10.0, seed=3, pairing=way), "nids"),
        "quadratic": (QuadraticMasks(1.0, seed=3, pairing=way), "direct"),
        "sums": (SumMasks(seed=3, pairing=way), "newton"),
        "two words": (SumMasks(2.0**60, words=2, seed=3, pairing=way), "newton"),
    }[kind]
    rng = np.random.default_rng(0)
    costs = [tacit.LeastSquares(rng.standard_normal((6, 3)), rng.standard_normal(6), l2=0.5) for _ in range(5)]
    if kind == "quadratic":
        costs = [tacit.Quadratic(np.diag(rng.uniform(1, 2, 3)), rng.standard_normal(3)) for _ in range(5)]
    problem = tacit.Problem(GRAPHS["ring"], costs)
    plain = tacit.solve(problem, algorithm="newton" if kind != "affine" else "nids")
    with pytest.warns(NotPrivateWarning):
        together, apart = (
            tacit.solve(problem, privacy=masks[0], algorithm=masks[1], runtime=runtime)
            for runtime in ("stacked", "agents")
        )
    np.testing.assert_allclose(apart.x, together.x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(apart.x, plain.x, rtol=0, atol=1e-7)
    assert apart.record.phase1.pairing == way
    certificate = apart.certificate(any=1)
    assert certificate.computational == (way == "seeds")
    said = replace(certificate, stamps=()).statement()
    assert ("computational" in said) == (way == "seeds")


def test_two_ends_of_one_link_draw_the_same_and_no_two_links_do():
    """Of six links, every stream is drawn by two ends, and no stream twice by the same."""
    network = Network(nx.complete_graph(4))
    peers = Stacked(network)
    seeds = Seeds(Keystreams(agent_keys(4, seed=5), network.degrees), peers)
    went, came = seeds.terms(lambda s: s.words(peers.links * 4).reshape(peers.links, 4))
    np.testing.assert_array_equal(peers.swap(went), came)
    assert len(np.unique(went, axis=0)) == peers.links


def test_seeds_never_say_the_same_twice_and_go_back_with_their_source():
    """A restart goes on in every link's stream where it was, and not from its start: masks are never used twice."""

    class Mirror:
        """One link to an agent that answers with a key of its own."""

        links, first = 1, np.array([True])
        key = Keystream(bytes(range(32)))

        def swap(self, r, *, more=False, known=None):
            if known is not None:
                return known
            theirs = self.key.__class__(bytes(range(32))).words(4)[None]
            return np.where(r >= 0, theirs, theirs)

    def sample(source):
        return source.words(8)

    source = Keystream(bytes(32))
    seeds = Seeds(source, Mirror())
    first, _ = seeds.terms(sample)
    at = source.positions
    second, _ = seeds.terms(sample)
    assert not (first == second).any()
    again = Keystream(bytes(32))
    restarted = Seeds(again, Mirror())
    again.seek(at)
    np.testing.assert_array_equal(restarted.terms(sample)[0], second)


def test_a_public_key_of_small_order_is_refused():
    """It would make the shared secret known to everybody."""

    class Evil:
        links, first = 1, np.array([True])

        def swap(self, r):
            return np.zeros_like(r)

    with pytest.raises(ProtocolError, match="public key"):
        Seeds(Keystream(bytes(32)), Evil())


def test_a_way_that_does_not_exist_is_refused_where_it_is_written():
    for make in (lambda: AffineMasks(1.0, pairing="none"), lambda: SumMasks(pairing="seed")):
        with pytest.raises(MaskError, match="one of both, one-sided, seeds"):
            make()


class Recording(Stacked):
    """Peers that keep the masked words, and pass on a total of somebody's choosing."""

    def __init__(self, network, lie):
        super().__init__(network)
        self.words, self._lie = [], lie

    def sum(self, v, add=np.add):
        self.words.append(v.copy())
        total = super().sum(v, add)
        total[0] += np.uint64(self._lie if len(self.words) == 1 else 0)
        return total


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_a_restored_agent_never_hides_two_numbers_behind_one_mask(way, words):
    """All agents go on from a copy of their keys, are told another total, and have other numbers to add up."""
    network, masks = Network(GRAPHS["petersen"]), SumMasks(words=words, pairing=way)
    ring = masks.fixed_point(agents=len(network)).ring

    def second_words(lie, v):
        peers = Recording(network, lie)
        secret = masks.hide(
            None, peers, Keystreams(agent_keys(len(network), seed=2), network.degrees), network=network
        )
        secret.peers.sum(np.ones((len(network), 3)))
        assert secret.peers.sum(v).tolist() == v.sum(axis=0).tolist()
        return peers.words[1]

    v = np.arange(3.0 * len(network)).reshape(-1, 3)
    encoded = masks.fixed_point(agents=len(network)).encode
    once, again, other = second_words(0, v), second_words(0, v), second_words(1, v + 1.0)
    np.testing.assert_array_equal(once, again)
    known = ring.add(once[:, : 3 * words], encoded(np.ones_like(v)))
    assert not (known == other[:, : 3 * words]).all(axis=1).any(), "their difference is an agent's own"
