"""Where x is confined, by a box or a steep cost, large masks and long networks cost hardly more rounds than none."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ADMM, NIDS, PGEXTRA, Landscape
from tacit.algorithms.chebyshev import NO_GOSSIP, Gossip
from tacit.auditing.recording.watch import watch_effective
from tacit.auditing.trials.replayed import replay
from tacit.runtimes.stacked import Stacked
from tacit.solving import prepare
from tacit.solving.choice import choose
from tacit.solving.confined import rounds_in_a_box
from tacit.solving.solve import InexactWarning
from tacit.testing import check_algorithm, small_problem

REGULAR = nx.random_regular_graph(4, 20, seed=1)


def poisson(graph):
    rng, costs = np.random.default_rng(0), []
    truth = 0.4 * rng.standard_normal(3)
    for _ in graph:
        A = rng.standard_normal((30, 3))
        costs.append(tacit.Poisson(A, rng.poisson(np.exp(A @ truth))))
    return tacit.Problem(graph, costs)


def boxed(graph):
    rng, costs = np.random.default_rng(0), []
    for _ in graph:
        B = rng.standard_normal((3, 3))
        costs.append(
            tacit.Quadratic(B @ B.T / 3 + 0.5 * np.eye(3), rng.standard_normal(3) - 0.9) + tacit.Box(-1.0, 1.0)
        )
    return tacit.Problem(graph, costs)


@pytest.mark.parametrize("sigma", [1e3, 1e6])
@pytest.mark.parametrize("problem", [boxed(REGULAR), poisson(REGULAR)], ids=["box", "poisson"])
def test_rounds_with_large_masks_are_about_those_without(problem, sigma):
    """From duals at zero the box takes 4 562 rounds at σ = 10³, and millions at 10⁶."""
    answer = tacit.solve(problem, privacy=tacit.AffineMasks(sigma, seed=1), max_rounds=400)
    assert answer.converged, answer.sentence
    np.testing.assert_allclose(answer.x, tacit.solve(problem, protect="whole").x, atol=1e-8)


@pytest.mark.parametrize("sigma", [None, 1e3])
def test_rounds_on_a_path_grow_with_its_length_and_not_with_its_square(sigma):
    privacy = None if sigma is None else tacit.AffineMasks(sigma, seed=1)
    rounds = {}
    for length in (20, 40):
        answer = tacit.solve(poisson(nx.path_graph(length)), privacy=privacy, tree=False, max_rounds=2000)
        assert answer.converged, answer.sentence
        rounds[length] = answer.record.phase2.rounds
    assert rounds[20] <= 600  # 1 811 with a penalty that ignores the network
    assert rounds[40] <= 3 * rounds[20]


@pytest.mark.parametrize("algorithm", ["nids", "admm"])
def test_a_warm_start_is_taken_where_masks_meet_a_confined_x_and_nowhere_else(algorithm):
    masks = tacit.AffineMasks(10.0)
    for problem, privacy, warm in [
        (boxed(REGULAR), masks, True),
        (boxed(REGULAR), None, False),
        (small_problem(), masks, False),
    ]:
        assert bool(choose(problem, algorithm, privacy=privacy).algorithm.warmup.exchanges) == warm


@pytest.mark.parametrize("graph", [REGULAR, nx.path_graph(9), nx.complete_graph(5), nx.path_graph(2)], ids=str)
def test_a_balance_adds_up_to_zero_and_leaves_the_mean(graph):
    """Σ d = 0 is what makes the limit the optimum."""
    network = boxed(graph).network
    peers, spectrum = Stacked(network), Landscape(boxed(graph).stack, network).spectrum
    g = 1e6 * np.random.default_rng(2).standard_normal((len(network), 3))
    d = Gossip.reaching(spectrum, 1e9).balance(g, peers)
    np.testing.assert_allclose(d.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(g + d, np.tile(g.mean(axis=0), (len(network), 1)), atol=1e-2)
    assert not NO_GOSSIP.balance(g, peers).any()


@pytest.mark.parametrize("kind", [NIDS, ADMM])
def test_a_warm_start_conforms(kind):
    """Apart as together, restarted as straight on, whatever the labels, and the same optimum."""
    problem = small_problem()
    landscape = Landscape(problem.stack, problem.network)
    cold = kind.tuned(landscape)
    first = cold.step_size if kind is NIDS else cold.penalty
    check_algorithm(kind(first, warmup=Gossip.reaching(landscape.spectrum, 1e9)), exact=True)


@pytest.mark.parametrize("name", ["nids", "admm"])
def test_all_that_a_warm_start_says_follows_from_the_effective_costs(name):
    """The theorem covers it then: the same view, to the last bit, from effective costs alone."""
    job = prepare(boxed(REGULAR), privacy=tacit.AffineMasks(1e3), algorithm=name, max_rounds=20).job
    view, effective, _ = watch_effective(job, [3])
    assert len(view.only("mix", "gather")) > 20  # those of the start are among them
    assert replay(job, view, effective, [3], exactly=True).status == "within"


COLD = [PGEXTRA(0.1), NIDS(0.3), ADMM(2.0)]
GRAPHS = {"regular": REGULAR, "complete": nx.complete_graph(10), "path": nx.path_graph(20)}


def named(value):
    return value if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize("algorithm", COLD, ids=named)
def test_a_cold_start_that_will_take_too_long_says_so_before_the_run(algorithm):
    with pytest.warns(InexactWarning, match="rounds, and 20 are allowed"):
        answer = tacit.solve(
            boxed(REGULAR), privacy=tacit.AffineMasks(1e6, seed=1), algorithm=algorithm, max_rounds=20
        )
    assert "starts its dual variables at zero" in answer.record.warnings[0]


@pytest.mark.parametrize(("algorithm", "graph"), [*product(COLD[:2], GRAPHS), (COLD[2], "complete")], ids=named)
def test_the_rounds_of_a_cold_start_are_foretold_within_a_factor_of_three(algorithm, graph):
    problem, masks = boxed(GRAPHS[graph]), tacit.AffineMasks(1e3, seed=1)
    foretold = rounds_in_a_box(problem, masks, choose(problem, algorithm, privacy=masks))
    answer = tacit.solve(problem, privacy=masks, algorithm=algorithm)
    assert answer.converged
    assert 1 / 3 <= foretold / answer.record.phase2.rounds <= 3


def test_nothing_is_foretold_where_the_start_is_warm_or_nothing_confines():
    masks = tacit.AffineMasks(1e6)
    for problem in (boxed(REGULAR), poisson(REGULAR), small_problem()):
        assert rounds_in_a_box(problem, masks, choose(problem, privacy=masks)) == 0.0
    assert rounds_in_a_box(boxed(REGULAR), None, choose(boxed(REGULAR), COLD[0])) == 0.0
