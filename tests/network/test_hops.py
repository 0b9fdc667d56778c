"""How long the longest chain of messages in a run is: over real distances that is how long the run takes.

Every message carries its place in the longest chain that it belongs to (Lamport, CACM 21, 1978): an agent's next
message comes after all that it has received. Runs are those of members: waiting for each other, phase 1, rounds,
looks, and the comparing at the end.

    secret sums     diameter + (2·radius + 1)·sums + apart
    gossip          diameter + 1 + (2·radius + 2) + exchanges·rounds + 2·radius·looks + apart

where *apart* is how far two agents can be from each other when any one is left out. Where the network is a tree
itself, the masks of a sum meet the total of the one before on their way: one hop fewer.
"""

from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import AffineMasks, Keystream, SumMasks, agent_keys
from tacit.runtimes import Job, StoppingRule
from tacit.runtimes.agents import QueueLinks, neighbourhoods
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.runtimes.phases import row_ranges, run_agent
from tacit.runtimes.transcript import farthest
from tacit.solving import choose

GRAPHS = {
    "regular": nx.random_regular_graph(4, 20, seed=1),
    "ring": nx.cycle_graph(7),
    "path": nx.path_graph(6),
    "star": nx.star_graph(5),
    "complete": nx.complete_graph(5),
    "florentine": nx.florentine_families_graph(),
}


class Chained(QueueLinks):
    """Links on which every message knows how many came one after the other before it."""

    def __init__(self, wires):
        super().__init__(wires._outgoing, wires._incoming)
        self.hops = 0

    def send(self, neighbour, message):
        self._outgoing[neighbour].put((message.copy(), self.hops + 1))

    def receive(self, neighbour):
        message, hops = self._incoming[neighbour].get(timeout=60)
        self.hops = max(self.hops, hops)
        return message


def longest_chain(graph, masks, algorithm, kind=LinkedPeers):
    """Run members on *graph*, as peers of a *kind*; return the hops, what came out, and the network."""
    rng = np.random.default_rng(5)
    costs = [
        tacit.Logistic(rng.standard_normal((9, 3)), np.sign(rng.standard_normal(9)), l2=0.5)
        if algorithm != "direct"
        else tacit.Quadratic(np.diag(rng.uniform(1, 2, 3)), rng.standard_normal(3))
        for _ in graph
    ]
    problem = tacit.Problem(graph, costs)
    choice = choose(problem, algorithm, privacy=masks)
    job = Job(
        network=problem.network,
        costs=problem.costs,
        stack=None,
        x0=problem.x0,
        algorithm=choice.algorithm,
        exact=choice.algorithm.exact,
        weights=choice.weights,
        privacy=masks,
        rule=StoppingRule(tolerance=1e-6, max_rounds=40),
    )
    keys, rows, chained = agent_keys(len(graph), seed=3), row_ranges(job.network.degrees), []

    def one(i, peers, links):
        peers.__class__, peers._links = kind, links
        return run_agent(job, job.costs[i], peers, Keystream(keys[i]), rows=rows[i], barriers=True)

    with ThreadPoolExecutor(len(graph)) as pool:
        futures = []
        for i, (peers, wires) in enumerate(neighbourhoods(job)):
            chained.append(Chained(wires))
            futures.append(pool.submit(one, i, peers, chained[i]))
        outcomes = [future.result(timeout=60) for future in futures]
    return max(links.hops for links in chained), outcomes[0], job.network


@pytest.mark.parametrize("pairing", ["both", "seeds"])
@pytest.mark.parametrize("algorithm", ["direct", "newton", "lbfgs"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_run_of_sums_takes_a_radius_up_and_down_a_sum_and_little_more(name, algorithm, pairing):
    hops, outcome, network = longest_chain(GRAPHS[name], SumMasks(pairing=pairing), algorithm)
    radius, sums = network.tree.depth, outcome.rounds
    overlap = (sums - 1) * nx.is_tree(GRAPHS[name])
    assert hops == network.tree.diameter + (2 * radius + 1) * sums - overlap + farthest(network)
    if name == "regular":
        assert hops <= (2 * radius + 1) * sums + 3 * radius


class Committing(LinkedPeers):
    """What tacit does not do: neighbours are told a hash of the masked word before anybody sends one."""

    def sum(self, v, add=np.add):
        if v.dtype == np.uint64:
            self._links.exchange([np.zeros(4, dtype=np.uint64)] * self.degree)
        return super().sum(v, add)


@pytest.mark.parametrize(("name", "hops_of_run"), [("regular", 30), ("florentine", 32), ("complete", 14)])
def test_commitments_before_every_word_would_cost_a_hop_a_sum(name, hops_of_run):
    """The figures of docs/liars.md: whoever speaks last is not held to a number."""
    hops, outcome, _ = longest_chain(GRAPHS[name], SumMasks(), "newton")
    more, again, _ = longest_chain(GRAPHS[name], SumMasks(), "newton", kind=Committing)
    assert (again.rounds, more) == (outcome.rounds, hops + outcome.rounds)
    assert hops == hops_of_run
    assert 0.09 < outcome.rounds / hops < 0.30


@pytest.mark.parametrize(("algorithm", "exchanges"), [("nids", 1), ("extra", 1), ("gradient-tracking", 2)])
@pytest.mark.parametrize("name", GRAPHS)
def test_gossip_takes_its_exchanges_and_a_radius_up_and_down_a_look(name, algorithm, exchanges):
    hops, outcome, network = longest_chain(GRAPHS[name], AffineMasks(10.0), algorithm)
    radius, looks = network.tree.depth, len(outcome.history)
    masks = 1 + (2 * radius + 1) + 1 - nx.is_tree(GRAPHS[name])  # traded, seen to cancel, and that compared
    rounds = exchanges * outcome.rounds + 2 * radius * looks
    assert hops == network.tree.diameter + masks + rounds + farthest(network)
