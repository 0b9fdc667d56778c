"""Whatever algorithm is run, one of ours or a stranger's, it is attacked; and an attack that does not apply says why."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import ATTACKS, EXPERIMENTS, audit, public_knowledge, watch
from tacit.auditing import attacks as attacks_package
from tacit.auditing.attacks.observability import Observability
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.solving import prepare
from tacit.testing import check_attack
from tacit.typing import Summand

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(41)
GRAPH = nx.random_regular_graph(4, 12, seed=3)


@pytest.fixture(autouse=True)
def quicker(monkeypatch):
    """Leave out the seeds, which take two seconds and have tests of their own."""
    monkeypatch.delitem(EXPERIMENTS, "seed enumeration")


def problem(graph=GRAPH, m=2):
    return tacit.Problem(graph, [tacit.Quadratic.distance(p) for p in RNG.normal(size=(len(graph), m))])


def recorded(given, coalition, algorithm, privacy=None, rounds=60, **more):
    job = prepare(given, privacy=privacy, algorithm=algorithm, max_rounds=rounds).job
    return watch(job, coalition, **more), public_knowledge(given, job)


def truth_of(given):
    return given.stack.grad(np.tile(given.x0, (len(given.costs), 1)))


@dataclass(frozen=True, slots=True)
class Gossiping:
    """What algorithms that gossip share."""

    step_size: float = 0.1

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = False
    handles_nonconvex: ClassVar[bool] = False
    sums: ClassVar[tuple[Summand, ...]] = ()
    weights: ClassVar[str] = "metropolis"


class Heavy(NamedTuple):
    x: np.ndarray
    before: np.ndarray


class HeavyBall(Gossiping):
    """A stranger's: two exchanges a round, momentum, and a gradient between the two."""

    def init(self, x, cost):
        return Heavy(x, x)

    def step(self, state, peers, cost):
        ahead = peers.mix(state.x + 0.3 * (state.x - state.before))
        return Heavy(peers.mix(ahead - self.step_size * cost.grad(ahead)), state.x)


class Tracking(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    g: np.ndarray


class TrackingAtOnce(Gossiping):
    """A stranger's: gradient tracking that says both of its vectors in one exchange."""

    def init(self, x, cost):
        g = cost.grad(x)
        return Tracking(x, g, g)

    def step(self, state, peers, cost):
        both = peers.mix(np.concatenate([state.x, state.y], axis=-1))
        mixed, tracked = np.split(both, 2, axis=-1)
        x = mixed - self.step_size * state.y
        g = cost.grad(x)
        return Tracking(x, tracked + g - state.g, g)


class LocalSteps(Gossiping):
    """A stranger's: three steps at home, each as long as the own curvature allows, before anything is said."""

    def init(self, x, cost):
        return Heavy(x, x)

    def step(self, state, peers, cost):
        x = state.x
        for _ in range(3):
            x = x - self.step_size / np.asarray(cost.smoothness)[..., None] * cost.grad(x)
        return Heavy(peers.mix(x), state.x)


class SumsAndGossip(Gossiping):
    """A stranger's: gossips, and adds up how many take part."""

    def init(self, x, cost):
        return Heavy(x, x)

    def step(self, state, peers, cost):
        count = peers.sum(np.ones((*cost.affine.shape[:-1], 1)))
        return Heavy(peers.mix(state.x - self.step_size / count * cost.grad(state.x)), state.x)


class EdgeState(NamedTuple):
    x: np.ndarray
    z: np.ndarray


class Edges(Gossiping):
    """A stranger's: every link has a number of its own, and neighbours are told different things."""

    def init(self, x, cost):
        return EdgeState(x, np.zeros_like(x))

    def step(self, state, peers, cost):
        x = state.x - self.step_size * (cost.grad(state.x) + state.z)
        rows = (
            np.repeat(x, np.asarray(peers.degree, dtype=int).ravel(), axis=0)
            if x.ndim > 1
            else np.stack([x] * peers.links)
        )
        rows = rows * np.where(peers.first, 1.0, 0.5)[:, None]
        pull = peers.total(rows * np.where(peers.first, 0.5, 1.0)[:, None] / 0.5 - peers.swap(rows))
        return EdgeState(x - 0.02 * pull, state.z)


class Normalised(Gossiping):
    """A stranger's, and not linear: steps of length one."""

    def init(self, x, cost):
        return Heavy(x, x)

    def step(self, state, peers, cost):
        g = cost.grad(state.x)
        return Heavy(peers.mix(state.x - self.step_size * g / np.linalg.norm(g, axis=-1, keepdims=True)), state.x)


class Stubborn(Gossiping):
    """A stranger's, that raises on any cost but its own."""

    def init(self, x, cost):
        assert not type(cost).__module__.startswith("tacit.auditing"), "I do not know this cost"
        return Heavy(x, x)

    def step(self, state, peers, cost):
        return Heavy(peers.mix(state.x - self.step_size * cost.grad(state.x)), state.x)


class Walked(NamedTuple):
    x: np.ndarray
    g: np.ndarray


@dataclass(frozen=True, slots=True)
class ScaledSums:
    """A stranger's: the first sum is of nothing, and the second of gradients, turned around and scaled."""

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = False
    handles_nonconvex: ClassVar[bool] = True
    sums: ClassVar[tuple[Summand, ...]] = (Summand.GRADIENTS,)
    weights: ClassVar[str] = "metropolis"

    def init(self, x, cost):
        return Walked(x, np.zeros_like(x))

    def step(self, state, peers, cost):
        count = peers.sum(np.ones((*cost.affine.shape[:-1], 1)))
        downhill = peers.sum(np.concatenate([-0.25 * cost.grad(state.x)[..., ::-1], 0.5 * cost.affine], axis=-1))
        step = downhill[: len(state.x)][::-1] / count
        return Walked(state.x + step, step)


STRANGERS = [HeavyBall(), Edges(), TrackingAtOnce(), LocalSteps(), SumsAndGossip()]


@pytest.mark.parametrize("algorithm", STRANGERS, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("sigma", [None, 100.0])
def test_a_strangers_algorithm_is_attacked_without_further_work(algorithm, sigma):
    given = problem()
    privacy = None if sigma is None else tacit.AffineMasks(sigma, seed=2)
    view, public = recorded(given, [3], algorithm, privacy)
    assert Observability().misses(view, public) is None
    found = Observability()(view, public)
    assert len(found.agents) == 11
    errors = found.values - truth_of(given)[found.agents]
    if sigma is None:
        assert np.abs(errors).max() <= 1e-6
    else:
        assert np.sqrt(np.square(errors).mean()) > 50.0


@pytest.mark.parametrize(
    ("algorithm", "least"),
    [(HeavyBall(), 20), (TrackingAtOnce(), 40), (SumsAndGossip(), 40)],
    ids=lambda value: type(value).__name__,
)
def test_a_strangers_algorithm_is_replayed_by_its_own_step(algorithm, least):
    """Costs of which nothing is known: the gradients of all neighbours at many points, and no formula for it."""
    labels = [RNG.integers(0, 2, 30) for _ in range(5)]
    costs = [tacit.Logistic(RNG.normal(size=(30, 3)), y, l2=0.1) for y in labels]
    given = tacit.Problem(nx.complete_graph(5), costs)
    view, public = recorded(given, [4], algorithm)
    assert Replay().misses(view, public) is None
    readings = Replay().readings(view, public)
    assert {reading.agent for reading in readings} == {0, 1, 2, 3}
    assert len(readings) >= 4 * least
    for reading in readings:
        np.testing.assert_allclose(reading.gradient, costs[reading.agent].grad(reading.point), atol=1e-6)


def test_what_neighbours_are_told_one_by_one_is_replayed_too():
    given = problem(nx.complete_graph(4))
    view, public = recorded(given, [3], Edges())
    assert Replay().misses(view, public) is None
    found = Replay()(view, public)
    np.testing.assert_allclose(found.values, truth_of(given)[found.agents], atol=1e-6)
    assert found.agents.tolist() == [0, 1, 2]


def test_a_strangers_attackable_algorithm_passes_the_kit():
    for attack in (Replay(), Observability()):
        check_attack(attack, algorithm=HeavyBall(step_size=0.05))


@pytest.mark.parametrize("masks", [None, tacit.AffineMasks(50.0)], ids=["plain", "masked"])
def test_the_whole_audit_runs_on_a_strangers_algorithm(masks, experiments):
    experiments("law of the masks")  # they make up secrets of their own, and run no algorithm
    report = audit(
        problem(), [3], privacy=masks, algorithm=HeavyBall(), masks=masks is not None, games=2000, seed=1
    )
    assert report.passed, report.red
    assert "11 of 11" in report.sentence()


def test_gradients_in_a_strangers_sums_are_found_wherever_they_are():
    given = problem(nx.star_graph(4))
    view, public = recorded(given, [0], ScaledSums(), rounds=5)
    found = TreeSums()(view, public)
    assert found.agents.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(found.values, truth_of(given)[1:], atol=1e-12)


@pytest.mark.parametrize("algorithm", ["bracket", "direct", "newton", "lbfgs", "fista", ScaledSums()], ids=str)
def test_every_algorithm_by_sums_is_read_as_much_as_every_other(algorithm):
    """The default of dispatch is one of them."""
    given = problem(nx.barbell_graph(3, 0), m=1)
    report = audit(given, [3], masks=False, algorithm=algorithm)  # two leaves hang below it
    assert report.passed, report.red
    assert sum(row.without_masks is not None for row in report.rows) == 2
    assert {v.attack: v.status for v in report.without_masks}["tree sums"] == "open"


def test_what_stands_between_members_of_a_tree_is_read_too():
    """Nobody below 1 but a member: what it adds up is the difference of what it sends and what it is sent."""
    given = problem(nx.path_graph(5))
    view, public = recorded(given, [0, 2], "direct")
    found = TreeSums()(view, public)
    assert found.agents.tolist() == [1]
    np.testing.assert_allclose(found.values, truth_of(given)[[1]], atol=1e-9)


@pytest.mark.parametrize(
    ("algorithm", "why"),
    [(Normalised(), "not linear"), (Stubborn(), "does not run")],
    ids=lambda value: type(value).__name__,
)
def test_an_algorithm_that_cannot_be_followed_is_skipped_with_a_reason(algorithm, why):
    view, public = recorded(problem(), [3], algorithm)
    for attack in (Replay(), Observability()):
        assert why in attack.misses(view, public)
    report = audit(problem(), [3], algorithm=algorithm, masks=False)
    assert not report.passed
    assert "not audited" in report.sentence()


def test_every_attack_is_in_the_report_with_a_verdict_or_a_reason(experiments):
    experiments("law of the masks", "mask reuse")
    report = audit(problem(), [3], algorithm="nids", privacy=tacit.AffineMasks(50.0), games=2000, seed=1)
    for verdicts in (report.without_masks, report.with_masks):
        said = {verdict.attack: verdict for verdict in verdicts}
        assert {attack.name for attack in ATTACKS} <= set(said)
        assert all(verdict.says for verdict in verdicts)
    assert said["tree sums"].says == "nothing is added up over a tree"


def test_no_attack_knows_an_algorithm_by_its_name():
    """Lists of names go out of date the day that an algorithm is added."""
    folder = Path(attacks_package.__file__).parent
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name, kind in tacit.algorithms.ALGORITHMS.items():
            assert f'"{name}"' not in text, path
            assert f"import {kind.__name__}" not in text, path


def test_separate_agents_running_a_strangers_algorithm_are_heard_as_well():
    given = problem()
    job = prepare(given, algorithm=Edges(), max_rounds=20).job
    public = public_knowledge(given, job)
    together, apart = (
        Observability()(watch(job, [3], runtime=runtime), public) for runtime in ("stacked", "agents")
    )
    assert together.agents.tolist() == apart.agents.tolist()
    np.testing.assert_allclose(apart.values, together.values, atol=1e-6)
