"""One process per agent over real TLS: the answer of the in-memory agents."""

import networkx as nx
import numpy as np
import pytest

import tacit


@pytest.mark.parametrize(("algorithm", "privacy"), [("nids", None), ("newton", tacit.SumMasks())])
def test_processes_compute_what_agents_in_memory_compute(algorithm, privacy):
    costs = [tacit.Quadratic.distance([float(k), -float(k)]) for k in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    apart, together = (
        tacit.solve(problem, algorithm=algorithm, privacy=privacy, runtime=runtime)
        for runtime in ("peers", "agents")
    )
    assert apart.converged
    np.testing.assert_array_equal(apart.x, together.x)
