"""One process per agent over real TLS: the answer of the in-memory agents."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.runtimes.peers.local import free_ports


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


def test_ports_are_below_those_of_outgoing_connections_and_others_every_time():
    """A port of theirs may be taken by anybody who calls out, before the member that it is for listens."""
    path = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(path.read_text().split()[0]) if path.exists() else 32_768
    ports = [*free_ports(5), *free_ports(5)]
    assert len(set(ports)) == 10
    assert min(ports) >= 1024
    assert max(ports) < lowest
