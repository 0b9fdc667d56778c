"""Secret totals: the sum of everybody's numbers, and as many numbers told."""

import networkx as nx
import numpy as np
import pytest

from tacit.dispatch import read_grid
from tacit.dispatch.agents import agents_of
from tacit.dispatch.recovery import added_up
from tacit.masks import SumMasks
from tacit.network import Network, well_connected
from tacit.solving.total import total

PARTS = list(np.random.default_rng(5).normal(size=(12, 48)) * 100.0)
NETWORK = Network(well_connected(12, 4))


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
@pytest.mark.parametrize("masks", [None, SumMasks(bound=2.0**20, seed=1)], ids=["open", "secret"])
def test_a_total_is_the_sum_to_the_resolution_of_secret_sums(runtime, masks):
    answer = total(NETWORK, PARTS, privacy=masks, runtime=runtime)
    np.testing.assert_allclose(answer.x, np.sum(PARTS, axis=0), rtol=0, atol=1e-8)
    assert answer.record.phase2.sums == ["numbers"]
    assert answer.record.phase2.rounds == 1
    assert "no masks" in [stamp.reason for stamp in answer.record.stamps] or masks is not None


def test_forty_eight_totals_tell_forty_eight_numbers_and_send_no_matrix():
    """As a quadratic problem they were 1 320 numbers a message: gradients, Hessians and penalties."""
    answer = total(NETWORK, PARTS, privacy=SumMasks(seed=1), runtime="stacked")
    record = answer.record
    assert (record.tells.numbers, record.tells.hidden) == (48, 48 * 11)
    words = record.phase2.bytes / 8 / record.phase2.messages
    assert words <= 49


def test_a_total_of_neighbours_who_know_all_masks_says_so():
    reasons = [
        stamp.reason
        for stamp in total(Network(nx.path_graph(3)), PARTS[:3], privacy=SumMasks(), runtime="stacked").stamps()
    ]
    assert "one neighbour" in reasons


def test_a_dispatch_adds_up_with_the_same_total():
    agents = agents_of(read_grid("case30"))
    parts = np.random.default_rng(6).normal(size=(len(agents.holds), 4))
    answer = added_up(agents, parts, masked=True, runtime="stacked")
    assert answer.record.phase2.algorithm == "Total"
    np.testing.assert_allclose(answer.x, parts.sum(axis=0), rtol=0, atol=1e-8)
