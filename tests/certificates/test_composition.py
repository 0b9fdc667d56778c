"""Several runs together: what adds up, and whom subtraction exposes."""

import dataclasses
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.certificates import Release, exposures
from tacit.certificates.composition import exposures_to_any, joint_changes
from tacit.certificates.release import WHOLE

GRAPH = nx.circulant_graph(8, [1, 2, 3])


def release(run, graph=GRAPH, *, sigma=10.0, **more):
    return Release.of(run, graph, sigma=sigma, **more)


def without(*agents):
    graph = GRAPH.copy()
    graph.remove_nodes_from(agents)
    return graph


def test_averaging_beats_fresh_masks_as_the_sum_says():
    """T equal runs leave masks of σ/√T: the sum of ε equals ε at that σ."""
    epsilon = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
    assert 25 * epsilon == pytest.approx(tacit.certify(GRAPH, any=1, sigma=10.0 / 5).epsilon)


def test_subtraction_may_take_three_runs():
    runs = [release("a", without(0, 1)), release("b", without(1, 2)), release("c", without(0, 2))]
    assert exposures(runs) == ()
    runs.append(release("d"))
    exposed = exposures(runs)
    assert {e.agent for e in exposed} == {"0", "1", "2"}
    assert all("by adding and subtracting" in str(e) for e in exposed)


def test_a_coalition_sees_its_own_components():
    """Agents 1 and 7 with 2 and 6 corrupted: what is left of the ring falls apart."""
    ring = nx.cycle_graph(8)
    assert exposures([release("a", ring)]) == ()
    exposed = exposures([release("a", ring)], coalition=("1", "7"))
    assert [str(e) for e in exposed] == ["exposed: agent 0 to 1, 7, alone in its component in run a"]


def test_a_new_cost_version_is_a_new_unknown_of_its_owner():
    before, after = release("a", cost_version="1"), release("b", without(4), cost_version="2")
    assert [e.agent for e in exposures([before, after], owner="4")] == ["4"]
    assert exposures([before, after], owner="3") == ()
    assert [e.agent for e in exposures([before, after])] == ["4"], "without an owner everybody counts as unchanged"


@given(seed=st.integers(0, 10_000))
def test_the_rank_test_equals_solving_for_the_coefficients(seed):
    """Exposed means: the coefficient is the same in every solution of the linear system of sums."""
    rng = np.random.default_rng(seed)
    runs = []
    for k in range(int(rng.integers(1, 6))):
        kept = rng.choice(6, size=int(rng.integers(2, 7)), replace=False).tolist()
        runs.append(release(str(k), nx.complete_graph(sorted(kept))))
    agents = sorted({a for run in runs for a in run.participants})
    rows = np.array([[a in run.participants for a in agents] for run in runs], dtype=float)
    null = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]
    fixed = {a for a, column in zip(agents, null.T, strict=True) if np.abs(column).max(initial=0.0) < 1e-9}
    assert {e.agent for e in exposures(runs)} == fixed


FIVE = nx.complete_graph(5)


def told(*runs, t=0, owner=None):
    return {(e.agents, e.coalition, e.kind, e.between) for e in exposures_to_any(runs, t, owner=owner)}


def test_a_record_more_at_one_agent_is_told():
    """The same agents, and one of them has brought something else: the difference is what it changed."""
    one, four = release("1", FIVE, versions={2: "v1"}), release("4", FIVE, versions={2: "v2"})
    (exposed,) = exposures([one, four])
    assert str(exposed) == "exposed: what changed at agent 2 between run 1 and run 4"
    assert (exposed.kind, exposed.agent, exposed.between, exposed.runs) == ("change", "2", ("1", "4"), ("1", "4"))
    assert told(one, four, t=1) == {(("2",), (), "change", ("1", "4"))}
    assert exposures([one, release("2", FIVE, versions={2: "v1"})]) == (), "nothing changed"
    back = release("5", FIVE, versions={2: "v1"})
    assert told(one, four, back) == told(one, four), "the old data again tell nothing new"


def test_two_who_change_are_told_in_sum_and_each_to_the_other():
    runs = [release("1", FIVE, versions={2: "a", 3: "a"}), release("2", FIVE, versions={2: "b", 3: "b"})]
    assert exposures(runs) == ()
    (exposed,) = exposures(runs, coalition=["3"])
    assert str(exposed) == "exposed: what changed at agent 2 between run 1 and run 2 to 3"
    assert told(*runs, t=1) == {
        (("2",), ("3",), "change", ("1", "2")), (("3",), ("2",), "change", ("1", "2")),
    }  # fmt: skip
    assert told(*runs) == set()
    (sum_,) = joint_changes(runs, 0)
    assert str(sum_) == "told: the sum of what is different at 2 and 3 between run 1 and run 2"
    assert (sum_.agents, sum_.kind) == (("2", "3"), "sum")
    assert joint_changes(runs, 1) == (), "then each of them is exposed, which is said instead"


def test_everybody_with_new_data_tells_nothing_of_one():
    runs = [release(str(k), FIVE, versions=dict.fromkeys(FIVE, f"v{k}")) for k in range(4)]
    assert told(*runs, t=2) == set()
    assert joint_changes(runs, 2) == ()


def test_a_change_may_take_three_runs():
    """2 and 3 change together, and 3 goes back: what is left is the change of 2."""
    runs = [release(run, FIVE, versions={2: v, 3: w}) for run, v, w in (("1", "a", "a"), ("2", "b", "b"))]
    runs.append(release("3", FIVE, versions={2: "b", 3: "a"}))
    assert told(*runs) == {(("2",), (), "change", ("1", "2")), (("3",), (), "change", ("1", "2"))}
    chain = [release(str(k), FIVE, versions={2: f"v{k}"}) for k in range(3)]
    assert told(*chain) == {(("2",), (), "change", ("0", "1")), (("2",), (), "change", ("1", "2"))}


def test_a_combination_that_is_no_difference_is_named_as_one():
    """ϑ(2, a) + ϑ(2, b) − 2 ϑ(2, c) is told, and no difference of two."""
    runs = [
        release("1", FIVE, versions={2: "a", 3: "x"}), release("2", FIVE, versions={2: "b", 3: "y"}),
        release("3", FIVE, versions={2: "c", 3: "x", 4: "x"}), release("4", FIVE, versions={2: "c", 3: "y", 4: "y"}),
        release("5", FIVE, versions={2: "d", 3: "z", 4: "x"}), release("6", FIVE, versions={2: "d", 3: "z", 4: "y"}),
    ]  # fmt: skip
    kinds = {(e.agent, e.kind) for e in exposures(runs)}
    assert ("4", "change") in kinds
    mixed = [release("1", nx.complete_graph([2, 3]), versions={2: "a"}), release("2", nx.complete_graph([2, 3, 4]), versions={2: "b"}),
             release("3", nx.complete_graph([2, 4]), versions={2: "c"})]  # fmt: skip
    (exposed,) = (e for e in exposures(mixed) if e.agent == "2")
    assert exposed.kind == "combination"
    assert str(exposed) == "exposed: a combination of what agent 2 brought to runs 1, 2, 3"


def test_who_says_nothing_counts_as_unchanged():
    """A leaver is exposed if the others are unchanged, and that is what silence means, before and after a word."""
    fewer = nx.complete_graph([0, 1, 2, 3])
    for silent, spoken in (({}, {2: "a"}), ({2: "a"}, {})):
        runs = [release("1", FIVE, versions=silent), release("2", fewer, versions=spoken)]
        assert [str(e) for e in exposures(runs)] == ["exposed: agent 4, because runs 1 and 2 differ only in it"]
    said = [release("1", FIVE, versions={2: "a"}), release("2", fewer, versions={2: "b"})]
    assert exposures(said) == (), "the leaver and the change of 2 are told in sum"


def test_who_says_that_it_has_changed_has():
    runs = [release("1", FIVE, versions={2: "a"}), release("2", FIVE, versions={2: "b"}, changed=[3, 4])]
    assert told(*runs, t=1) == set(), "the changes of three are told in sum"
    assert [e.agents for e in joint_changes(runs, 1)] == [("2", "3", "4")]
    assert len(told(*runs, t=2)) == 3, "and to two of them, that of the third"
    runs.append(release("3", FIVE, versions={2: "a"}))
    assert told(*runs, t=0) == {(("2",), (), "change", ("1", "2"))}, "they have not changed again"


def test_versions_under_another_key_are_neither_the_same_nor_different():
    fewer = nx.complete_graph([0, 1, 2, 3])
    runs = [release("1", FIVE, versions={2: "old:a"}), release("2", FIVE, versions={2: "new:b"})]
    assert [str(e) for e in exposures(runs)] == ["exposed: what changed at agent 2 between run 1 and run 2"]
    runs = [release("1", FIVE, versions={2: "old:a"}), release("2", fewer, versions={2: "new:b"})]
    assert {(e.agent, e.kind) for e in exposures(runs)} == {("4", "cost")}


def test_another_choice_of_columns_hides_no_change():
    """Run 2 has one column less, at everybody, and one record less at agent 2: the column they share tells it."""

    def columns(k, **changed):
        names = ("age", "dose") if k == 1 else ("age",)
        rows = {(a, name): "v1" for a in range(5) for name in names}
        rows |= {(a, "all"): f"v{k}" for a in range(5)} | {(2, name): v for name, v in changed.items()}
        return release(str(k), FIVE, versions=[(str(a), name, v) for (a, name), v in rows.items()])

    (exposed,) = exposures([columns(1), columns(2, age="v2")])
    assert (exposed.agent, exposed.kind, exposed.parts) == ("2", "change", ("age",))
    assert exposures([columns(1), columns(2)]) == ()
    assert exposures_to_any([columns(1), columns(2, age="v2")], 1) == (exposed,)


def folds(*left_out):
    """Return runs of three agents with records a1 … b1 … c1 …, each without some of them, under unrelated versions."""
    runs = []
    for k, out in enumerate(left_out):
        held = {
            agent: [f"{agent}{j}".rjust(16, "-") for j in range(4) if f"{agent}{j}" not in out] for agent in "abc"
        }
        versions = [(agent, WHOLE, f"key:{''.join(rows)}") for agent, rows in held.items()]
        records = [(agent, "".join(rows)) for agent, rows in held.items()]
        runs.append(release(str(k), nx.complete_graph(list("abc")), versions=versions, records=records))
    return runs


def test_records_left_out_in_turn_and_together_are_seen_through():
    """a0 + b0, a1 + b1 and a2 + b0 + b1: what b left out cancels, and a0 + a1 − a2 is told."""
    runs = folds([], ["a0", "b0"], ["a1", "b1"], ["a2", "b0", "b1"])
    (exposed,) = exposures(runs)
    assert (exposed.agent, exposed.kind) == ("a", "changes")
    assert exposures_to_any(runs, 0) == (exposed,)
    assert exposures(runs[:3]) == ()
    unknown = [dataclasses.replace(run, records=()) for run in runs]
    assert exposures(unknown) == (), "versions alone do not show it"


def test_what_is_told_by_record_is_the_same_in_every_explanation():
    """Random folds of twelve records: an agent's block is free of told vectors if and only if none is exposed."""
    rng = np.random.default_rng(5)
    names = [f"{agent}{j}" for agent in "abc" for j in range(4)]
    for fits in range(2, 14):
        out = [rng.choice(names, 4, replace=False).tolist() for _ in range(fits)]
        rows = np.array([[name not in left for name in names] for left in out], dtype=float)
        rank = np.linalg.matrix_rank(rows)
        told_of = set()
        for k, agent in enumerate("abc"):
            others = np.delete(rows, range(4 * k, 4 * k + 4), axis=1)
            if rank > np.linalg.matrix_rank(others):
                told_of.add(agent)
        assert {e.agent for e in exposures(folds(*out))} == told_of, fits
    assert told_of == set("abc")


@given(seed=st.integers(0, 10_000), t=st.integers(0, 2))
def test_changes_told_to_any_coalition_are_those_that_trying_them_all_finds(seed, t):
    """Random versions and participants: the search spares no coalition, and invents none."""
    rng = np.random.default_rng(seed)
    runs = []
    for k in range(int(rng.integers(1, 6))):
        kept = sorted(rng.choice(6, size=int(rng.integers(t + 3, 7)), replace=False).tolist())
        runs.append(release(str(k), nx.complete_graph(kept), versions={a: str(rng.integers(2)) for a in kept}))
    agents = sorted({a for run in runs for a in run.participants})
    each = [exposures(runs, coalition=c) for size in range(t + 1) for c in combinations(agents, size)]
    assert {(e.agent, e.kind) for found in each for e in found} == {
        (e.agent, e.kind) for e in exposures_to_any(runs, t)
    }


@given(seed=st.integers(0, 10_000))
def test_what_is_told_of_an_agent_is_the_same_in_every_explanation(seed):
    """Solve the linear system of sums: a difference is told if and only if all solutions agree on it."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, 3, size=(int(rng.integers(2, 7)), 4))
    runs = [
        release(str(k), nx.complete_graph(4), versions=dict(enumerate(map(str, row))))
        for k, row in enumerate(chosen)
    ]
    rows = np.concatenate([np.eye(3)[chosen[:, a]] for a in range(4)], axis=1)
    null = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]
    fixed = set()
    for a in range(4):
        block = null[:, 3 * a : 3 * a + 3]
        for v, w in combinations(range(3), 2):
            if (
                v in chosen[:, a]
                and w in chosen[:, a]
                and np.abs(block[:, v] - block[:, w]).max(initial=0.0) < 1e-9
            ):
                fixed.add(str(a))
    assert {e.agent for e in exposures(runs) if e.kind == "change"} == fixed


def test_a_hundred_agents_with_histories_of_their_own_are_searched_at_once():
    rng = np.random.default_rng(3)
    runs = [
        release(str(k), nx.complete_graph(100), versions=dict(enumerate(map(str, rng.integers(0, 4, 100)))))
        for k in range(5)
    ]
    before = exposures_to_any(runs, 2)
    runs.append(release("5", nx.complete_graph(100), versions={a: v for a, _, v in runs[-1].versions} | {7: "new"}))
    assert before == ()
    assert {(e.agent, e.coalition) for e in exposures_to_any(runs, 2)} == {("7", ())}


def test_link_scales_count():
    graph = nx.complete_graph(5)
    scales = {(0, 1): 0.5, (0, 2): 0.5}
    assert release("a", graph, link_scales=scales) != release("a", graph)
    expected = tacit.certify(graph, any=1, sigma=10.0, link_scales=scales).epsilon
    from tacit.certificates.reviewing import epsilon_of

    assert epsilon_of(release("a", graph, link_scales=scales), 1) == pytest.approx(expected)


@given(seed=st.integers(0, 10_000), t=st.integers(0, 2))
def test_exposure_to_any_coalition_equals_trying_them_all(seed, t):
    """On complete graphs no coalition cuts anything: the classes of agents find what enumeration finds."""
    rng = np.random.default_rng(seed)
    runs = []
    for k in range(int(rng.integers(1, 5))):
        kept = rng.choice(7, size=int(rng.integers(t + 3, 8)), replace=False).tolist()
        runs.append(release(str(k), nx.complete_graph(sorted(kept))))
    agents = sorted({a for run in runs for a in run.participants})
    expected = set()
    for size in range(t + 1):
        for coalition in combinations(agents, size):
            expected |= {e.agent for e in exposures(runs, coalition=coalition)}
    assert {e.agent for e in exposures_to_any(runs, t)} == expected


@pytest.mark.parametrize("coalition", [(), (2,), (0, 6)])
def test_both_views_of_those_who_stay_are_the_view_of_the_graph_without_the_leaver(coalition):
    """The joint law of all effective costs, before and after agent 4 has left, against the formula for the later ones.

    c = b + D z and c' = b + D' z, with one difference z_e of variance 2σ² a link and D' without the leaver's links.
    """
    sigma, links, left = 10.0, list(GRAPH.edges), 4
    stay = [a for a in GRAPH if a not in (left, *coalition)]
    unknown = [k for k, (a, b) in enumerate(links) if a not in coalition and b not in coalition]
    D = np.zeros((8, len(links)))
    for k, (a, b) in enumerate(links):
        D[a, k], D[b, k] = 1.0, -1.0
    after = D * np.array([left not in link for link in links])
    M = np.vstack([D[[*stay, left]], after[stay]])[:, unknown]
    inverse = np.linalg.pinv(2.0 * sigma**2 * M @ M.T, rcond=1e-10)
    shift = np.vstack([np.eye(len(stay)), np.zeros((1, len(stay))), np.eye(len(stay))])  # of b over those who stay
    kept = np.eye(len(stay)) - 1.0 / len(stay)  # changes that keep the sum
    worst = np.linalg.eigvalsh(kept @ shift.T @ inverse @ shift @ kept)[-1] / 2.0
    assert worst == pytest.approx(tacit.certify(without(left), coalition, sigma=sigma).epsilon)
