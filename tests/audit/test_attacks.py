"""Every attack both ways: it succeeds where nothing is hidden, and stays within the certificate where something is."""

import dataclasses
from itertools import product

import msgspec
import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import tacit
from tacit.auditing import Estimate, public_knowledge, watch
from tacit.auditing.attacks import replay
from tacit.auditing.attacks.candidates import Candidates
from tacit.auditing.attacks.constants import Constants
from tacit.auditing.attacks.differences import GradientDifferences
from tacit.auditing.attacks.labels import LabelInference, likeliest_labels
from tacit.auditing.attacks.likelihood import MaximumLikelihood
from tacit.auditing.attacks.linking import Linking
from tacit.auditing.attacks.observability import Observability
from tacit.auditing.attacks.participants import ChangedParticipants
from tacit.auditing.attacks.prior import GaussianPrior
from tacit.auditing.attacks.prior_knowledge import PriorKnowledge
from tacit.auditing.attacks.repair import DropoutRepair
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.attacks.retries import Retries
from tacit.auditing.attacks.reuse import MaskReuse
from tacit.auditing.attacks.subset_sum import SubsetSum
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.auditing.knowledge.view import Exchange
from tacit.auditing.recording.release import Keys, release
from tacit.solving import prepare
from tacit.testing import check_attack

pytestmark = pytest.mark.filterwarnings("ignore")


def recorded(problem, coalition, *, algorithm="nids", privacy=None, **more):
    job = prepare(problem, privacy=privacy, algorithm=algorithm, max_rounds=60).job
    return watch(job, coalition, **more), public_knowledge(problem, job)


def distances(graph, points):
    return tacit.Problem(graph, [tacit.Quadratic.distance(np.atleast_1d(p)) for p in points])


GOSSIP = [name for name, kind in tacit.algorithms.ALGORITHMS.items() if not kind.sums]


@pytest.mark.parametrize("algorithm", GOSSIP)
@pytest.mark.parametrize("attack", [Replay(), Observability()], ids=lambda attack: attack.name)
def test_every_attack_on_messages_conforms(attack, algorithm):
    check_attack(attack, algorithm=algorithm)


def test_maximum_likelihood_conforms():
    check_attack(MaximumLikelihood(), open_without_masks=False)


def test_the_kit_catches_what_is_wrong():
    """A kit that cannot fail proves nothing: an attack that guesses, one that claims too much, one that remembers."""

    class Guesses(Replay):
        def __call__(self, view, public):
            return scaled(super().__call__(view, public), scale=1.01)

    class Boasts(Replay):
        def __call__(self, view, public):
            found = super().__call__(view, public)
            return Estimate(agents=found.agents, values=found.values, deviations=0.0 * found.deviations)

    class Remembers(Replay):
        calls = 0

        def __call__(self, view, public):
            Remembers.calls += 1
            return scaled(super().__call__(view, public), scale=1.0 + Remembers.calls)

    for attack, complaint in ((Guesses(), "off by"), (Boasts(), "surer"), (Remembers(), "more than")):
        with pytest.raises(AssertionError, match=complaint):
            check_attack(attack)


def scaled(estimate, scale):
    return Estimate(agents=estimate.agents, values=scale * estimate.values, deviations=estimate.deviations)


@pytest.mark.parametrize("algorithm", ["dgd", "extra", "nids", "admm"])
@pytest.mark.parametrize("sigma", [None, 1e3])
def test_differences_of_gradients_tell_the_curvature_for_every_sigma(algorithm, sigma):
    rng = np.random.default_rng(2)
    curvatures = [np.diag(rng.uniform(1.0, 3.0, 2)) + 0.3 for _ in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), [tacit.Quadratic(P, rng.normal(size=2)) for P in curvatures])
    privacy = None if sigma is None else tacit.AffineMasks(sigma, seed=2)
    view, public = recorded(problem, [3], algorithm=algorithm, privacy=privacy)
    found = GradientDifferences()(view, ignorant(public))
    assert found.agents.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.values.reshape(-1, 2, 2), curvatures[:3], atol=1e-5)


def ignorant(public):
    """Return public knowledge without the curvatures, which this attack finds by itself."""
    return msgspec.structs.replace(public, curvatures=None)


def test_admm_is_replayed_without_knowing_the_curvature():
    problem = distances(nx.complete_graph(3), [1.0, 2.0, 6.0])
    view, public = recorded(problem, [2], algorithm="admm")
    found = Replay()(view, ignorant(public))
    np.testing.assert_allclose(found.values[:, 0], [-2.0, -4.0], atol=1e-6)


def test_the_papers_constants_tell_what_its_masks_hide(mutants):
    """X10: with x₁², x₂² in the effective costs and x₁ + x₂ known, agent 3 solves for both."""
    points = [1.5, 2.25, 6.0]
    problem = tacit.Problem(nx.complete_graph(3), [mutants.WithConstant.around([p]) for p in points])
    view, public = recorded(problem, [2], privacy=tacit.AffineMasks(1e3, seed=1), worst_case=True)
    squares = Constants()(view, public).values[:, 0] * 2.0 / 4.0  # gᵀP⁻¹g = 2x²
    np.testing.assert_allclose(squares, np.square(points[:2]), atol=1e-9)
    clean = distances(nx.complete_graph(3), points)
    view, public = recorded(clean, [2], privacy=tacit.AffineMasks(1e3, seed=1), worst_case=True)
    assert len(Constants()(view, public).agents) == 0


def release_of(secrets, network, coalition=(0,), sigma=10.0, keys=None):
    done = release(tacit.AffineMasks(sigma), network, secrets, coalition, keys=keys or Keys(1))
    return done.views[0], done.public


NETWORK = tacit.Network(nx.random_regular_graph(4, 10, seed=1))


def test_averaging_beats_the_masks_like_the_root_of_the_number_of_runs():
    secrets, keys = np.random.default_rng(1).normal(size=(10, 3000)), Keys(2)
    runs = [release_of(secrets, NETWORK, keys=keys) for _ in range(9)]
    one = Retries()([runs[0][0]], runs[0][1])
    nine = Retries()([view for view, _ in runs], runs[0][1])
    errors = [np.square(found.values - secrets[found.agents]).mean() for found in (one, nine)]
    assert errors[0] / errors[1] == pytest.approx(9.0, rel=0.05)
    np.testing.assert_allclose(nine.deviations, one.deviations / 3.0)


def test_masks_that_are_used_again_cancel_in_the_difference():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 10, 50))
    same = [
        release_of(secrets, NETWORK, keys=Keys(4)) for secrets in (first, second)
    ]  # the same keys: a planted bug
    found = MaskReuse()(same[0][0], same[1][0], same[0][1])
    np.testing.assert_allclose(found.values, (first - second)[found.agents], atol=1e-9)
    fresh = Keys(4)
    apart = [release_of(secrets, NETWORK, keys=fresh) for secrets in (first, second)]
    found = MaskReuse()(apart[0][0], apart[1][0], apart[0][1])
    assert np.abs(found.values - (first - second)[found.agents]).mean() > 10.0


def test_one_agent_that_leaves_between_two_runs_is_exposed():
    secrets = np.random.default_rng(5).normal(size=(10, 4))
    names = tuple(str(a) for a in NETWORK.agents)
    rest = tacit.Network(NETWORK.graph.subgraph([a for a in NETWORK.agents if a != NETWORK.agents[7]]))
    kept = [NETWORK.index[a] for a in rest.agents]
    one, public = release_of(secrets, NETWORK, keys=Keys(6))
    member = [rest.index[NETWORK.agents[0]]]
    other, public_of_other = release_of(secrets[kept], rest, member, keys=Keys(7))
    attack = ChangedParticipants(names, tuple(names[k] for k in kept))
    found = attack(one, other, public, public_of_other)
    assert found.agents.tolist() == [7]
    np.testing.assert_allclose(found.values[0], secrets[7], atol=1e-9)
    nobody = ChangedParticipants(names, names)(one, one, public, public)
    assert len(nobody.agents) == 0


def test_revealing_the_masks_of_somebody_who_left_exposes_it_if_its_cost_was_seen():
    secrets = np.random.default_rng(8).normal(size=(10, 3))
    everything, public = release_of(secrets, NETWORK, coalition=range(10), keys=Keys(9))
    j = 4
    swap = everything.only("swap")[0]
    near = (swap.senders == j) | (swap.receivers == j)
    revealed = Exchange(
        kind="swap", senders=swap.senders[near], receivers=swap.receivers[near], values=swap.values[near]
    )
    seen, _ = release_of(secrets, NETWORK, keys=Keys(9))
    found = DropoutRepair(left=j)(seen, revealed, public)
    np.testing.assert_allclose(found.values[0], secrets[j], atol=1e-9)
    unseen = msgspec.structs.replace(seen, published=None)  # the barrier: nothing of it was published
    assert len(DropoutRepair(left=j)(unseen, revealed, public).agents) == 0
    partly = Exchange(
        kind="swap", senders=revealed.senders[:2], receivers=revealed.receivers[:2], values=revealed.values[:2]
    )
    assert len(DropoutRepair(left=j)(seen, partly, public).agents) == 0


def test_knowing_others_leaves_what_the_kron_reduction_says():
    secrets = np.random.default_rng(10).normal(size=(10, 4000))
    view, public = release_of(secrets, NETWORK, keys=Keys(3))
    known = (2, 5, 7)
    attack = PriorKnowledge(known=tuple((i, tuple(secrets[i].tolist())) for i in known))
    found = attack(view, public)
    law = tacit.leakage(NETWORK, [NETWORK.agents[0]], sigma=10.0).knowing([NETWORK.agents[i] for i in known])
    predicted = law.deviations()
    measured = np.sqrt(np.square(found.values - secrets[found.agents]).mean(axis=1))
    for agent, claimed, seen in zip(found.agents, found.deviations, measured, strict=True):
        assert claimed == pytest.approx(predicted[NETWORK.agents[agent]])
        assert seen == pytest.approx(claimed, rel=0.06)


def test_a_prior_leaves_what_the_certificate_says():
    secrets = 5.0 * np.random.default_rng(11).normal(size=(10, 4000))
    view, public = release_of(secrets, NETWORK, keys=Keys(3))
    found = GaussianPrior(deviation=5.0)(view, public)
    law = tacit.leakage(NETWORK, [NETWORK.agents[0]], sigma=10.0)
    measured = np.sqrt(np.square(found.values - secrets[found.agents]).mean(axis=1))
    for agent, claimed, seen in zip(found.agents, found.deviations, measured, strict=True):
        assert claimed == pytest.approx(law.posterior_deviation(NETWORK.agents[agent], 5.0))
        assert seen == pytest.approx(claimed, rel=0.06)


@pytest.mark.parametrize(("sigma", "least", "most"), [(0.05, 0.99, 1.0), (0.6, 0.2, 0.9), (25.0, 0.05, 0.22)])
def test_labels_behind_masks_are_found_as_often_as_the_noise_lets_them(sigma, least, most):
    """Three records each at two honest agents, with opposite labels: all eight labellings have the same sum."""
    rng = np.random.default_rng(12)
    network, hits = tacit.Network(nx.complete_graph(3)), 0
    options = tuple(tuple(tuple((-np.array(y)).tolist()) for y in np.ndindex(2, 2, 2)) for _ in range(2))
    for trial in range(200):
        y = rng.integers(0, 2, 3)
        secrets = np.vstack([-y, y - 1, np.zeros(3)]).astype(float)
        view, public = release_of(secrets, network, coalition=(2,), sigma=sigma, keys=Keys(trial))
        found = Candidates(options=options)(view, public)
        hits += np.allclose(found.values, secrets[:2], atol=1e-9)
    assert least <= hits / 200 <= most


def logistic(records, rng, features=None):
    A = [rng.normal(size=(records, 2)) if features is None else features for _ in range(4)]
    y = [rng.integers(0, 2, records) for _ in range(4)]
    return tacit.Problem(nx.complete_graph(4), [tacit.Logistic(A[i], y[i], l2=0.1) for i in range(4)]), y


def test_few_labels_follow_from_the_exact_sum_whatever_sigma():
    """Worlds of the same sum are what the theorem compares: with real features and few records there is one."""
    problem, y = logistic(8, np.random.default_rng(16))
    view, public = recorded(problem, [3], privacy=tacit.AffineMasks(1e6, seed=2), worst_case=True)
    found = SubsetSum().labels(view, public)
    assert sorted(found) == [0, 1, 2]
    assert all(np.array_equal(labels, y[i]) for i, labels in found.items())
    report = tacit.audit(problem, [3], privacy=tacit.AffineMasks(100.0), games=2000, seed=1)
    assert {v.attack: v.status for v in report.with_masks}["labels from the sum"] == "open"
    assert report.passed


def test_labels_of_equal_records_do_not_follow_from_the_sum():
    problem, _ = logistic(4, np.random.default_rng(17), features=np.ones((4, 2)))
    view, public = recorded(problem, [3], privacy=tacit.AffineMasks(10.0, seed=2), worst_case=True)
    assert SubsetSum().labels(view, public) == {}
    assert "too many" in SubsetSum(records=8).misses(view, public)


def test_gradients_of_logistic_regressions_tell_labels():
    rng = np.random.default_rng(13)
    A = rng.normal(size=(6, 8, 3))
    y = (A @ [1.0, -2.0, 0.5] + rng.normal(size=(6, 8)) > 0).astype(float)
    problem = tacit.Problem(nx.complete_graph(6), [tacit.Logistic(A[i], y[i], l2=0.1) for i in range(6)])
    view, public = recorded(problem, [0])
    guessed = LabelInference().labels(Replay()(view, public), public)
    assert sorted(guessed) == [1, 2, 3, 4, 5]
    assert all(np.array_equal(labels, y[i]) for i, labels in guessed.items())
    view, public = recorded(problem, [0], privacy=tacit.AffineMasks(1e3, seed=1))
    guessed = LabelInference().labels(Replay()(view, public), public)
    right = np.concatenate([labels == y[i] for i, labels in guessed.items()]).mean()
    assert 0.2 < right < 0.8


def test_a_party_of_six_records_is_read_without_masks_and_a_coin_with_them():
    """Patients of the breast-cancer set at parties of very unequal size; one of them has six."""
    data = load_breast_cancer()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    parts = np.split(np.arange(196), [6, 60, 130])
    costs = [tacit.Logistic(X[part, :8], data.target[part], l2=0.1) for part in parts]
    problem, y = tacit.Problem(nx.complete_graph(4), costs), data.target[parts[0]]

    def guess(**given):
        view, public = recorded(problem, [3], **given)
        return LabelInference().labels(Replay()(view, public), public)[0]

    assert np.array_equal(guess(), y)
    right = [(guess(privacy=tacit.AffineMasks(1e3, seed=k)) == y).mean() for k in range(60)]
    assert abs(np.mean(right) - 0.5) < 4 * 0.5 / np.sqrt(6 * 60)


def test_the_likeliest_labels_of_many_totals_are_those_of_each():
    rng = np.random.default_rng(16)
    A, totals = rng.normal(size=(6, 4)), 5.0 * rng.normal(size=(30, 4))
    stories = np.array(list(product((0.0, 1.0), repeat=6)))
    each = [stories[np.square(stories @ A - total).sum(axis=1).argmin()] for total in totals]
    np.testing.assert_array_equal(likeliest_labels(A, totals), each)


def test_many_labels_are_rounded_from_the_relaxed_solution():
    rng = np.random.default_rng(14)
    A = rng.normal(size=(20, 40))
    y = rng.integers(0, 2, 20).astype(float)
    assert np.array_equal(likeliest_labels(A, (y @ A)[None])[0], y)


def test_agents_are_linked_without_masks_and_hardly_with_them():
    secrets, keys = np.random.default_rng(15).normal(size=(10, 3)), Keys(5)
    order = np.random.default_rng(0).permutation(9)
    plain = Estimate(agents=np.arange(9), values=secrets[1:], deviations=np.zeros(9))
    mixed = Estimate(agents=np.arange(9), values=secrets[1:][order], deviations=np.zeros(9))
    assert np.array_equal(order[Linking()(plain, mixed)], np.arange(9))
    hits = 0
    for _ in range(30):
        first, second = (MaximumLikelihood()(*release_of(secrets, NETWORK, keys=keys)) for _ in range(2))
        other = Estimate(agents=np.arange(9), values=second.values[order], deviations=np.zeros(9))
        hits += int((order[Linking()(first, other)] == np.arange(9)).sum())
    assert hits / 270 < 0.25


def test_a_parent_reads_every_leaf_of_a_tree_without_masks_and_noise_with_them():
    problem = distances(nx.path_graph(4), [1.0, 2.0, 3.0, 4.0])
    view, public = recorded(problem, [2], algorithm="direct")
    found = TreeSums()(view, public)
    assert found.agents.tolist() == [3]
    assert found.values[0, 0] == pytest.approx(-8.0)
    view, public = recorded(problem, [1], algorithm="direct", privacy=tacit.SumMasks(seed=1), worst_case=True)
    found = TreeSums()(view, public)
    read = dict(zip(found.agents.tolist(), found.values[:, 0], strict=True))
    assert read[0] == pytest.approx(
        -2.0, abs=1e-6
    )  # agent 0 has no other neighbour: exposed, and the certificate says so
    assert tacit.certify(problem.network, {1}, sigma=np.inf).exposed_agents == (0,)
    assert abs(read[2] + 6.0) > 1.0
    assert found.deviations[found.agents.tolist().index(0)] == 0.0


@pytest.mark.parametrize("algorithm", [name for name, kind in tacit.algorithms.ALGORITHMS.items() if kind.sums])
def test_every_algorithm_that_adds_up_shows_its_leaves_without_masks(algorithm):
    problem = distances(nx.star_graph(4), [1.0, 2.0, 3.0, 4.0, 5.0])
    view, public = recorded(problem, [0], algorithm=algorithm)
    found = TreeSums()(view, public)
    assert found.agents.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(found.values[:, 0], [-4.0, -6.0, -8.0, -10.0])


def test_attacks_say_why_there_is_nothing_to_attack():
    problem = distances(nx.complete_graph(4), [1.0, 2.0, 3.0, 4.0])
    view, public = recorded(problem, [3], algorithm="nids")
    assert TreeSums().misses(view, public) == "nothing is added up over a tree"
    assert "no Gaussian masks" in MaximumLikelihood().misses(view, public)
    assert "published" in MaximumLikelihood().misses(
        *recorded(problem, [3], privacy=tacit.AffineMasks(1.0, seed=1))
    )
    assert Observability().misses(view, ignorant(public)) == "the curvatures are not known"
    assert Observability(largest=2).misses(view, public) == "too many unknowns"
    rough = tacit.Problem(nx.complete_graph(4), [tacit.Quadratic.distance([1.0]) + tacit.L1(0.1) for _ in range(4)])
    view, public = recorded(rough, [3], algorithm="pg-extra")
    assert "proximal" in Observability().misses(view, public)
    assert len(Replay()(view, public).agents) == 0


def test_attack_settings_are_values():
    assert Replay() == Replay()
    assert hash(Observability()) == hash(Observability())
    with pytest.raises(dataclasses.FrozenInstanceError):
        Replay().exchanges = 3


def test_what_one_attack_has_read_of_a_view_another_does_not_read_again(monkeypatch):
    """Replay and differences start from the same readings; another view, equal or not, is read anew."""
    asked = []
    monkeypatch.setattr(replay, "_overheard", lambda view, public, most: asked.append(view))
    monkeypatch.setattr(replay, "_speakers", lambda overheard, view: [])
    first, again, public = object(), object(), object()
    for view in (first, first, again, again):
        assert replay.Replay().readings(view, public) == []
    assert asked == [first, again]
