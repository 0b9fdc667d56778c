"""The ledger's law: composition, sticky masks, changed participants, budgets."""

import math

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.certificates import Ledger, Release
from tacit.certificates.release import WHOLE
from tacit.errors import InputError, RefusedError
from tacit.solving.versions import Digests

GRAPH = nx.circulant_graph(8, [1, 2, 3])


def release(run, graph=GRAPH, *, sigma=10.0, **more):
    return Release.of(run, graph, sigma=sigma, **more)


def without(*agents):
    graph = GRAPH.copy()
    graph.remove_nodes_from(agents)
    return graph


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def test_runs_add_up(path):
    with Ledger(path, any=1) as ledger:
        one = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
        other = tacit.certify(GRAPH, any=1, sigma=5.0).epsilon
        ledger.add(release("a"))
        ledger.add(release("b", sigma=5.0))
        assert ledger.spent("1") == pytest.approx(one + other)
        assert ledger.spent("2") == 0.0
        assert [entry.release.run for entry in ledger.entries()] == ["a", "b"]


def test_sticky_masks_cost_nothing(path):
    with Ledger(path) as ledger:
        ledger.add(release("a"))
        again = release("again", masks="a")
        review = ledger.check(again)
        assert review.accepted
        assert review.epsilon == 0.0
        ledger.add(again)
        assert ledger.spent("1") == pytest.approx(tacit.certify(GRAPH, any=1, sigma=10.0).epsilon)


@pytest.mark.parametrize(
    "changed",
    [
        release("b", masks="a", cost_version="2"),
        release("b", without(7), masks="a"),
        release("b", nx.circulant_graph(8, [1, 2]), masks="a"),
        release("b", masks="a", sigma=11.0),
        release("b", masks="a", basis="quadratic"),
    ],
    ids=["costs", "agents", "links", "sigma", "basis"],
)
def test_masks_used_again_for_something_else_are_refused(path, changed):
    with Ledger(path) as ledger:
        ledger.add(release("a"))
        with pytest.raises(RefusedError, match="masks of run a would be used again"):
            ledger.add(changed)
        assert len(ledger.entries()) == 1


def test_one_agent_leaving_is_exposed(path):
    with Ledger(path) as ledger:
        ledger.add(release("2"))
        with pytest.raises(RefusedError, match="exposed: agent 4, because runs 2 and 5 differ only in it"):
            ledger.add(release("5", without(4)))
        assert ledger.exposed() == ()
        ledger.add(release("5", without(4)), anyway=True)
        assert [str(e) for e in ledger.exposed()] == ["exposed: agent 4, because runs 2 and 5 differ only in it"]


def test_going_on_without_somebody_is_one_view_and_costs_the_larger_epsilon(path):
    """The masks stay: ε rises to that of the graph without the leavers, and not by it."""
    with Ledger(path, owner="0", any=1) as ledger:
        ledger.add(release("a"))
        later = release("a").without({"4"}, run="a, epoch 1")
        assert later.participants == tuple("0123567")
        assert later.graph().edges == nx.relabel_nodes(without(4), str).edges
        with pytest.raises(RefusedError, match="masks of run a would be used again"):
            ledger.add(later)
        review = ledger.check(later, left={"4"})
        assert review.accepted
        assert [e.agent for e in review.exposed] == ["4"], "accepted, and not hidden"
        ledger.add(later, left={"4"})
        assert ledger.spent("1") == pytest.approx(tacit.certify(without(4), any=1, sigma=10.0).epsilon)
        assert ledger.spent("1") > tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
        assert [e.agent for e in ledger.exposed()] == ["4"]
        ledger.add(release("a").without({"4", "6"}, run="a, epoch 2"), left={"4", "6"})
        assert ledger.spent("1") == pytest.approx(tacit.certify(without(4, 6), any=1, sigma=10.0).epsilon)
        with pytest.raises(RefusedError, match="masks of run a would be used again"):
            ledger.add(release("b", without(7), masks="a"), left={"4", "6", "7"})


def test_a_leaver_whose_absence_connects_the_others_better_never_lowers_what_is_spent(path):
    pendant = nx.circulant_graph(6, [1, 2])
    pendant.add_edges_from([(6, 0), (6, 3)])
    with Ledger(path, any=1) as ledger:
        ledger.add(release("a", pendant))
        spent = ledger.spent("1")
        entry = ledger.add(release("a", pendant).without({"6"}, run="b"), left={"6"})
        assert tacit.certify(nx.circulant_graph(6, [1, 2]), any=1, sigma=10.0).epsilon < spent
        assert entry.epsilon == 0.0
        assert ledger.spent("1") == spent


def test_going_on_beyond_the_budget_or_with_a_cut_is_refused(path, tmp_path):
    one, other = (tacit.certify(graph, any=1, sigma=10.0).epsilon for graph in (GRAPH, without(4)))
    with Ledger(path, any=1, budget=(one + other) / 2) as ledger:
        ledger.add(release("a"))
        with pytest.raises(RefusedError, match="above the budget"):
            ledger.add(release("a").without({"4"}, run="b"), left={"4"})
    wheel = nx.wheel_graph(6)
    with Ledger(tmp_path / "wheel", any=1) as ledger:
        ledger.add(release("a", wheel))
        later = release("a", wheel).without({"1"}, run="b")
        assert ledger.check(later, left={"1"}).accepted
        later = release("a", wheel).without({"0"}, run="b")
        assert ledger.check(later, left={"0"}).accepted, "a ring, which no single agent cuts"
        later = release("a", wheel).without({"0", "1"}, run="b")
        assert "cuts its honest agents apart" in ledger.check(later, left={"0", "1"}).reasons[0]


def test_only_the_leavers_exposure_is_accepted(path):
    with Ledger(path, any=1) as ledger:
        ledger.add(release("a", sigma=math.inf, basis="sums"))
        ledger.add(release("b", without(4), sigma=math.inf, basis="sums"), left={"4"})
        with pytest.raises(RefusedError, match="exposed: agent 5"):
            ledger.add(release("c", without(4, 5), sigma=math.inf, basis="sums"), left={"4"})


def test_the_budget_refuses_before_the_run(path):
    epsilon = tacit.certify(GRAPH, any=2, sigma=10.0).epsilon
    with Ledger(path, budget=2.5 * epsilon, any=2, owner="3") as ledger:
        for run in ("a", "b"):
            assert ledger.check(release(run)).accepted
            ledger.add(release(run))
        review = ledger.check(release("c"))
        assert not review.accepted
        assert review.total == pytest.approx(3 * epsilon)
        assert "above the budget" in review.reasons[0]
        with pytest.raises(RefusedError, match="budget"):
            ledger.add(release("c"))
        assert ledger.owner == "3"


def test_what_changed_at_the_owner_is_told_and_must_be_accepted(path):
    """Two runs of the same agents: the difference of the sums is what changed at the only one who changed anything."""
    with Ledger(path, any=2, owner="3") as ledger:
        for sigma, basis in ((10.0, "affine"), (math.inf, "sums")):
            ledger.add(release(f"january, {basis}", sigma=sigma, basis=basis), accept_changes=["3"])
            later = release(f"february, {basis}", sigma=sigma, basis=basis, cost_version="2")
            if basis == "affine":
                with pytest.raises(
                    RefusedError, match="exposed: what changed at agent 3 between run january, affine and run feb"
                ):
                    ledger.add(later)
                with pytest.raises(RefusedError, match="what changed at agent 3"):
                    ledger.add(later, accept_changes=["4"])
            ledger.add(later, accept_changes=["3"])
        (exposed,) = ledger.exposed()
        assert (exposed.agent, exposed.kind) == ("3", "change")
        assert exposed.between == ("january, affine", "february, affine")


def test_a_change_that_is_told_does_not_open_a_new_budget(path):
    """To whoever knows the change, a view of the new costs is a view of the old ones: ε adds."""
    epsilon = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
    with Ledger(path, budget=1.5 * epsilon, any=1, owner="3") as ledger:
        ledger.add(release("a"))
        review = ledger.check(release("b", cost_version="2"), accept_changes=["3"])
        assert review.spent == pytest.approx(epsilon)
        assert [reason.split(",")[0] for reason in review.reasons] == [f"ε would come to {2 * epsilon:.3g}"]
    with Ledger(path.with_name("other"), budget=1.5 * epsilon, any=1) as ledger:
        ledger.add(release("a", versions=dict.fromkeys(GRAPH, "1")))
        fresh = release("b", cost_version="2", versions=dict.fromkeys(GRAPH, "2"))
        assert ledger.check(fresh).accepted, "everybody's data are new: nobody knows the change of one"


def test_accepting_a_change_accepts_nothing_else(path):
    with Ledger(path, any=1, owner="3") as ledger:
        ledger.add(release("a"))
        with pytest.raises(RefusedError, match="exposed: agent 3"):
            ledger.add(release("b", nx.complete_graph([3, 4])), accept_changes=["3", "4"])


def test_the_same_masks_are_the_same_view_and_other_masks_are_not(path):
    """A run is known by what was released: by the key of its masks, whatever it is called."""
    epsilon = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
    with Ledger(path, any=1) as ledger:
        ledger.add(release("a", key="k1"))
        assert ledger.check(release("again", key="k1")).epsilon == 0.0
        assert ledger.check(release("again", key="k2")).epsilon == pytest.approx(epsilon)
        with pytest.raises(RefusedError, match="masks of run a would be used again"):
            ledger.add(release("b", key="k1", versions={3: "2"}))
        with pytest.raises(RefusedError, match="masks of run a would be used again"):
            ledger.add(release("b", without(4), key="k1"))


def test_an_owner_refuses_what_changed_at_itself_and_hears_of_the_others(path):
    """East and south say that they have changed: that is told in sum, and to each of them the other's. Their affair."""
    with Ledger(path, any=1, owner="3") as ledger:
        ledger.add(release("a", versions={3: "1"}))
        review = ledger.check(release("b", versions={3: "1"}, changed=[4, 5]))
        assert review.accepted
        assert {(e.agent, e.coalition) for e in review.exposed} == {("4", ("5",)), ("5", ("4",))}
        review = ledger.check(release("b", versions={3: "2"}, changed=[4]))
        assert review.reasons == ("exposed: what changed at agent 3 between run a and run b to 4",)


def test_a_run_that_a_coalition_cuts_apart_is_refused(path):
    with Ledger(path, any=2) as ledger:
        with pytest.raises(RefusedError, match="cuts its honest agents apart"):
            ledger.add(release("a", nx.cycle_graph(6)))
        entry = ledger.add(release("a", nx.cycle_graph(6)), anyway=True)
        assert math.isinf(entry.epsilon)
        assert math.isinf(ledger.entries()[0].epsilon)


def test_the_same_name_for_another_run_is_refused(path):
    """A retry under the old name, with fresh masks, is another view of the same costs: it must be counted."""
    with Ledger(path) as ledger:
        ledger.add(release("a"))
        for again in (release("a"), release("a", sigma=20.0), release("a", masks="a")):
            with pytest.raises(RefusedError, match="another run is recorded as a"):
                ledger.add(again)
        assert ledger.check(release("a retry")).epsilon > 0
        with pytest.raises(RefusedError, match="no run z is recorded"):
            ledger.add(release("b", masks="z"))


def test_exposure_to_a_coalition_is_found_before_it_happens(path):
    """Agents b and c leave: to b, the difference of the two sums is c's coefficient."""
    everybody, fewer = nx.complete_graph(list("abcdef")), nx.complete_graph(list("adef"))
    with Ledger(path, any=1) as ledger:
        ledger.add(release("1", everybody))
        with pytest.raises(RefusedError, match="exposed: agent c to b, because runs 1 and 2 differ only in it"):
            ledger.add(release("2", fewer))
    with Ledger(path.with_name("other"), any=0) as ledger:
        ledger.add(release("1", everybody))
        ledger.add(release("2", fewer))


def test_a_stranger_to_the_run_is_refused(path):
    with Ledger(path, owner="nobody") as ledger, pytest.raises(InputError, match="takes no part"):
        ledger.check(release("a"))


def test_many_agents_are_no_reason_to_give_up(path):
    """100 agents, any two: three leave, and to two of them the third is exposed."""
    everybody = nx.complete_graph(100)
    fewer = nx.complete_graph(97)
    with Ledger(path, any=2) as ledger:
        ledger.add(release("a", everybody))
        with pytest.raises(RefusedError, match="exposed: agent 9[789] to"):
            ledger.add(release("b", fewer))


def test_exposure_to_everybody_is_not_hidden_by_exposure_to_one(path):
    leafy = nx.cycle_graph(8)
    leafy.add_edge(0, "leaf")
    with Ledger(path, any=1) as ledger:
        ledger.add(release("a", leafy), anyway=True)
        with pytest.raises(RefusedError, match="exposed: agent leaf"):
            ledger.add(release("b", nx.cycle_graph(8)))


def test_accepting_changes_never_accepts_a_multiple_of_the_data(path):
    """a₁ + a₂ = 2 a₁ + r: all of a's sums but for a record, and no difference."""
    runs = [("1", "axz", {"a": "v1"}), ("2", "ayw", {"a": "v2"}), ("3", "xyzw", {})]
    releases = [
        Release.of(run, nx.complete_graph(list(names)), sigma=np.inf, versions=versions)
        for run, names, versions in runs
    ]
    with Ledger(path, any=0) as ledger:
        for release in releases[:2]:
            ledger.add(release, accept_changes=["a"])
        review = ledger.check(releases[2], accept_changes=["a"])
    assert not review.accepted
    assert [(e.kind, e.is_change) for e in review.exposed if e.agent == "a"] == [("combination", False)]


def test_the_same_data_under_another_name_open_no_new_budget(path):
    graph = nx.circulant_graph(8, [1, 2])
    with Ledger(path, owner="3", any=1) as ledger:
        for k in range(3):
            data = [("3", "all records", "abc:123")]
            entry = ledger.add(Release.of(str(k), graph, sigma=100.0, cost_version=f"v{k}", versions=data))
        other = [("3", "number of records", "abc:7"), ("3", WHOLE, "abc:123")]
        review = ledger.check(Release.of("4", graph, sigma=100.0, cost_version="v4", versions=other))
    assert review.spent == pytest.approx(3 * entry.epsilon)


def test_costs_that_changed_at_nobody_in_particular_are_refused(path):
    graph = nx.complete_graph(4)
    with Ledger(path) as ledger:
        ledger.add(Release.of("jan", graph, sigma=np.inf, cost_version="jan"))
        assert ledger.check(Release.of("again", graph, sigma=np.inf, cost_version="jan")).accepted
        review = ledger.check(Release.of("feb", graph, sigma=np.inf, cost_version="feb"))
        assert not review.accepted
        assert "started with an owner" in review.reasons[0]


def test_the_same_records_with_fewer_columns_are_no_change(path):
    graph = nx.complete_graph(4)
    digests, age, dose = Digests(b"k" * 32), np.arange(5.0), np.arange(5.0) ** 2
    tables = [{"age": age, "dose": dose, "y": age % 2}, {"age": age, "y": age % 2}]
    both = [
        Release.of(str(k), graph, sigma=np.inf, versions=digests.of("0", table)) for k, table in enumerate(tables)
    ]
    with Ledger(path, owner="0") as ledger:
        ledger.add(both[0])
        assert ledger.check(both[1]).accepted
