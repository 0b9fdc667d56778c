"""Agents in blocks, without Ray: which agents share one, what a block knows, and what waits for it."""

import sys

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.network import mixing_weights
from tacit.runtimes import Cluster, Stacked
from tacit.runtimes.ray.mail import Interrupted, Mailbox
from tacit.runtimes.ray.partition import cut_size, partitioned
from tacit.runtimes.ray.share import Products, shares_of
from tacit.solving import load_problem, overridden, write_example

GRAPHS = [nx.random_regular_graph(4, 30, seed=1), nx.random_regular_graph(6, 90, seed=1), nx.star_graph(70)]


@pytest.mark.parametrize("metis", [True, False])
def test_a_partition_cuts_few_links_and_leaves_no_block_empty(metis, monkeypatch):
    """A torus whose agents are shuffled: by their order nearly all links would be cut."""
    if not metis:
        monkeypatch.setitem(sys.modules, "pymetis", None)
    graph = nx.grid_2d_graph(20, 20, periodic=True)
    names = list(graph)
    np.random.default_rng(0).shuffle(names)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(map(tuple, names))
    shuffled.add_edges_from(graph.edges)
    network = tacit.Network(shuffled)
    homes = partitioned(network, 4)
    assert sorted(set(homes.tolist())) == [0, 1, 2, 3]
    assert np.bincount(homes).max() <= 1.1 * 100
    assert cut_size(network, np.arange(400) * 4 // 400) > 500
    assert cut_size(network, homes) <= 200


@pytest.mark.parametrize("graph", GRAPHS)
def test_blocks_mix_and_gather_to_the_bits_of_all_agents_at_once(graph):
    network = tacit.Network(graph)
    together, x = Stacked(network, "lazy"), np.random.default_rng(1).standard_normal((len(network), 3))
    for share in shares_of(network, partitioned(network, 3), "lazy"):
        halo = [share.halo_of(block) for block in share.nearby]
        known, products = x[np.concatenate([share.agents, *halo])], Products(share)
        np.testing.assert_array_equal(products.mixed(known), together.mix(x)[share.agents])
        np.testing.assert_array_equal(products.gathered(known), together.gather(x)[share.agents])
    assert mixing_weights(network, "lazy").shape == (len(network),) * 2


@pytest.mark.parametrize("graph", GRAPHS)
def test_rows_of_links_trade_places_between_blocks(graph):
    network = tacit.Network(graph)
    together = Stacked(network)
    r = np.random.default_rng(1).standard_normal((together.links, 2))
    expected, shares = together.swap(r), shares_of(network, partitioned(network, 3), "lazy")
    for share in shares:
        np.testing.assert_array_equal(share.first, together.first[share.links])
        came = np.full((len(share.links), 2), np.nan)
        for other in shares:
            sent = r[other.links][other.traded_with(share.number)[0]]
            came[share.traded_with(other.number)[1]] = sent
        np.testing.assert_array_equal(came, expected[share.links])


def test_mail_is_taken_in_the_order_of_its_numbers_and_an_epoch_forgets_what_was_before():
    box = Mailbox()
    box.put((0, "halo", 1, 1), "second")
    box.put((0, "halo", 1, 0), "first")
    box.put((1, "halo", 1, 0), "of the next epoch")
    assert [box.take("halo", 1), box.take("halo", 1)] == ["first", "second"]
    box.give_up(0)
    with pytest.raises(Interrupted):
        box.take("halo", 1)
    box.begin(1)
    box.put((0, "halo", 1, 0), "late")
    assert box.take("halo", 1) == "of the next epoch"


def problem():
    return tacit.Problem(nx.complete_graph(4), [tacit.Quadratic(np.eye(2), [i, 1.0]) for i in range(4)])


def test_without_the_extra_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'tacit\[cluster\]'"):
        tacit.solve(problem(), algorithm="extra", runtime="ray")


def test_workers_are_at_least_one_and_belong_to_ray(tmp_path):
    with pytest.raises(InputError, match="workers = 0 must be at least 1"):
        Cluster(workers=0)
    write_example(tmp_path / "problem.toml")
    task = load_problem(tmp_path / "problem.toml")
    with pytest.raises(InputError, match="for the runtime ray, and this one is stacked"):
        overridden(task, workers=2)
    assert overridden(task, runtime="ray", workers=2, address="auto").runtime == Cluster(workers=2, address="auto")
