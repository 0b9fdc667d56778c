"""The ledger: composition, sticky masks, changed participants, budgets, crashes, concurrency, damage."""

import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.certificates import Ledger, Release, exposures
from tacit.certificates.composition import exposures_to_any
from tacit.errors import InputError, LedgerError, RefusedError

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


def test_averaging_beats_fresh_masks_as_the_sum_says():
    """T equal runs leave masks of σ/√T: the sum of ε equals ε at that σ."""
    epsilon = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
    assert 25 * epsilon == pytest.approx(tacit.certify(GRAPH, any=1, sigma=10.0 / 5).epsilon)


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
        assert ledger.check(release("d", cost_version="2")).accepted
        assert ledger.owner == "3"


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


def test_link_scales_count():
    graph = nx.complete_graph(5)
    scales = {(0, 1): 0.5, (0, 2): 0.5}
    assert release("a", graph, link_scales=scales) != release("a", graph)
    expected = tacit.certify(graph, any=1, sigma=10.0, link_scales=scales).epsilon
    from tacit.certificates.ledger import _epsilon

    assert _epsilon(release("a", graph, link_scales=scales), 1) == pytest.approx(expected)


def test_it_only_grows(path):
    with Ledger(path) as ledger:
        ledger.add(release("a"))
    raw = sqlite3.connect(path)
    for forget in (
        "DELETE FROM releases",
        "UPDATE releases SET epsilon = 0",
        "DELETE FROM terms",
        "UPDATE terms SET value = 9",
    ):
        if "terms" in forget:
            raw.execute("INSERT OR IGNORE INTO terms VALUES ('note', '1')")
        with pytest.raises(sqlite3.DatabaseError, match="only grows"):
            raw.execute(forget)
    raw.close()


def test_a_changed_row_is_noticed(path):
    with Ledger(path) as ledger:
        ledger.add(release("a"))
        ledger.add(release("b"))
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER rows_stay")
    raw.execute("UPDATE releases SET epsilon = 0.0 WHERE number = 1")
    raw.commit()
    raw.close()
    with pytest.raises(LedgerError, match="row 1 was changed"):
        Ledger(path)


def test_a_missing_row_is_noticed(path):
    with Ledger(path) as ledger:
        ledger.add(release("a"))
        ledger.add(release("b"))
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER rows_remain")
    raw.execute("DELETE FROM releases WHERE number = 1")
    raw.commit()
    raw.close()
    with pytest.raises(LedgerError, match="row 1 is missing"):
        Ledger(path)


@pytest.mark.parametrize("forget", ["DELETE FROM releases WHERE number = 2", "UPDATE terms SET value = '9'"])
def test_missing_last_rows_and_changed_terms_are_noticed(path, forget):
    with Ledger(path, budget=1.0) as ledger:
        ledger.add(release("a"))
        ledger.add(release("b"))
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER rows_remain")
    raw.execute("DROP TRIGGER terms_stay")
    raw.execute(forget)
    raw.commit()
    raw.close()
    with pytest.raises(LedgerError, match="last rows are missing or its terms were changed|row 1 was changed"):
        Ledger(path)


@pytest.mark.parametrize("damage", ["garbage", "overwritten", "truncated"])
def test_a_damaged_file_is_detected_and_kept(path, damage):
    with Ledger(path) as ledger:
        for k in range(30):
            ledger.add(release(f"run {k}"))
    ledger_bytes = path.read_bytes()
    Path(f"{path}-wal").unlink(missing_ok=True)
    if damage == "garbage":
        path.write_bytes(b"this is no ledger" * 100)
    elif damage == "overwritten":
        path.write_bytes(ledger_bytes[:4096] + bytes(4096) + ledger_bytes[8192:])
    else:
        path.write_bytes(ledger_bytes[: len(ledger_bytes) // 2 + 100])
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="damaged|changed|missing|cannot be read"):
        Ledger(path)
    assert path.read_bytes() == before


def test_another_database_is_left_alone(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    with pytest.raises(LedgerError, match="another kind of file"):
        Ledger(path)
    assert sqlite3.connect(path).execute("SELECT count(*) FROM mine").fetchone() == (0,)


def test_terms_stay_as_they_were_made(path):
    Ledger(path, budget=1.0, any=2).close()
    with pytest.raises(LedgerError, match=r"made with budget = 1.0, not 5.0"):
        Ledger(path, budget=5.0)
    with Ledger(path) as ledger:
        assert (ledger.budget, ledger.guards) == (1.0, 2)


@pytest.mark.parametrize("terms", [{"budget": -1.0}, {"budget": 0.0}, {"budget": math.nan}, {"any": -1}])
def test_impossible_terms_are_refused_and_nothing_is_made(path, terms):
    with pytest.raises(InputError):
        Ledger(path, **terms)
    assert not path.exists()


def test_a_stranger_to_the_run_is_refused(path):
    with Ledger(path, owner="nobody") as ledger, pytest.raises(InputError, match="takes no part"):
        ledger.check(release("a"))


def _add_one(arguments):
    path, run = arguments
    try:
        with Ledger(path) as ledger:
            ledger.add(release(run))
    except RefusedError:
        return False
    return True


def test_concurrent_processes_share_one_budget(path):
    """Twelve runs from four processes, room for five: exactly five are recorded."""
    epsilon = tacit.certify(GRAPH, any=1, sigma=10.0).epsilon
    Ledger(path, budget=5.5 * epsilon).close()
    with ProcessPoolExecutor(4) as pool:
        taken = list(pool.map(_add_one, [(path, f"run {k}") for k in range(12)]))
    assert sum(taken) == 5
    with Ledger(path) as ledger:
        assert len(ledger.entries()) == 5


def test_kill_9_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(path, tmp_path):
    """A process adds runs as fast as it can and is killed; every run it reported is there, and the chain holds."""
    script = tmp_path / "writer.py"
    script.write_text(
        "import sys, networkx as nx\n"
        "from tacit.certificates import Ledger, Release\n"
        "with Ledger(sys.argv[1]) as ledger:\n"
        "    for k in range(100_000):\n"
        "        ledger.add(Release.of(f'{sys.argv[2]}-{k}', nx.complete_graph(4), sigma=1.0))\n"
        "        print(k, flush=True)\n"
    )
    acknowledged = 0
    for trial in range(3):
        child = subprocess.Popen([sys.executable, script, path, str(trial)], stdout=subprocess.PIPE, text=True)
        for _ in range(5):
            child.stdout.readline()
        time.sleep(0.01 * trial)
        os.kill(child.pid, signal.SIGKILL)
        rest, _ = child.communicate()
        acknowledged += 5 + rest.count("\n")
        with Ledger(path) as ledger:
            assert len(ledger.entries()) >= acknowledged
            acknowledged = len(ledger.entries())


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


def test_an_emptied_file_is_damage_and_a_missing_folder_is_said(path):
    path.write_bytes(b"")
    with pytest.raises(LedgerError, match="is empty"):
        Ledger(path)
    with pytest.raises(InputError, match="folder does not exist"):
        Ledger(path.parent / "nowhere" / "ledger.sqlite")


def test_another_database_keeps_its_bytes(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_locked_ledger_is_said(path, monkeypatch):
    Ledger(path).close()
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0.05}))
    with pytest.raises(LedgerError, match="cannot be written now"):
        Ledger(path)
    blocker.execute("ROLLBACK")
    blocker.close()
