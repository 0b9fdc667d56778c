"""Every algorithm and every family in blocks on Ray: what the stacked runtime computes."""

import json

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ALGORITHMS
from tacit.runtimes import Cluster
from tacit.testing import small_problem

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::tacit.solving.solve.InexactWarning", "ignore::DeprecationWarning",
                               "ignore::FutureWarning", "ignore::ResourceWarning"),
]  # fmt: skip

GOSSIPING = [name for name, kind in ALGORITHMS.items() if not kind.sums]
SUMMING = [name for name, kind in ALGORITHMS.items() if kind.sums and name != "bracket"]


@pytest.fixture(scope="module", autouse=True)
def _one_ray():
    """One Ray for all tests here: runs use it as they find it."""
    from tacit.runtimes.ray.cluster import connected

    with connected(Cluster(workers=2)):
        yield
    assert not ray.is_initialized()


def both(problem, workers=2, **options):
    """Return the answers of the stacked runtime and of blocks."""
    return [tacit.solve(problem, runtime=runtime, **options) for runtime in ("stacked", Cluster(workers=workers))]


def assert_same(stacked, blocks, *, bits=True):
    if bits:
        np.testing.assert_array_equal(blocks.x, stacked.x)
    np.testing.assert_allclose(blocks.x, stacked.x, rtol=1e-12, atol=1e-12)
    assert blocks.record.phase2 == stacked.record.phase2  # rounds, exchanges, messages, bytes
    assert blocks.status == stacked.status
    assert blocks.record.runtime == "ray"


def problem_of(agents, m=3, seed=7):
    rng = np.random.default_rng(seed)
    curvatures = [np.eye(m) + np.diag(rng.random(m)) for _ in range(agents)]
    graph = nx.random_regular_graph(4, agents, seed=3)
    return tacit.Problem(graph, [tacit.Quadratic(P, rng.standard_normal(m)) for P in curvatures])


@pytest.mark.parametrize("agents", [20, 100])  # a dense product, and a sparse one
def test_gradient_tracking_ends_with_the_same_bits(agents):
    stacked, blocks = both(problem_of(agents), algorithm="gradient-tracking")
    assert_same(stacked, blocks)
    assert blocks.converged


@pytest.mark.parametrize("name", GOSSIPING)
def test_every_gossip_computes_what_stacked_computes(name):
    masks = tacit.AffineMasks(sigma=10.0, seed=1)
    assert_same(*both(small_problem(), algorithm=name, privacy=masks, max_rounds=40))


@pytest.mark.parametrize("name", SUMMING)
def test_every_algorithm_that_adds_up_computes_what_stacked_computes(name):
    """Secret sums are exact, and so the same bits; sums of floats are added in another order."""
    assert_same(*both(small_problem(), algorithm=name, privacy=tacit.SumMasks(seed=1), max_rounds=40))
    assert_same(*both(small_problem(), algorithm=name, max_rounds=40), bits=False)


@pytest.mark.parametrize("pairing", ["both", "one-sided", "seeds"])
def test_masks_of_every_pairing_cancel_between_blocks(pairing):
    """Without a seed: keys are drawn in the blocks, and sums come out the same all the same."""
    masks = tacit.SumMasks(pairing=pairing, words=2)
    plain, blocks = both(problem_of(30), algorithm="newton", privacy=masks)
    np.testing.assert_array_equal(blocks.x, plain.x)


def test_sums_that_are_made_in_pieces_come_together():
    """So many unknowns that blocks of unequal size cut their Hessians, and what they mask, differently."""
    rng = np.random.default_rng(3)
    records = [(rng.standard_normal((8, 80)), rng.standard_normal(8)) for _ in range(41)]
    graph = nx.random_regular_graph(4, 41, seed=1)
    problem = tacit.Problem(graph, [tacit.LeastSquares(A, b, l2=0.5) for A, b in records])
    for words in (1, 2):
        masks = tacit.SumMasks(seed=1, words=words)
        assert_same(*both(problem, algorithm="direct", privacy=masks))


def test_the_command_takes_it(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from tacit.cli.main import app

    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init"]).exit_code == 0
    options = ["--sums", "--quiet", "--json"]
    answers = [
        CliRunner().invoke(app, ["solve", "problem.toml", *options, *runtime])
        for runtime in ([], ["--runtime", "ray", "--workers", "2"])
    ]
    stacked, blocks = [json.loads(answer.stdout) for answer in answers]
    assert blocks["x"] == stacked["x"]
    assert blocks["runtime"] == "ray"
