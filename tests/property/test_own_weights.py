"""An agent works out its own weights from its neighbours' degrees: to the last bit as all of them do together."""

import networkx as nx
import numpy as np
import pytest

from tacit.errors import GraphError
from tacit.network import WEIGHTS, Network, mixing_weights, own_weights


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("seed", range(5))
def test_an_agents_own_weights_are_its_row_of_all_weights(kind, seed):
    network = Network(nx.connected_watts_strogatz_graph(30, 6, 0.5, seed=seed))
    rows = mixing_weights(network, kind).toarray()
    for i in range(len(network)):
        own, others = own_weights(network, kind, i)
        assert own == rows[i, i]
        assert np.array_equal(others, rows[i, network.neighbours(i)])


def test_a_network_of_links_is_that_of_the_graph():
    graph = nx.petersen_graph()
    network, same = Network(graph), Network.of_links(list(graph), [(b, a) for a, b in graph.edges()])
    assert same.agents == network.agents
    assert np.array_equal(same.links, network.links)
    for links, words in (([(0, 1)], "falls into 2 pieces"), ([(0, 1), (1, 1), (1, 2)], "linked to itself")):
        with pytest.raises(GraphError, match=words):
            Network.of_links([0, 1, 2], links)
