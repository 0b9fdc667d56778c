"""The audit goes red for every planted bug, and stays green for what is shipped."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import EXPERIMENTS, audit, settle
from tacit.auditing.experiments.secret_sums import attack_words
from tacit.auditing.experiments.single_words import SINGLE_WORDS
from tacit.auditing.judging.verdict import Verdict
from tacit.auditing.recording.release import Keys
from tacit.auditing.recording.watch import watch_effective
from tacit.auditing.trials.replayed import replay
from tacit.masks import pairing
from tacit.solving import prepare

pytestmark = pytest.mark.filterwarnings("ignore")
GRAPH = nx.random_regular_graph(4, 10, seed=2)
POINTS = np.random.default_rng(0).normal(size=(10, 2))


def problem(cost=tacit.Quadratic.distance):
    return tacit.Problem(GRAPH, [cost(point) for point in POINTS])


def verdicts(masks, cost=tacit.Quadratic.distance):
    report = audit(problem(cost), [3], privacy=masks, games=4000, seed=11)
    assert all(not verdict.is_red for verdict in report.without_masks)
    return report, {verdict.attack: verdict.status for verdict in report.with_masks}


NETWORK = tacit.Network(nx.relabel_nodes(GRAPH, {k: int(k) for k in GRAPH}))
DENSE = tacit.Network(nx.complete_graph(50))
PATH = tacit.Network(nx.path_graph(8))


def judged(experiment, masks, network=NETWORK, coalition=(3,), seed=11):
    """Return what the audit's own experiment says, in the setting that the audit gives it."""
    return EXPERIMENTS[experiment](settle(masks, network, coalition, unknowns=2, seed=seed))


@pytest.mark.parametrize(
    ("masks", "attack", "status"),
    [
        ("ReusedMasks", "mask reuse", "beaten"),
        ("ShortSeed", "seed enumeration", "beaten"),
        ("ShortSeedEach", "seed enumeration", "beaten"),
        ("FloatMasks", "low-order bits", "beaten"),
        ("ForgottenLink", "law of the masks", "beaten"),
        ("HalfSigma", "law of the masks", "beaten"),
        ("DoubleSigma", "law of the masks", "weak"),
        ("NotZeroSum", "law of the masks", "weak"),
        ("HessiansInClear", "law of the masks", "beaten"),
    ],
)
def test_a_broken_mechanism_turns_its_experiment_red(masks, attack, status, mutants):
    assert judged(attack, getattr(mutants, masks)(100.0)).status == status


@pytest.mark.parametrize("status", ["beaten", "weak"])
def test_every_experiment_that_is_red_turns_the_audit_red(status, monkeypatch):
    """The audit asks all of them about the mechanism, the network and the coalition that it was given."""
    asked = []

    def red(name):
        def experiment(setting):
            asked.append((type(setting.masks), len(setting.network), setting.coalition, setting.unknowns))
            return Verdict(attack=name, status=status, says="as planted")

        return experiment

    names = [*EXPERIMENTS]
    for name in names:
        monkeypatch.setitem(EXPERIMENTS, name, red(name))
    report, _ = verdicts(tacit.AffineMasks(100.0))
    assert [verdict.attack for verdict in report.red] == names
    assert not report.passed
    assert report.sentence().startswith("RED")
    assert set(asked) == {(tacit.AffineMasks, 10, (3,), 2)}
    assert len(asked) == len(names)


@pytest.mark.parametrize(
    ("masks", "attack"), [("ReusedWords", "two sums"), ("TellsLater", "phase 2 replayed")], ids=str
)
def test_what_is_no_experiment_turns_the_audit_red_too(masks, attack, mutants, experiments):
    experiments()
    kind = getattr(mutants, masks)
    report, found = verdicts(kind() if issubclass(kind, tacit.SumMasks) else kind(100.0))
    assert not report.passed
    assert report.sentence().startswith("RED")
    assert found[attack] == "beaten", report.red
    assert not issubclass(kind, tacit.SumMasks) or set(SINGLE_WORDS) <= set(found)


def test_a_broken_mechanism_turns_the_whole_audit_red_and_is_not_called_private(mutants):
    """All experiments, and the games: half of σ loses one. The stamps know nothing of it: the attacks do."""
    report, found = verdicts(mutants.HalfSigma(100.0))
    assert set(EXPERIMENTS) <= set(found)
    assert found["law of the masks"] == found["distinguishing game"] == "beaten", report.red
    assert not report.passed
    assert report.sentence().startswith("RED")
    assert not any(stamp.voids for stamp in report.stamps if stamp.reason != "seed")
    assert not report.private
    assert report.privacy[0].startswith("NOT PRIVATE: an attack beats the certificate")
    assert not any(line.startswith(("Against", "An observer")) for line in report.privacy)


@pytest.mark.parametrize(
    ("masks", "experiment", "more"),
    [
        ("CoordinatePairs", "law of the masks", {}),
        ("CoordinatePairs", "joint law", {}),
        ("SameToCoalition", "law of the masks", {}),
        ("SameToCoalition", "every link by itself", {}),
        ("SumToCoalition", "law of the masks", {}),
        ("SumToCoalition", "every link by itself", {}),
        ("SharedKey", "every link by itself", {}),
        ("CoarseMasks", "low-order bits", {}),
        ("LowBitsForgotten", "low-order bits", {}),
        ("LowBitsForgotten", "low-order bits", {"bits": 1}),
        ("LowBitsOfOneLink", "low-order bits", {}),
        ("Coins", "every link by itself", {}),
        ("UniformMasks", "every link by itself", {}),
        ("OneThinLink", "every link by itself", {}),
        ("ThreePerCentThin", "law of the masks", {}),
        ("CancellingLink", "every link by itself", {}),
        ("LastCoordinate", "joint law", {}),
        ("EveryOtherRun", "joint law", {}),
        ("OneLinkAgain", "mask reuse", {}),
        ("ThinLinearPart", "law of the masks", {}),
        ("ThinLinearPart", "law of the masks", {"share": 0.9}),
        ("ThinLinearPart", "every link by itself", {"share": 0.1}),
        ("ThinDiagonal", "law of the masks", {}),
        ("ThinDiagonal", "law of the masks", {"share": 0.9}),
    ],
)
def test_a_broken_law_is_noticed_by_the_attack_on_it(masks, experiment, more, mutants):
    verdict = judged(experiment, getattr(mutants, masks)(100.0, **more))
    assert verdict.is_red, verdict


@pytest.mark.parametrize("share", [*(pytest.param(share, marks=pytest.mark.large) for share in (0.0, 0.8)), 0.9])
def test_one_thin_link_among_a_thousand_is_noticed(share, mutants):
    assert judged("every link by itself", mutants.OneThinLink(100.0, share=share), DENSE).status == "beaten"


def test_the_size_of_a_defect_that_would_show_is_published():
    verdict = judged("every link by itself", tacit.AffineMasks(100.0))
    assert verdict.says.endswith("a σ that is 3 % too small would show")


@pytest.fixture
def no_single_words(monkeypatch):
    """Leave out the looks at single words, which take longest; `test_dependent` has one mutant for each of them."""
    for name in [*SINGLE_WORDS]:
        monkeypatch.delitem(SINGLE_WORDS, name)


@pytest.mark.usefixtures("no_single_words")
@pytest.mark.parametrize("words", [1, pytest.param(2, marks=pytest.mark.large)])  # two words are one beside another
@pytest.mark.parametrize(
    ("masks", "attack", "network"),
    [
        ("ReusedWords", "two sums", NETWORK),
        ("NoWords", "uniform words", NETWORK),
        ("WordsForgottenLink", "every link by itself", NETWORK),
        ("WordsForgottenLink", "cuts", PATH),
        ("OneWordForAll", "uniform words", NETWORK),
        ("LowHalfOfWords", "uniform words", NETWORK),
        ("WordsReusedWithinRun", "two sums", NETWORK),
        ("WordsReusedWithinRun", "every link by itself", NETWORK),
    ],
)
def test_broken_secret_sums_are_noticed(masks, attack, network, words, mutants):
    kind = getattr(mutants, masks)(words=words)
    if masks == "WordsForgottenLink" and network is NETWORK and not network.graph.has_edge(4, 5):
        pytest.skip("no such link")
    found = attack_words(kind, network, (0,), keys=Keys(3), rng=np.random.default_rng(3))
    assert {verdict.attack: verdict.status for verdict in found}[attack] == "beaten", found


@pytest.mark.usefixtures("no_single_words")
@pytest.mark.parametrize(
    "masks", [tacit.AffineMasks(100.0, pairing="seeds"), tacit.SumMasks(pairing="seeds")], ids=repr
)
def test_terms_from_shared_keys_are_attacked_as_they_are(masks, monkeypatch):
    """Both keys of every link the same, or the same two for all links: the real class is what is attacked."""

    def red():
        if isinstance(masks, tacit.SumMasks):
            found = attack_words(masks, NETWORK, (3,), keys=Keys(3), rng=np.random.default_rng(3))
        else:
            found = [judged(name, masks) for name in ("law of the masks", "every link by itself")]
        return [verdict.is_red for verdict in found]

    assert not any(red())
    same, keys = bytes(32), (bytes(32), bytes([1] * 32))
    monkeypatch.setattr(pairing, "_shared", lambda own, mine, theirs, first, row: (same, same))
    assert any(red())
    monkeypatch.setattr(pairing, "_shared", lambda own, mine, theirs, first, row: keys if first else keys[::-1])
    assert any(red())


@pytest.mark.parametrize("after", [2, 20, 35])
@pytest.mark.parametrize("family", ["quadratic", "logistic"])
def test_whatever_phase_2_says_beyond_the_effective_costs_is_noticed(after, family, mutants):
    """Late, and with costs of any family: every exchange is worked out again."""
    rng, costs = np.random.default_rng(1), [tacit.Quadratic.distance(point) for point in POINTS]
    if family == "logistic":
        costs = [tacit.Logistic(rng.normal(size=(40, 2)), rng.integers(0, 2, 40), l2=0.1) for _ in range(10)]
    given = tacit.Problem(GRAPH, costs)
    for masks, status in ((mutants.TellsLater(100.0, after=after), "beaten"), (tacit.AffineMasks(100.0), "within")):
        job = prepare(given, privacy=masks, algorithm="nids", max_rounds=40).job
        view, effective, _ = watch_effective(job, [3])
        assert replay(job, view, effective, [3], exactly=True).status == status


def test_constants_in_effective_costs_turn_the_audit_red(mutants, experiments):
    experiments()  # they make up secrets of their own, and never see these costs
    report, found = verdicts(tacit.AffineMasks(100.0), mutants.WithConstant.around)
    assert found["constants"] == "beaten"
    assert [verdict.attack for verdict in report.red] == ["constants"]


@pytest.mark.parametrize(
    "masks",
    [
        tacit.AffineMasks(100.0),
        pytest.param(tacit.AffineMasks(1e-3), marks=pytest.mark.large),
        tacit.AffineMasks(100.0, link_scales={tuple(edge): 2.0 for edge in list(GRAPH.edges)[:6]}),
        tacit.QuadraticMasks(100.0),
        tacit.SumMasks(),
        tacit.SumMasks(words=2),
        tacit.AffineMasks(100.0, pairing="one-sided"),
    ],
    ids=repr,
)
def test_what_is_shipped_stays_green(masks, experiments):
    experiments(*{*EXPERIMENTS} - {"seed enumeration"})  # the longest, and done once in the next test
    report, found = verdicts(masks)
    assert report.passed, report.red
    assert "beaten" not in found.values()
    assert list(found.values()).count("within") >= 4


@pytest.mark.fresh
@pytest.mark.large
def test_the_audit_without_a_seed_is_green_too():
    """Fresh masks from the system: three audits in a row give a false alarm once in 10⁹, at 0.1 % each."""
    for _ in range(3):
        report = audit(problem(), any=1, privacy=tacit.AffineMasks(100.0), games=4000)
        if report.passed:
            break
    assert report.passed, report.red
    assert report.private


def test_where_no_coalition_is_worse_than_another_the_best_placed_one_attacks():
    """No single agent cuts this network, so secret sums are as safe from any of them."""
    report = audit(problem(), any=1, privacy=tacit.SumMasks(), games=2000, seed=1)
    assert len(report.coalition) == 1
    assert report.passed
    plain = audit(problem(), any=1, masks=False)
    assert (len(plain.coalition), plain.mechanism, plain.private) == (1, "none", False)
    assert plain.certificate is None
