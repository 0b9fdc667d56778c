"""One of every result that can be shown, small, made once."""

import warnings

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.runtimes.peers import LinkTimes
from tacit.runtimes.peers.spells import Spell

TIMES = LinkTimes(
    42.0,
    {
        ("north", "east"): (Spell(0.4, 12.0, "silent"), Spell(15.0, 41.0, "closed")),
        ("north", "west"): (Spell(1.2, 41.5, "closed"),),
        ("north", "south"): (),
    },
)


@pytest.fixture(name="member_of", scope="session")
def making_members():
    return member_of


@pytest.fixture(scope="session")
def network():
    return nx.random_regular_graph(4, 12, seed=1)


@pytest.fixture(scope="session")
def problem(network):
    rng = np.random.default_rng(0)
    return tacit.Problem(network, [tacit.Quadratic.distance(rng.normal(size=2)) for _ in network])


@pytest.fixture(scope="session")
def answer(problem):
    return tacit.solve(problem, privacy=tacit.AffineMasks(50.0))


@pytest.fixture(scope="session")
def model():
    from tacit.learning import PrivateLogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = (X @ [1.0, -0.5, 0.0] + rng.logistic(size=120) > 0).astype(int)
    return PrivateLogisticRegression().fit(X, y, groups=np.arange(120) % 6)


def member_of(answer, links=TIMES):
    """Return what a member of a federation would be told of such a run."""
    from tacit.federation import Statements
    from tacit.learning.reporting import MemberReport
    from tacit.runtimes import Conclusion
    from tacit.runtimes.phases import Outcome

    record = answer.record
    verdict = Conclusion(record.status, record.sentence)
    outcome = Outcome(answer.x, record.phase2.rounds, verdict, tuple(record.history))
    certificate = answer.certificate(any=1)
    privacy = Statements(record.stamps, certificate, [certificate.statement()])
    return MemberReport("a" * 64, outcome, privacy, None, links)


@pytest.fixture(scope="session")
def results(network, problem, answer, model):
    """Every kind of result, by name, with what its report takes beside."""
    from tacit.comparing import race
    from tacit.dispatch import dispatch

    cut = nx.barbell_graph(4, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = tacit.solve(problem)
        audit = tacit.audit(problem, {0}, privacy=tacit.AffineMasks(50.0), games=200, seed=1)
    return {
        "answer": (answer, {}),
        "answer of processes": (answer, {"links": TIMES}),
        "answer by sums": (tacit.solve(problem, protect="whole"), {}),
        "answer without masks": (plain, {}),
        "certificate": (tacit.certify(network, any=2, sigma=10.0), {"network": network}),
        "certificate of a cut": (tacit.certify(cut, {4}, sigma=10.0), {"network": cut}),
        "certificate of sums": (tacit.certify(network, any=1, sigma=np.inf), {}),
        "design": (tacit.design(agents=12, any=1, guess=0.55, draws=3, seed=1), {}),
        "augmentation": (tacit.augment(nx.path_graph(5), any=1), {}),
        "audit": (audit, {}),
        "dispatch": (dispatch("case9"), {}),
        "dispatch with a full line": (dispatch("case5"), {}),
        "day": (dispatch("case9", profile=[0.7, 1.0, 0.9]), {}),
        "model": (model, {}),
        "member": (member_of(answer), {}),
        "comparison": (tacit.compare(problem, only=["tacit"], sigma=50.0, seed=1), {}),
        "race": (race(problem, ["nids", "dgd"], seeds=1, max_exchanges=300), {}),
        "summary": (model.summary_, {}),
    }
