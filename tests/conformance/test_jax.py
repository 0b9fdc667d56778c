"""Every algorithm that gossips, and every family, on JAX: what the stacked runtime computes."""

import builtins
import json

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ALGORITHMS
from tacit.costs import (
    L1,
    AbsoluteValue,
    Affine,
    Box,
    CallableCost,
    ElasticNet,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    Quadratic,
)
from tacit.errors import AlgorithmError, InputError, ProtectionError
from tacit.testing import small_problem

jax = pytest.importorskip("jax")
pytestmark = [pytest.mark.jax, pytest.mark.filterwarnings("ignore::tacit.solving.solve.InexactWarning")]

GOSSIPING = [name for name, kind in ALGORITHMS.items() if not kind.sums]


def both(problem, **options):
    """Return the answers of the stacked runtime and of JAX."""
    return [tacit.solve(problem, runtime=runtime, **options) for runtime in ("stacked", "jax")]


def assert_same(stacked, device):
    size = 1.0 + np.abs(stacked.x).max()
    np.testing.assert_allclose(device.x / size, stacked.x / size, rtol=0, atol=1e-10)
    assert device.record.phase2 == stacked.record.phase2  # rounds, exchanges, messages, bytes
    assert device.status == stacked.status


@pytest.mark.parametrize("sigma", [None, 10.0])
@pytest.mark.parametrize("name", GOSSIPING)
def test_every_algorithm_computes_what_stacked_computes(name, sigma):
    masks = None if sigma is None else tacit.AffineMasks(sigma=sigma, seed=1)
    assert_same(*both(small_problem(), algorithm=name, privacy=masks, max_rounds=60))


def made(family, rng, k):
    """Return one cost of a family; records are as many as *k* says, so that stacks are padded."""
    A, rows = rng.standard_normal((5 + k % 3, 3)), 5 + k % 3
    P = np.eye(3) + np.diag(rng.random(3))
    labels = (rng.random(rows) < 0.5).astype(float)
    smooth = {
        "quadratic": lambda: Quadratic(P, rng.standard_normal(3)),
        "least squares": lambda: LeastSquares(A, rng.standard_normal(rows), l2=0.1),
        "logistic": lambda: Logistic(A, labels, l2=0.1),
        "weighted logistic": lambda: Logistic(A, labels, l2=0.1, weight=1.0 + labels, offset=0.1 * labels),
        "huber": lambda: Huber(A, 3.0 * rng.standard_normal(rows), l2=0.1),
        "multinomial": lambda: Multinomial(A[:, :1], rng.integers(4, size=rows), classes=4, l2=0.1),
        "two families": lambda: (made("huber", rng, k), made("logistic", rng, k))[k % 2],
        "lasso": lambda: LeastSquares(A, rng.standard_normal(rows)) + L1(0.3),
        "elastic net": lambda: Logistic(A, labels) + ElasticNet(0.05, 0.1),
        "box": lambda: Quadratic(P, rng.standard_normal(3)) + Box(-0.1, 0.2),
        "absolute value": lambda: AbsoluteValue(rng.standard_normal(3)),
        "affine in a box": lambda: Affine(rng.standard_normal(3)) + Box(-1.0, 1.0),
    }
    return smooth[family]()


def problem_of(family, agents=12, graph=None):
    rng = np.random.default_rng(7)
    graph = nx.random_regular_graph(4, agents, seed=3) if graph is None else graph
    return tacit.Problem(graph, [made(family, rng, k) for k in range(len(graph))])


SMOOTH = ["quadratic", "least squares", "logistic", "weighted logistic", "huber", "multinomial", "two families"]
ROUGH = ["lasso", "elastic net", "box", "absolute value", "affine in a box"]


@pytest.mark.parametrize("family", SMOOTH)
def test_every_smooth_family_computes_what_stacked_computes(family):
    problem = problem_of(family)
    assert_same(
        *both(problem, algorithm="gradient-tracking", privacy=tacit.AffineMasks(3.0, seed=1), max_rounds=60)
    )


@pytest.mark.parametrize("family", ROUGH)
def test_every_rough_term_computes_what_stacked_computes(family):
    assert_same(*both(problem_of(family), algorithm="nids", max_rounds=60))


@pytest.mark.parametrize("family", ["quadratic", "absolute value", "affine in a box"])
def test_closed_proximal_steps_compute_what_stacked_computes(family):
    assert_same(*both(problem_of(family), algorithm="admm", max_rounds=60))


@pytest.mark.parametrize("masks", [None, tacit.AffineMasks(100.0, seed=2)])
def test_a_run_ends_in_the_same_round_with_the_same_words(masks):
    """Looks and the stopping rule are the same, and so is a warm start (masks in a box)."""
    for family, algorithm in (("quadratic", "gradient-tracking"), ("box", "nids")):
        stacked, device = both(problem_of(family), algorithm=algorithm, privacy=masks)
        assert_same(stacked, device)
        assert device.converged


@pytest.mark.parametrize("graph", [nx.star_graph(99), nx.random_regular_graph(8, 100, seed=1), nx.path_graph(80)])
def test_tables_and_segments_mix_alike(graph):
    assert_same(*both(problem_of("quadratic", graph=graph), algorithm="extra", max_rounds=30))


def test_quadratic_masks_are_folded_in_before_costs_move():
    masks = tacit.QuadraticMasks(2.0, seed=1)
    assert_same(*both(problem_of("quadratic"), algorithm="gradient-tracking", privacy=masks, max_rounds=30))


def test_float32_comes_near_and_is_refused_under_masks():
    problem = problem_of("quadratic")
    exact = tacit.solve(problem, algorithm="nids")
    coarse = tacit.solve(problem, algorithm="nids", runtime="jax-float32", tolerance=1e-4)
    np.testing.assert_allclose(coarse.x, exact.x, atol=1e-3)
    with pytest.raises(ProtectionError, match="float64"):
        tacit.solve(problem, algorithm="nids", runtime="jax-float32", privacy=tacit.AffineMasks(1.0))


def test_what_cannot_be_compiled_is_refused_in_a_sentence():
    with pytest.raises(AlgorithmError, match="closed form"):
        tacit.solve(problem_of("lasso"), algorithm="admm", runtime="jax")
    own = [CallableCost(1, grad=lambda x: 2 * x - 1.0, smoothness=2.0, strong_convexity=2.0) for _ in range(3)]
    with pytest.raises(AlgorithmError, match="Python function"):
        tacit.solve(tacit.Problem(nx.cycle_graph(3), own), algorithm="nids", runtime="jax")


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a graphics card")
def test_a_graphics_card_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="finds no gpu"):
        tacit.solve(small_problem(), algorithm="nids", runtime="jax-gpu")


def test_a_missing_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == "jax":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'tacit\[jax\]'"):
        tacit.solve(small_problem(), algorithm="nids", runtime="jax")


def test_states_and_costs_on_a_device_show_nothing():
    from tacit.runtimes.jax.arrays import DeviceArray

    assert "4.25" not in repr(DeviceArray(jax.numpy.array([4.25])))


def test_algorithms_that_add_up_are_refused():
    with pytest.raises(AlgorithmError, match=r"newton adds up over the network.*'stacked'"):
        tacit.solve(small_problem(), algorithm="newton", runtime="jax")


def test_the_command_takes_it(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from tacit.cli.main import app

    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init"]).exit_code == 0
    options = ["--sigma", "10", "--algorithm", "nids", "--no-tree", "--quiet", "--json"]
    answers = [
        CliRunner().invoke(app, ["solve", "problem.toml", *options, "--runtime", runtime])
        for runtime in ("stacked", "jax")
    ]
    x, device = [json.loads(answer.stdout)["x"] for answer in answers]
    np.testing.assert_allclose(device, x, rtol=1e-6)
