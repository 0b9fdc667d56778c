"""Federations on this machine, for tests that stop, kill and disturb their members."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import agent_keys
from tacit.runtimes import Job, StoppingRule, agents
from tacit.runtimes.peers.local import Process, manifest_of
from tacit.runtimes.peers.store import Store
from tacit.solving import choose

SEED = 7


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark everything here but one quick check: kills, faults and attacks take minutes and an idle machine."""
    for item in items:
        elsewhere = "test_processes" in item.nodeid or item.get_closest_marker("namespaces")
        if "/network/" in item.nodeid and not elsewhere:
            item.add_marker(pytest.mark.network)


class Federation:
    """A small problem, what the in-memory agents make of it, and its members as processes with the same keys."""

    def __init__(self, folder, *, algorithm="gradient-tracking", privacy=None, n=5, tolerance=1e-9, rounds=3000):
        rng = np.random.default_rng(0)
        graph = nx.circulant_graph(n, [1, 2])
        costs = [tacit.LeastSquares(rng.standard_normal((6, 4)), rng.standard_normal(6), l2=0.5) for _ in range(n)]
        problem = tacit.Problem(graph, costs)
        choice = choose(problem, algorithm, privacy=privacy)
        self.job = Job(
            network=problem.network,
            costs=problem.costs,
            stack=problem.stack,
            x0=problem.x0,
            algorithm=choice.algorithm,
            exact=choice.algorithm.exact,
            weights=choice.weights,
            privacy=privacy,
            rule=StoppingRule(tolerance=tolerance, max_rounds=rounds),
        )
        self.folder, self.names = folder, [f"member-{i}" for i in range(n)]
        self.members = []

    def expected(self):
        """Return the run of the in-memory agents with the same masks."""
        privacy = self.job.privacy
        return agents.run(replace(self.job, privacy=None if privacy is None else replace(privacy, seed=SEED)))

    def start(self):
        """Start all members."""
        self.manifest = manifest_of(self.job, self.names, self.folder)
        for name, key in zip(self.names, agent_keys(len(self.names), seed=SEED), strict=True):
            store = Store(self.state(name))
            store.fix("key", key)
            store.close()
        self.members = [
            Process(self.manifest, name, cost, self.folder)
            for name, cost in zip(self.names, self.job.costs, strict=True)
        ]
        return self.members

    def state(self, name):
        return self.folder / f"{name}-{self.manifest.session()[:12]}.state"

    def stop(self):
        for member in self.members:
            member.stop()


@pytest.fixture
def federation(tmp_path):
    """Return a function that makes a federation; its processes are gone after the test."""
    made = []

    def make(**settings):
        made.append(Federation(tmp_path, **settings))
        return made[-1]

    yield make
    for each in made:
        each.stop()
