"""What takes a statement back is data: a reason, the agents concerned, and whether it voids the promise."""

import json
from dataclasses import replace

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit import AffineMasks, BasisMasks, SumMasks
from tacit.algorithms import GradientTracking
from tacit.certificates import privacy_lines
from tacit.errors import ProtectionError
from tacit.masks import Keystreams, agent_keys
from tacit.network import Network
from tacit.network.hinges import hinges
from tacit.runtimes import Stacked
from tacit.solving import RunRecord
from tacit.solving.solve import NotPrivateWarning
from tacit.stamps import Stamp

BOW_TIE = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
POINTS = np.random.default_rng(1).normal(size=(6, 2))


def distances(graph):
    return tacit.Problem(graph, [tacit.Quadratic.distance([float(i)]) for i in range(len(graph))])


def rows(family, n=5):
    rng = np.random.default_rng(0)
    return tacit.Problem(
        nx.complete_graph(n), [family(rng.normal(size=(6, 2)), rng.normal(size=6), l2=0.1) for _ in range(n)]
    )


def test_a_stamp_travels_through_the_record_and_its_file():
    with pytest.warns(NotPrivateWarning):
        record = tacit.solve(distances(nx.path_graph(3)), privacy=AffineMasks(10.0, seed=1)).record
    assert [stamp.reason for stamp in record.stamps] == ["seed", "one neighbour"]
    assert record.stamps[1].agents == ("0", "2")
    assert not record.private
    assert RunRecord.from_json(record.to_json()).stamps == record.stamps


def test_a_run_without_stamps_is_private():
    problem = tacit.Problem(nx.complete_graph(6), [tacit.Quadratic.distance(p) for p in POINTS])
    record = tacit.solve(problem, privacy=AffineMasks(10.0)).record
    assert record.private
    assert record.stamps == []


def test_a_run_without_masks_is_stamped_and_not_warned_about():
    answer = tacit.solve(distances(nx.complete_graph(4)))  # warnings are errors here
    assert [stamp.reason for stamp in answer.record.stamps] == ["no masks"]
    assert answer.privacy() == [str(answer.record.stamps[0])]


@pytest.mark.parametrize("masks", [AffineMasks(1e3, seed=1), SumMasks(seed=1)], ids=["affine", "sums"])
def test_a_seed_takes_the_certificate_back(masks):
    problem = tacit.Problem(nx.complete_graph(6), [tacit.Quadratic.distance(p) for p in POINTS])
    with pytest.warns(NotPrivateWarning):
        answer = tacit.solve(problem, privacy=masks)
    for certificate in (answer.certificate(any=1), answer.certificate({0, 1})):
        assert not certificate.is_private
        assert certificate.hidden_difference() == 0.0
        assert certificate.guess(1e-9) == 1.0
        text = certificate.statement()
        assert text.startswith("NOT PRIVATE: the masks come from a seed")
        assert "cryptographic" not in text
        written = json.loads(json.dumps(certificate.to_dict()))
        assert written["private"] is False
        assert [stamp["reason"] for stamp in written["stamps"]] == ["seed"]


@pytest.mark.parametrize("masks", [AffineMasks(10.0), SumMasks()], ids=["affine", "sums"])
def test_one_agent_who_cuts_the_network_is_as_bad_in_the_record_as_in_the_certificate(masks):
    with pytest.warns(NotPrivateWarning, match="without agent 2 the network falls apart"):
        answer = tacit.solve(distances(BOW_TIE), privacy=masks)
    (stamp,) = answer.record.stamps
    assert (stamp.reason, stamp.agents) == ("cut", ("0", "1", "3", "4"))
    assert answer.record.private == answer.certificate(any=1).is_private is False
    assert answer.certificate({0}).is_private, "who does not cut the network learns nothing exactly"


def brute_hinges(graph):
    cuts, loose = [], set()
    for v in nx.articulation_points(graph):
        rest = graph.copy()
        rest.remove_node(v)
        pieces = [piece for piece in nx.connected_components(rest) if len(piece) > 1]
        if len(pieces) > 1:
            cuts.append(v)
            loose |= set().union(*(piece for piece in pieces if 2 * len(piece) <= len(graph)))
    return sorted(cuts), sorted(loose)


def test_one_walk_finds_what_removing_every_agent_in_turn_finds():
    graphs = [nx.gnp_random_graph(3 + seed % 11, 0.15 + 0.02 * (seed % 15), seed=seed) for seed in range(300)]
    graphs = [graph for graph in graphs if nx.is_connected(graph)]
    graphs += [nx.random_labeled_tree(3 + seed % 11, seed=seed) for seed in range(60)]
    assert len(graphs) > 150
    for graph in graphs:
        network = Network(graph)
        walked = [sorted(network.agents[i] for i in some) for some in hinges(network)]
        assert tuple(walked) == brute_hinges(graph)


@pytest.mark.filterwarnings("ignore::tacit.solving.solve.NotPrivateWarning")
@pytest.mark.parametrize("graph", [nx.path_graph(5), BOW_TIE, nx.star_graph(4), nx.cycle_graph(5)])
def test_the_record_is_private_exactly_where_no_single_agent_cuts(graph):
    answer = tacit.solve(distances(graph), privacy=SumMasks())
    assert answer.record.private == answer.certificate(any=1).is_private


def expansions():
    basis = tacit.Monomials(dim=1, degree=2)
    return tacit.Problem(
        nx.complete_graph(4), [tacit.Expansion(basis, [0.0, v, 1.0]) for v in (1.0, 2.0, 3.0, 4.0)]
    )


def medians():
    return tacit.Problem(nx.complete_graph(4), [tacit.AbsoluteValue([float(i)]) for i in range(4)])


@pytest.mark.parametrize(
    ("problem", "algorithm"),
    [(expansions, GradientTracking(step_size=0.1)), (medians, "admm"), (lambda: rows(tacit.Huber), "auto")],
    ids=["expansion", "absolute value", "huber"],
)
def test_costs_of_which_masks_hide_nothing_are_refused_or_stamped(problem, algorithm):
    with pytest.raises(
        ProtectionError, match="affine masks hide nothing of .* affine parts were asked for: use .*secret sums"
    ):
        tacit.solve(problem(), privacy=AffineMasks(10.0), protect="affine", algorithm=algorithm)
    with pytest.warns(NotPrivateWarning, match="hide nothing of"):
        answer = tacit.solve(problem(), privacy=AffineMasks(10.0), algorithm=algorithm, max_rounds=50)
    assert [stamp.reason for stamp in answer.record.stamps] == ["nothing hidden"]
    assert not answer.record.private
    assert answer.record.phase1.coverage.parts == ()
    assert not answer.certificate(any=1).is_private


def test_quadratic_masks_hide_nothing_of_a_centre_either_and_no_remedy_is_refused_in_turn():
    """The smooth part of |x − c| is zero, and quadratic: covered, and not what is secret."""
    with pytest.raises(ProtectionError, match=r"nothing of the centre.* use secret sums"):
        tacit.solve(medians(), privacy=tacit.QuadraticMasks(10.0), protect="affine")
    assert tacit.solve(medians(), privacy=SumMasks()).converged


def test_of_mixed_costs_those_in_the_open_are_named():
    easy, kinked = rows(tacit.LeastSquares).costs, rows(tacit.Huber).costs
    problem = tacit.Problem(nx.complete_graph(5), [*easy[:3], *kinked[3:]])
    with pytest.warns(NotPrivateWarning, match="of agents 3, 4 these masks hide nothing"):
        answer = tacit.solve(problem, privacy=AffineMasks(10.0), max_rounds=50)
    (stamp,) = answer.record.stamps
    assert stamp.agents == ("3", "4")
    lines = answer.privacy()
    assert lines[0] == str(stamp)
    assert lines[1].startswith("For all others: Against an observer")
    assert "For all others:" in answer.certificate(any=1).statement()


def test_the_kinks_of_hubers_loss_tell_labels_at_any_sigma():
    """The attack behind the refusal: slopes of the effective gradient jump at (b ± δ)/a."""
    rng = np.random.default_rng(0)
    graph = nx.complete_graph(5)
    network = Network(graph)
    A, b = rng.uniform(0.5, 2.0, size=(5, 3, 1)), 3.0 * rng.normal(size=(5, 3))
    problem = tacit.Problem(graph, [tacit.Huber(a, labels) for a, labels in zip(A, b, strict=True)])
    source = Keystreams(agent_keys(5, seed=3), network.degrees)
    hidden = AffineMasks(1e4).hide(problem.stack, Stacked(network), source, network=network)
    x = np.linspace(-40.0, 40.0, 8001)
    slope = np.diff([hidden.cost.grad(np.full((5, 1), point))[2, 0] for point in x]) / np.diff(x)
    jumps = x[1:-1][np.abs(np.diff(slope)) > 1e-3]
    for a, label in zip(A[2, :, 0], b[2], strict=True):
        assert np.abs(jumps * a + 1.35 - label).min() < 0.03, "every label is at a kink"


def test_an_estimator_does_not_fit_what_masks_leave_in_the_open():
    learning = pytest.importorskip("tacit.learning")
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 2)), rng.normal(size=60), np.repeat(np.arange(4), 15)
    with pytest.raises(ProtectionError, match="nothing of the labels b, which the kinks of the cost tell"):
        learning.PrivateHuberRegressor(privacy=AffineMasks(1e4)).fit(X, y, groups=groups)


def test_a_stamp_that_names_agents_leaves_the_others_their_guarantee():
    certificate = tacit.certify(nx.complete_graph(5), any=1, sigma=10.0)
    named = Stamp(reason="answer tells", sentence="the labels of 3 follow from the answer.", agents=("3",))
    stamped = replace(certificate, stamps=(named,))
    assert not stamped.is_private
    assert stamped.statement().startswith(f"{named} For all others: Against an observer who controls any one agent")
    careful = replace(certificate, stamps=(Stamp(reason="rounding", sentence="up to rounding.", voids=False),))
    assert careful.is_private
    assert "Caution: up to rounding." in careful.statement()
    assert privacy_lines(careful.stamps, careful)[-1] == "Caution: up to rounding."


def test_what_is_hidden_is_data_from_the_mechanism_to_the_certificate():
    answer = tacit.solve(rows(tacit.LeastSquares), privacy=AffineMasks(1e3))
    coverage = answer.record.phase1.coverage
    assert (coverage.kind, coverage.parts, coverage.open) == ("affine", ("affine", "labels"), ("the features A",))
    assert coverage.exact
    certificate = answer.certificate(any=1)
    assert certificate.coverage == coverage
    assert certificate.to_dict()["coverage"]["parts"] == ("affine", "labels")
    assert "It does not cover the features A, " in certificate.statement()
    assert RunRecord.from_json(answer.record.to_json()).phase1.coverage == coverage
    whole = tacit.solve(rows(tacit.LeastSquares), privacy=SumMasks()).record.phase1.coverage
    assert (whole.kind, whole.parts) == ("sums", ("whole",))
    basis = tacit.Monomials(dim=1, degree=1)
    assert BasisMasks(1.0, functions=basis).kind == "basis"


def test_an_effective_cost_of_a_rest_in_a_basis_hides_its_affine_part():
    basis = tacit.Monomials(dim=1, degree=1)
    costs = [
        tacit.Expansion(basis, [0.0, 0.0], rest=tacit.LeastSquares([[1.0]], [v])) for v in (0.1, 0.3, 0.7, 0.2)
    ]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    answer = tacit.solve(
        problem,
        privacy=BasisMasks(100.0, functions=basis),
        protect="affine",
        algorithm=GradientTracking(step_size=0.3),
    )
    assert answer.x[0] == pytest.approx(1.3 / 4, abs=1e-7)
    assert answer.record.phase1.coverage.parts == ("components", "affine", "labels")


CYCLE = nx.cycle_graph(6)


@pytest.mark.parametrize("masks", [SumMasks(), AffineMasks(10.0)], ids=["sums", "affine"])
@pytest.mark.parametrize(("graph", "colluding"), [(CYCLE, 1), (CYCLE, 2), (CYCLE, 0), (nx.complete_graph(5), 3)])
def test_json_is_as_private_as_the_certificate_against_as_many(graph, colluding, masks):
    answer = tacit.solve(distances(graph), privacy=masks)
    whole = json.loads(answer.to_json(any=colluding))
    certificate = answer.certificate(any=colluding)
    assert whole["private"] == certificate.is_private == (not any(stamp["voids"] for stamp in whole["stamps"]))
    assert whole["privacy"][0].startswith("NOT PRIVATE") != whole["private"]
    assert (whole["hidden_difference"] == 0.0) != whole["private"]


def test_against_all_but_one_nothing_is_private_and_no_size_is_blamed():
    answer = tacit.solve(distances(nx.complete_graph(3)), privacy=SumMasks())
    whole = json.loads(answer.to_json(any=2))
    assert not whole["private"]
    assert [stamp["reason"] for stamp in whole["stamps"]] == ["coalition"]
    assert answer.privacy(any=2) == [
        "NOT PRIVATE: of 3 agents, 2 who collude learn the part of the last one from the sum."
    ]


def test_what_agreed_keys_hide_is_not_hidden_however_long_somebody_computes():
    answer = tacit.solve(distances(CYCLE), privacy=SumMasks(pairing="seeds"))
    for text in (*answer.privacy(), answer.certificate(any=1).statement()):
        assert "however long" not in text
    assert "unless it breaks X25519" in answer.privacy()[0]


@pytest.mark.parametrize("graph", [nx.complete_graph(2), BOW_TIE])
def test_what_sums_hide_of_a_cost_is_no_claim_about_the_network(graph):
    with pytest.warns(NotPrivateWarning):
        record = tacit.solve(distances(graph), privacy=SumMasks()).record
    assert record.phase1.hides == "whole costs"


def test_beside_a_hinge_sigma_and_what_is_to_be_hidden_still_count():
    def lines(sigma):
        with pytest.warns(NotPrivateWarning):
            return tacit.solve(distances(BOW_TIE), privacy=AffineMasks(sigma), hide=2.0).privacy()

    thin, thick = lines(10.0), lines(100.0)
    assert thin[0] == thick[0]
    assert thin[-1] != thick[-1]
    assert "controls no agent" in thin[-1]
    assert "Where they differ by 2" in thin[-1]


def test_in_a_large_network_what_is_hidden_follows_sigma():
    graph = nx.circulant_graph(520, [1, 2])
    problem = tacit.Problem(graph, [tacit.Quadratic.distance([float(i % 7)]) for i in range(520)])
    record = tacit.solve(problem, privacy=AffineMasks(1.0), max_rounds=1).record
    phase1 = record.phase1
    wide = msgspec.structs.replace(record, phase1=msgspec.structs.replace(phase1, sigma=1e3))
    differences = [
        json.loads(tacit.solving.Answer(each, Network(graph)).to_json())["hidden_difference"]
        for each in (record, wide)
    ]
    assert differences[0] > 0
    assert differences[1] == pytest.approx(1e3 * differences[0])


@pytest.mark.parametrize("masks", [AffineMasks(10.0), tacit.QuadraticMasks(10.0)])
def test_a_centre_in_a_rough_term_is_in_the_open(masks):
    costs = [tacit.Affine([0.0]) + tacit.L1(1.0, [float(k)]) for k in range(5)]
    problem = tacit.Problem(nx.complete_graph(5), costs)
    assert not masks.coverage(problem.stack).keeps_a_secret
    with pytest.raises(ProtectionError):
        tacit.solve(problem, privacy=masks, protect="affine")


def test_masks_on_a_constant_hide_nothing_of_the_rest():
    basis = tacit.Monomials(1, degree=0)
    cost = tacit.Expansion(basis, [3.0], rest=tacit.LeastSquares([[1.0], [2.0]], [1.0, 3.0]))
    assert not BasisMasks(10.0, functions=basis).coverage(cost).keeps_a_secret


def test_a_penalty_around_a_centre_shows_the_centre_and_leaves_the_labels_hidden():
    """The kinks of w|x − c| stand at c for everybody to read; what they leave of the cost is masked as ever."""
    rng = np.random.default_rng(0)
    masks, centre = tacit.AffineMasks(1e3), np.full(2, 0.3)
    A = rng.normal(size=(4, 30, 2))
    fits = [tacit.LeastSquares(a, rng.normal(size=30)) + tacit.L1(0.1, centre) for a in A]
    coverage = masks.coverage(tacit.Problem(nx.complete_graph(4), fits).stack)
    assert coverage.hides("labels")
    assert "the centre of the rough term" in coverage.open
    by_hand = [tacit.Affine(np.zeros(2)) + tacit.L1(1.0, rng.normal(size=2)) for _ in A]
    hidden = masks.coverage(tacit.Problem(nx.complete_graph(4), by_hand).stack)
    assert not hidden.hides("affine")  # a median written by hand: the centre is all there is
