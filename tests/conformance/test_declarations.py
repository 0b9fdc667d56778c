"""What an algorithm declares: defaults for those that derive from the protocol, five lines for those that do not."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ALGORITHMS, ERRANDS
from tacit.errors import AlgorithmError
from tacit.runtimes.looking import Look
from tacit.runtimes.stopping import StoppingRule
from tacit.solving.solve import prepare
from tacit.testing import check_algorithm, small_problem
from tacit.typing import Algorithm, Findings, Summand

GRAPH = nx.complete_graph(4)
PROBLEM = tacit.Problem(GRAPH, [tacit.Quadratic.distance([float(k)]) for k in range(4)])


class State(NamedTuple):
    x: np.ndarray
    psi: np.ndarray


class _Steps:
    def init(self, x, cost):
        return State(x, x)

    def step(self, state, peers, cost):
        psi = state.x - self.step_size * cost.grad(state.x)
        phi = psi + state.x - state.psi
        return State((phi + peers.mix(phi)) / 2, psi)


@dataclass(frozen=True, slots=True)
class Derived(_Steps, Algorithm):
    """Declares what it adds up, and nothing else."""

    step_size: float = 0.05

    sums = ()


@dataclass(frozen=True, slots=True)
class Undeclared(_Steps, Algorithm):
    """Does not even say that."""

    step_size: float = 0.05


@dataclass(frozen=True, slots=True)
class Foreign(_Steps):
    """Derives from nothing of tacit's."""

    step_size: float = 0.05

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = False
    handles_nonconvex: ClassVar[bool] = False
    sums: ClassVar[tuple[Summand, ...]] = ()
    weights: ClassVar[str] = "metropolis"


@pytest.mark.parametrize("kind", [*ALGORITHMS.values(), *ERRANDS.values()], ids=lambda kind: kind.__name__)
def test_every_algorithm_of_our_own_derives_from_the_protocol(kind):
    assert Algorithm in kind.__mro__
    assert "__dict__" not in dir(kind), "settings are values, with no room for anything else"


@pytest.mark.parametrize("kind", [Derived, Foreign])
def test_an_algorithm_of_somebodys_own_runs_masked_and_unmasked(kind):
    check_algorithm(kind(), exact=True)
    answer = tacit.solve(PROBLEM, algorithm=kind(), privacy=tacit.AffineMasks(10.0, seed=1))
    assert answer.x[0] == pytest.approx(1.5)
    job = prepare(PROBLEM, algorithm=kind(), privacy=None).job
    assert job.findings(State(np.zeros(1), np.zeros(1))) == Findings()
    assert job.watch(None).rule == StoppingRule()


class Estimate(NamedTuple):
    x: np.ndarray
    error: np.ndarray


@pytest.mark.parametrize("kind", [Derived, Foreign])
def test_a_state_may_say_how_far_it_is_from_the_optimum(kind):
    observer = prepare(PROBLEM, algorithm=kind(), privacy=None).job.observer()
    start, end = Estimate(np.zeros(1), np.array(np.inf)), Estimate(np.ones(1), np.array(0.25))
    assert Look.read(observer.tell(start, end)).error == 0.25
    assert Look.read(observer.tell(State(start.x, start.x), State(end.x, end.x))).error is None


def test_nobody_else_looks_at_the_class_of_an_algorithm():
    home = Path(tacit.__file__).parent
    known = "|".join(["Algorithm", *(kind.__name__ for kind in [*ALGORITHMS.values(), *ERRANDS.values()])])
    asks = re.compile(rf"(hasattr|getattr)\([\w.]*algorithm\b|isinstance\([^()]*\b({known})\b")
    asking = {
        path.relative_to(home).as_posix() for path in home.rglob("*.py") if asks.search(path.read_text("utf-8"))
    }
    assert asking == {"algorithms/declarations.py", "solving/choice.py"}  # which reads the settings one by one


def test_an_algorithm_that_does_not_say_what_it_adds_up_has_no_settings():
    """Forgetting it would let masks pass that do not cover the sums: it has no default."""
    with pytest.raises(TypeError, match="sums"):
        Undeclared()


def test_a_foreign_algorithm_that_forgets_a_declaration_is_refused_by_name():
    class Careless(_Steps):
        step_size = 0.05

    with pytest.raises(AlgorithmError, match="Careless does not declare exact, handles_rough, .*sums"):
        tacit.solve(PROBLEM, algorithm=Careless())


def test_tuning_of_a_foreign_algorithm_that_adds_up_still_refuses_costs():
    @dataclass(frozen=True)
    class Picky(_Steps):
        exact: ClassVar[bool] = True
        handles_rough: ClassVar[bool] = False
        handles_nonconvex: ClassVar[bool] = True
        sums: ClassVar[tuple[Summand, ...]] = (Summand.GRADIENTS,)
        weights: ClassVar[str] = "metropolis"

        @classmethod
        def tuned(cls, landscape):
            raise AlgorithmError("not these costs.")

    with pytest.raises(AlgorithmError, match="not these costs"):
        tacit.solve(small_problem(), algorithm=Picky())
