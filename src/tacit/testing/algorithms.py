"""What every algorithm must satisfy."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from tacit.costs import LeastSquares
from tacit.masks import AffineMasks, Mechanism, SumMasks
from tacit.runtimes import Job, Stacked, StoppingRule, agents, stacked
from tacit.solving import Problem
from tacit.typing import Algorithm, Array


def small_problem(agents: int = 12, unknowns: int = 3, *, l2: float = 0.1, seed: int = 5) -> Problem:
    """Return least squares on a random 4-regular network: convex one by one, strongly with *l2* > 0."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(unknowns)
    costs = []
    for _ in range(agents):
        A = rng.standard_normal((unknowns + 2, unknowns))
        costs.append(LeastSquares(A, A @ truth + 0.1 * rng.standard_normal(len(A)), l2=l2))
    return Problem(nx.random_regular_graph(4, agents, seed=seed), costs)


def check_algorithm(algorithm: Algorithm, *, exact: bool, weights: str = "metropolis", unknowns: int = 3) -> None:
    """Check one algorithm's settings on `small_problem()`; exact ones must reach the optimum, masked or not."""
    problem = small_problem(unknowns=unknowns)
    check_apart_equals_together(algorithm, problem, weights=weights)
    check_restart(algorithm, problem, weights=weights)
    check_labels_do_not_matter(algorithm, problem, weights=weights)
    if exact:
        check_optimum_is_fixed(algorithm, problem, weights=weights)
        for masks in _mechanisms(algorithm):
            check_reaches_optimum(algorithm, problem, masks, weights=weights)


def check_apart_equals_together(algorithm: Algorithm, problem: Problem, *, weights: str, rounds: int = 50) -> None:
    """n separate agents compute what the stacked simulation computes, both phases included."""
    for masks in _mechanisms(algorithm):
        job = _job(algorithm, problem, masks, weights=weights, rounds=rounds)
        apart, together = agents.run(job), stacked.run(job)
        size = 1.0 + np.abs(together.x).max()
        np.testing.assert_allclose(
            apart.x / size, together.x / size, rtol=0, atol=1e-12, err_msg="separate agents compute something else"
        )
        assert apart.traffic == together.traffic, "separate agents count their traffic differently"


def check_restart(algorithm: Algorithm, problem: Problem, *, weights: str) -> None:
    """A state that was stored and read back goes on bit for bit: nothing hides outside it."""
    straight = _states(algorithm, problem, weights=weights, rounds=12)
    stored = straight[6]
    copied = type(stored)(*(np.array(part, copy=True) for part in stored))
    peers = Stacked(problem.network, weights)
    for _ in range(6):
        copied = algorithm.step(copied, peers, problem.stack)
    for before, after in zip(straight[12], copied, strict=True):
        assert np.array_equal(before, after), "a restarted run differs"


def check_labels_do_not_matter(algorithm: Algorithm, problem: Problem, *, weights: str) -> None:
    """Renaming and reordering the agents changes nothing but the order of the rows."""
    order = np.random.default_rng(3).permutation(len(problem.network))
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(f"agent {problem.network.agents[k]}" for k in order)
    graph.add_edges_from((f"agent {a}", f"agent {b}") for a, b in problem.network.graph.edges())
    renamed = Problem(graph, [problem.costs[k] for k in order])
    before = _states(algorithm, problem, weights=weights, rounds=30)[-1].x
    after = _states(algorithm, renamed, weights=weights, rounds=30)[-1].x
    after, before = np.atleast_2d(after), before if algorithm.sums else before[order]
    np.testing.assert_allclose(after, np.atleast_2d(before), rtol=0, atol=1e-12, err_msg="the agents' names matter")


def check_optimum_is_fixed(algorithm: Algorithm, problem: Problem, *, weights: str) -> None:
    """Once every agent is at the optimum with the right dual variables, no round moves it."""
    states = _states(algorithm, problem, weights=weights, rounds=6000)
    moved = np.abs(states[-1].x - states[-2].x).max()
    assert moved <= 1e-12, f"the limit is not a fixed point: a round still moves it by {moved:.1e}"


def check_reaches_optimum(algorithm: Algorithm, problem: Problem, masks: Mechanism | None, *, weights: str) -> None:
    """All agents end at the minimiser of the sum of the true costs."""
    P, q = problem.stack.total_curvature().below, problem.stack.affine.sum(axis=0)
    optimum = np.linalg.solve(P, -q)
    run = stacked.run(_job(algorithm, problem, masks, weights=weights, rounds=6000))
    worst = np.abs(run.x - optimum).max()
    assert worst <= 1e-8, f"an agent ends {worst:.1e} from the optimum {'with' if masks else 'without'} masks"


def _mechanisms(algorithm: Algorithm) -> tuple[Mechanism | None, ...]:
    """Return no masks, and the masks that this kind of algorithm runs under."""
    return (None, SumMasks(seed=1) if algorithm.sums else AffineMasks(10.0, seed=1))


def _job(algorithm: Algorithm, problem: Problem, masks: Mechanism | None, *, weights: str, rounds: int) -> Job:
    return Job(
        network=problem.network,
        costs=problem.costs,
        stack=problem.stack,
        x0=problem.x0,
        algorithm=algorithm,
        exact=True,
        weights=weights,
        privacy=masks,
        rule=StoppingRule(tolerance=1e-13, max_rounds=rounds),
    )


def _states(algorithm: Algorithm, problem: Problem, *, weights: str, rounds: int) -> list[Any]:
    peers = Stacked(problem.network, weights)
    start: Array = problem.x0 if algorithm.sums else np.tile(problem.x0, (len(problem.costs), 1))
    states = [algorithm.init(start, problem.stack)]
    for _ in range(rounds):
        states.append(algorithm.step(states[-1], peers, problem.stack))
    return states
