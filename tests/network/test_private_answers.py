"""Private answers among real processes: the bits of the in-memory agents, after kills too, and what members hear."""

import json

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import clipped_to

pytestmark = pytest.mark.network

RNG = np.random.default_rng(17)
WEIGHTS = np.array([0.6, -0.8, 0.3])
NAMES = ("clinic", "harbour", "mountain", "river", "valley")


def table(rng, *, logistic=False):
    A = rng.normal(size=(60, 3))
    y = A @ WEIGHTS + 0.1 * rng.normal(size=60)
    return np.column_stack([A, y > 0 if logistic else y])


SQUARES = {name: table(RNG) for name in NAMES}
ODDS = {name: table(RNG, logistic=True) for name in NAMES}
PROMISE = ["--unknowns", "3", "--epsilon", "2", "--delta", "1e-6", "--clip", "2", "--links", "4"]
KINDS = {
    "sums": (SQUARES, "ridge", ["--cost", "ridge", "--l2", "1", "--labels", "3", "--any", "2"]),
    "newton": (ODDS, "logistic", ["--cost", "logistic", "--l2", "1", "--any", "2"]),
    "quadratic": (SQUARES, "ridge", ["--cost", "ridge", "--l2", "1", "--labels", "3", "--level", "quadratic", "--sigma", "1e4"]),
    "affine": (
        SQUARES, "ridge",
        ["--cost", "ridge", "--l2", "1", "--labels", "3", "--level", "affine", "--sigma", "1e4",
         "--algorithm", "nids", "--setting", "step_size=0.005"],
    ),
}  # fmt: skip


@pytest.fixture
def five(members):
    """Return a function that makes five members whose answer is private, of a kind."""

    def make(kind, *more):
        tables, family, options = KINDS[kind]
        made = members(tables, family=family, options=[*PROMISE, *options, *more])
        plain = made.cost
        made.cost = lambda name: clipped_to(plain(name), made.manifest.privacy.promise)
        return made

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_processes_come_to_the_bits_of_the_in_memory_agents(five, kind):
    made = five(kind)
    made.fix_keys()
    expected = made.expected()
    for name in made.names:
        made.start(name, "--json")
    answers = made.answers(seconds=300.0)
    assert np.array_equal(answers, expected.x)
    said = json.loads(made.out("clinic"))
    unit = "label" if kind == "affine" else "record"
    assert said["answer"]["unit"] == unit
    assert (said["answer"]["epsilon"], said["answer"]["delta"]) == (2.0, 1e-6)
    assert "not the exact minimiser" in said["sentence"]
    assert any(f"Every {unit} of every honest agent is protected" in line for line in said["privacy"])


def test_all_agents_of_a_problem_as_processes_keep_the_promise():
    promise = tacit.DifferentialPrivacy(epsilon=2.0, delta=1e-6, clip=2.0, labels=3.0, any=2)
    costs = [tacit.LeastSquares(table[:, :3], table[:, 3], l2=0.2) for table in SQUARES.values()]
    problem, masks = tacit.Problem(nx.complete_graph(5), costs), tacit.SumMasks(answer=promise)
    apart, stacked = (tacit.solve(problem, privacy=masks, runtime=name) for name in ("peers", "stacked"))
    assert apart.guarantee == stacked.guarantee
    assert apart.noise.shape == (3,)
    assert np.abs(apart.x - WEIGHTS).max() < 12 * apart.noise.max() + 0.3
    assert "not the exact minimiser" in apart.sentence
