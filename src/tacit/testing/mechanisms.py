"""What every mechanism must satisfy: masks cancel, are new every time, and leave no low bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.masks import Hidden, Keystreams, Mechanism, agent_keys, refuse_other, with_seed
from tacit.masks.changed import has_setting
from tacit.network import Network
from tacit.runtimes import Stacked
from tacit.solving import Problem, solve
from tacit.testing.algorithms import small_problem
from tacit.typing import Array


def check_mechanism(masks: Mechanism, problem: Problem | None = None) -> None:
    """Check a mechanism on *problem*, or on `small_problem()`; an audit says whether its masks hide anything."""
    problem = problem or small_problem()
    refuse_other(masks)
    assert masks.seed is None, "give it without a seed: the kit looks at real masks, and seeds what it compares"
    terms = masks.terms(problem.network, problem.dim)
    assert terms.words == masks.words, "its words and those in its terms differ"
    assert masks.fresh_each_sum == (masks.words is not None), "secret sums have words, and other masks have none"
    assert (terms.sigma is None) == (masks.sigma is None) or masks.basis is None, "masks over a basis have a sigma"
    check_what_it_covers(masks, problem)
    if masks.fresh_each_sum:
        check_sums(masks, problem)
    else:
        check_effective_costs(masks, problem)
    check_apart_equals_together(masks, problem)


def check_what_it_covers(masks: Mechanism, problem: Problem) -> None:
    """What it hides is of its own kind, and something."""
    coverage = masks.coverage(problem.stack)
    assert coverage.kind == masks.kind, f"it is of the kind {masks.kind}, and its coverage of {coverage.kind}"
    assert coverage.keeps_a_secret, "it hides nothing of these costs"


def check_effective_costs(masks: Mechanism, problem: Problem) -> None:
    """Masks cancel in the sum of all costs, are drawn anew for every run, and leave multiples of the step."""
    points = np.random.default_rng(1).standard_normal((3, problem.dim))
    plain = [problem.stack.grad(np.tile(x, (len(problem.costs), 1))) for x in points]
    one, other = (_gradients(_hidden(masks, problem).cost, points, len(problem.costs)) for _ in range(2))
    rounding = len(problem.costs) * masks.terms(problem.network, problem.dim).step
    for before, after in zip(plain, one, strict=True):
        size = 1.0 + float(np.abs(after).max())
        residue = np.abs(after.sum(axis=0) - before.sum(axis=0)).max()
        assert residue <= rounding * (1 + problem.dim) + 1e-13 * size, (
            f"the masks do not cancel: they leave {residue:.1e}"
        )
        assert (np.abs(after - before).max(axis=1) > 0).all(), "somebody's gradient is as it was"
    assert all((a != b).any(axis=1).all() for a, b in zip(one, other, strict=True)), "two runs have the same masks"
    if masks.kind == "affine":
        steps = _hidden(masks, problem).cost.affine / masks.terms(problem.network, problem.dim).step
        assert (steps == np.rint(steps)).all(), "effective coefficients are off the lattice: low bits tell them"


def check_sums(masks: Mechanism, problem: Problem) -> None:
    """Sums are exact to half a step for everybody, and nothing that is sent twice is the same."""
    numbers = np.random.default_rng(2).standard_normal((len(problem.costs), 4))
    tapped = _Tapped(problem.network)
    peers = _hidden(masks, problem, tapped).peers
    error = masks.terms(problem.network, problem.dim).sum_error or 0.0
    for _ in range(2):
        distance = np.abs(np.asarray(peers.sum(numbers)) - numbers.sum(axis=0)).max()
        assert distance <= error + 1e-12, f"a secret sum is off by {distance:.1e}, and {error:.1e} was said"
    first, second = tapped.heard
    assert (first != second).all(), "two sums have the same masks"


def check_apart_equals_together(masks: Mechanism, problem: Problem) -> None:
    """Separate agents find what the stacked simulation finds, and what they find without masks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the seed
        seeded = has_setting(masks, "seed")
        same = with_seed(masks, 1) if seeded else masks
        apart, together = (solve(problem, privacy=same, runtime=runtime) for runtime in ("agents", "stacked"))
    assert together.converged, together.sentence
    size = 1.0 + float(np.abs(together.x).max())
    distance = float(np.abs(apart.x - together.x).max()) / size
    assert distance <= (1e-9 if seeded else 1e-6), f"separate agents find something else, by {distance:.1e}"
    distance = float(np.abs(together.x - solve(problem).x).max()) / size
    assert distance <= 1e-4, f"masks change the answer, by {distance:.1e}"


class _Tapped(Stacked):
    """All agents at once, with what they add up on record."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.heard: list[Any] = []

    def sum(self, v: Any, add: Callable[[Any, Any], Any] = np.add) -> Any:
        """Add up, and keep what was added."""
        self.heard.append(np.array(v))
        return super().sum(v, add)


def _hidden(masks: Mechanism, problem: Problem, peers: Stacked | None = None) -> Hidden:
    """Run phase 1 for all agents at once, from the system's own random bits."""
    network = problem.network
    source = Keystreams(agent_keys(len(network)), network.degrees)
    return masks.hide(problem.stack, peers or Stacked(network), source, network=network)


def _gradients(cost: Any, points: Array, agents: int) -> list[Array]:
    return [np.asarray(cost.grad(np.tile(x, (agents, 1)))) for x in points]
