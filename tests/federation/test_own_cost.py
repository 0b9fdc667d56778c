"""`tacit.peers` for people who bring their own cost: a class of theirs, over real links."""

import copy
import pydoc
import threading

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.runtimes.peers.local import free_ports
from tacit.typing import Cost

NAMES = ("north", "south", "west")


class Springs:
    """Σ_k w_k (x − c_k)²/2 for an agent's own weights and centres: nothing of tacit's in it."""

    is_rough = False

    def __init__(self, weights, centres):
        self.weight, self.affine = np.sum(weights), -np.asarray(weights) @ np.asarray(centres)
        self.dim = self.affine.shape[-1]
        self.smoothness = self.strong_convexity = np.asarray(self.weight)
        self.penalty = np.zeros(2 * self.dim)
        self.limits = np.repeat([-np.inf, np.inf], self.dim)

    def value(self, x):
        return self.weight * (x @ x) / 2 + self.affine @ x

    def grad(self, x):
        return self.weight * x + self.affine

    def hess(self, x):
        return self.weight * np.eye(self.dim)

    def prox(self, v, t):
        return (v - t * self.affine) / (1.0 + t * self.weight)

    def rough_prox(self, v, t):
        return v

    def with_affine(self, affine):
        other = copy.copy(self)
        other.affine = affine
        return other


@pytest.fixture
def manifest(tmp_path):
    """Return a function that makes the manifest of three members, and their keys."""

    def make(level, algorithm):
        members = {
            name: tacit.federation.Member(
                f"127.0.0.1:{port}", tacit.federation.write_key(tmp_path, name)[1].read_text()
            )
            for name, port in zip(NAMES, free_ports(len(NAMES)), strict=True)
        }
        return tacit.federation.Manifest(
            title="springs", run=1, unknowns=2, links=list(nx.complete_graph(NAMES).edges), members=members,
            privacy=tacit.federation.Masks(level, sigma=None if level == "sums" else 10.0), algorithm=algorithm,
            stop=tacit.federation.Stop(patience=30.0),
        )  # fmt: skip

    return make


@pytest.mark.parametrize(
    ("level", "algorithm"),
    [
        ("sums", {"name": "newton"}),
        ("sums", {"name": "lbfgs"}),
        ("affine", {"name": "nids", "step_size": 0.1}),
        ("affine", {"name": "admm", "penalty": 1.0}),
    ],
)
def test_a_class_of_ones_own_is_a_cost_for_agents(level, algorithm, manifest, tmp_path):
    rng = np.random.default_rng(5)
    data = {name: (rng.uniform(0.5, 2.0, 4), rng.standard_normal((4, 2))) for name in NAMES}
    agreed, found = manifest(level, algorithm), {}

    def take_part(name):
        cost = Springs(*data[name])
        assert isinstance(cost, Cost)
        agent = tacit.federation.join(agreed, cost, me=name, key=tmp_path / f"{name}.key", folder=tmp_path)
        found[name] = agent.run()

    threads = [threading.Thread(target=take_part, args=(name,)) for name in NAMES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    weights = np.concatenate([weights for weights, _ in data.values()])
    optimum = weights @ np.concatenate([centres for _, centres in data.values()]) / weights.sum()
    for name in NAMES:
        assert found[name].verdict.status == "converged"
        np.testing.assert_allclose(found[name].x, optimum, atol=1e-7)


def test_the_parts_of_a_manifest_survive_being_written_down(manifest, tmp_path):
    made = manifest("sums", {"name": "newton"})
    plain = {key: value for key, value in msgspec.to_builtins(made).items() if value is not None}
    file = tmp_path / "f.toml"
    plain["privacy"] = {key: value for key, value in plain["privacy"].items() if value is not None}
    file.write_bytes(msgspec.toml.encode(plain))
    assert tacit.federation.Manifest.read(str(file)).session() == made.session()


def test_help_says_how_to_take_part():
    page = pydoc.render_doc(tacit.federation, renderer=pydoc.plaintext)
    for name in ("join", "Manifest", "Masks", "Member", "Model", "Stop", "write_key", "fingerprint"):
        assert name in page
        assert getattr(tacit.federation, name).__doc__
    assert 'tacit.federation.join("federation.toml", cost, me="north", key="north.key")' in page
