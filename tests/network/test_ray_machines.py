"""Two machines of a Ray cluster, as two raylets on this one: one of them is lost, and the run goes on."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import InputError, NetworkError
from tacit.runtimes import Cluster

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]


def problem_of(agents=80, m=3):
    rng = np.random.default_rng(7)
    graph = nx.random_regular_graph(4, agents, seed=3)
    return tacit.Problem(graph, [tacit.Quadratic(np.eye(m), rng.standard_normal(m)) for _ in range(agents)])


def test_a_machine_is_lost_and_the_run_goes_on_to_the_same_bits():
    from ray.cluster_utils import Cluster as Machines

    store = 100 << 20
    machines = Machines(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": store, "include_dashboard": False},
    )
    other = machines.add_node(num_cpus=2, object_store_memory=store)
    problem, lost = problem_of(), []

    def lose(progress):
        if progress.check.round >= 20 and not lost:
            lost.append(progress.check.round)
            machines.remove_node(other, allow_graceful=False)

    try:
        options = {"algorithm": "gradient-tracking", "privacy": tacit.AffineMasks(10.0, seed=1), "max_rounds": 60}
        stacked = tacit.solve(problem, **options)
        cluster = Cluster(workers=2, address=machines.address, checkpoint_seconds=0.0)
        answer = tacit.solve(problem, runtime=cluster, on_progress=lose, **options)
    finally:
        ray.shutdown()
        machines.shutdown()
    assert lost
    np.testing.assert_array_equal(answer.x, stacked.x)


def test_an_address_where_nobody_listens_is_refused_in_a_sentence():
    with pytest.raises(NetworkError, match="nobody listens at 127.0.0.1:1; start a cluster"):
        tacit.solve(problem_of(8), algorithm="extra", runtime=Cluster(address="127.0.0.1:1"))
    with pytest.raises(InputError, match="must be 'auto' or host:port"):
        tacit.solve(problem_of(8), algorithm="extra", runtime=Cluster(address="nowhere"))
