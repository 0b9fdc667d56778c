"""Where little is left to attack or to hide, and where the harness itself is broken: a sentence, never a traceback."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import EXPERIMENTS, audit, settle
from tacit.auditing.experiments.inferred_labels import infer_labels, labels_of
from tacit.auditing.judging.verdict import RISK, VERDICTS
from tacit.auditing.recording import listening

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(31)


@pytest.fixture(autouse=True)
def quicker(experiments):
    """Leave out the seeds, which take the longest and have tests of their own."""
    experiments(*{*EXPERIMENTS} - {"seed enumeration"})


def distances(graph, m=1):
    return tacit.Problem(graph, [tacit.Quadratic.distance(point) for point in RNG.normal(size=(len(graph), m))])


@pytest.mark.parametrize(
    "masks",
    [
        pytest.param(tacit.AffineMasks(2e4), marks=pytest.mark.large),
        pytest.param(tacit.AffineMasks(1e9), marks=pytest.mark.large),
        tacit.AffineMasks(1000.0, bound=100.0),
        pytest.param(tacit.QuadraticMasks(1e5), marks=pytest.mark.large),
        tacit.SumMasks(bound=10.0),
    ],
    ids=repr,
)
def test_made_up_secrets_keep_to_the_public_bound(masks):
    report = audit(distances(nx.complete_graph(5)), [3], privacy=masks, games=2000, seed=1)
    assert report.passed, report.red
    assert sum(verdict.status == "within" for verdict in report.with_masks) >= 4


def test_an_empty_coalition_is_refused():
    problem = distances(nx.complete_graph(4))
    for who in ({"coalition": []}, {"any": 0}, {"any": 4}, {"coalition": range(4)}):
        with pytest.raises(tacit.TacitError, match="somebody must attack"):
            audit(problem, **who)
    with pytest.raises(tacit.TacitError, match="either a coalition or how many"):
        audit(problem)


@pytest.mark.parametrize("who", [{"coalition": [0]}, {"any": 1}], ids=str)
def test_one_of_two_agents_reads_the_other_without_masks(who):
    report = audit(distances(nx.path_graph(2)), masks=False, **who)
    assert report.passed
    assert "1 of 1 other agents" in report.sentence()


@pytest.mark.large
def test_agents_too_far_away_to_be_heard_are_left_undetermined():
    report = audit(distances(nx.path_graph(450)), [0], masks=False, algorithm="dgd")
    assert report.passed, report.red
    read = [row for row in report.rows if row.without_masks is not None]
    assert 0 < len(read) < 449


@pytest.mark.parametrize(
    ("graph", "coalition"),
    [(nx.star_graph(5), [0]), (nx.path_graph(3), [0]), (nx.barbell_graph(3, 1), [3])],
    ids=["hub", "two left", "cut"],
)
@pytest.mark.parametrize("masks", [tacit.AffineMasks(10.0), tacit.SumMasks(), tacit.SumMasks(words=2)], ids=repr)
def test_networks_that_fall_apart_are_audited(graph, coalition, masks):
    report = audit(distances(graph), coalition, privacy=masks, games=2000, seed=4)
    assert report.passed, report.red


def test_a_recorder_that_loses_messages_breaks_the_audit(monkeypatch):
    problem = distances(nx.random_regular_graph(4, 12, seed=1), 2)
    assert audit(problem, [3], algorithm="dgd", masks=False).passed
    monkeypatch.setattr(listening, "ENOUGH", 8)
    report = audit(problem, [3], algorithm="dgd", masks=False)
    assert [verdict.attack for verdict in report.red] == ["recording"]
    monkeypatch.undo()
    keep = listening.Listening._keep

    def deaf(self, kind, senders, receivers, values):
        keep(self, kind, senders[2:], receivers[2:], values[2:])

    monkeypatch.setattr(listening.Listening, "_keep", deaf)
    report = audit(problem, [3], algorithm="dgd", masks=False)
    assert "recording" in [verdict.attack for verdict in report.red]


@pytest.mark.parametrize("masks", [None, tacit.SumMasks()], ids=["plain", "masked"])
def test_a_recorder_that_loses_sums_breaks_the_audit(masks, monkeypatch):
    problem, keep = distances(nx.star_graph(5), 2), listening.Listening._keep

    def deaf(self, kind, senders, receivers, values):
        kept = slice(1, None) if kind == "up" else slice(None)
        keep(self, kind, senders[kept], receivers[kept], values[kept])

    def red():
        report = audit(problem, [0], privacy=masks, algorithm="newton", masks=masks is not None, games=2000, seed=1)
        return [verdict.attack for verdict in report.red]

    assert not red()
    monkeypatch.setattr(listening.Listening, "_keep", deaf)
    assert "recording" in red()


def test_an_audit_that_attacks_nothing_does_not_pass():
    report = audit(distances(nx.complete_graph(4)), [3], masks=False)
    nothing = type(report)(**{**{f: getattr(report, f) for f in report.__struct_fields__}, "without_masks": []})
    assert not nothing.passed
    assert nothing.sentence() == "No attack applies to this run: it was not audited."


def test_there_are_never_more_verdicts_than_share_the_risk_and_a_theory_goes_with_the_roc_curve():
    assert VERDICTS * RISK <= 1e-3
    report = audit(distances(nx.complete_graph(5), 2), [3], privacy=tacit.AffineMasks(10.0), games=4000, seed=1)
    roc = report.plots()["roc"]
    assert np.abs(np.array(roc["theory"]) - np.array(roc["detections"])).mean() < 0.02
    assert len(report.without_masks) + len(report.with_masks) <= VERDICTS - 5


def logistic(records, features=3, agents=6):
    labels = [RNG.integers(0, 2, records).astype(float) for _ in range(agents)]
    costs = [tacit.Logistic(RNG.normal(size=(records, features)), y, l2=0.1) for y in labels]
    return tacit.Problem(nx.complete_graph(agents), costs), labels


@pytest.mark.parametrize("records", [3, 10, 20])
def test_labels_are_known_to_the_simulation_where_there_is_no_choice(records):
    problem, labels = logistic(records)
    assert all(np.array_equal(labels_of(cost), y) for cost, y in zip(problem.costs, labels, strict=True))


def test_labels_are_unknown_where_there_is_a_choice_or_too_many():
    assert labels_of(tacit.Logistic([[1.0], [1.0]], [0, 1])) is None
    problem, _ = logistic(40)
    assert labels_of(problem.costs[0]) is None
    report = audit(problem, [3], masks=False, algorithm="nids")
    assert {v.attack: v.status for v in report.without_masks}["label inference"] == "skipped"
    report = audit(logistic(10)[0], [3], masks=False, algorithm="nids")
    assert {v.attack: v.status for v in report.without_masks}["label inference"] == "open"


def test_labels_behind_masks_are_guessed_as_often_as_the_certificate_allows():
    problem, labels = logistic(5)
    for sigma, status in ((1.0, "within"), (0.2, "within")):
        setting = settle(tacit.AffineMasks(sigma), problem.network, [3], seed=2)
        assert infer_labels(setting, problem.costs, labels).status == status
    thin = settle(tacit.AffineMasks(1.0), problem.network, [3], seed=2)
    object.__setattr__(thin, "masks", _Thinner(1.0))
    assert infer_labels(thin, problem.costs, labels).status == "beaten"


class _Thinner(tacit.AffineMasks):
    """Masks of a tenth of the deviation."""

    def hide(self, cost, *more, **most):
        return tacit.AffineMasks(self.sigma / 10).hide(cost, *more, **most)


def test_whoever_stays_is_as_safe_as_the_network_without_the_leaver_says():
    setting = settle(tacit.AffineMasks(10.0), tacit.Network(nx.random_regular_graph(4, 10, seed=1)), [3], seed=3)
    verdict = EXPERIMENTS["going on without"](setting)
    assert verdict.status == "within"
    assert "exposed exactly" in verdict.says


def test_going_on_with_the_leavers_terms_is_noticed(monkeypatch):
    """Terms that are not cancelled no longer add up to zero."""
    from tacit.auditing.recording import release

    monkeypatch.setattr(release, "Cancelling", lambda peers, gone: peers)
    setting = settle(tacit.AffineMasks(10.0), tacit.Network(nx.random_regular_graph(4, 10, seed=1)), [3], seed=3)
    assert EXPERIMENTS["going on without"](setting).status == "weak"
