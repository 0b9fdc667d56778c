"""The ledger's file: it only grows, and notices crashes, concurrency and damage."""

import contextlib
import gc
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import networkx as nx
import pytest

import tacit
from tacit.certificates import Ledger, Release
from tacit.errors import InputError, LedgerError, RefusedError

GRAPH = nx.circulant_graph(8, [1, 2, 3])


def release(run, graph=GRAPH, *, sigma=10.0, **more):
    return Release.of(run, graph, sigma=sigma, **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


OLD = """
CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, chain TEXT NOT NULL) STRICT;
INSERT INTO head VALUES(1, 2, '990b2abfd6d5dd12f8739888bededc0e2cdb3d2f4676834fd12c0daeac91db6b');
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    recorded REAL NOT NULL,
    release TEXT NOT NULL,
    epsilon REAL NOT NULL,
    chain TEXT NOT NULL
) STRICT;
INSERT INTO releases VALUES(1, 1700000000.0, '{"run":"monday","participants":["a","b","c","d"],"links":[["a","b"],["a","c"],["a","d"],["b","c"],["b","d"],["c","d"]],"sigmas":[10.0],"basis":"affine","cost_version":"1","masks":"","link_scales":[]}', 8.3333333333333338682e-04, '7d4e67c2da57dd9b35914564b6212759f7b9b388923374427f9035f0fb5675dd');
INSERT INTO releases VALUES(2, 1700086400.0, '{"run":"tuesday","participants":["a","b","c","d"],"links":[["a","b"],["a","c"],["a","d"],["b","c"],["b","d"],["c","d"]],"sigmas":[],"basis":"sums","cost_version":"1","masks":"","link_scales":[]}', 0.0, '990b2abfd6d5dd12f8739888bededc0e2cdb3d2f4676834fd12c0daeac91db6b');
CREATE TABLE terms (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO terms VALUES('owner', 'a');
INSERT INTO terms VALUES('budget', '1.0');
INSERT INTO terms VALUES('any', '1');
PRAGMA user_version = 1;
"""  # fmt: skip


def test_a_ledger_from_before_versions_is_read_and_goes_on(path):
    """It does not know the records of its runs: whether they have changed since is asked, and not assumed."""
    raw = sqlite3.connect(path)
    raw.executescript(OLD)
    raw.close()
    four = nx.complete_graph(list("abcd"))
    with Ledger(path) as ledger:
        assert [entry.release.run for entry in ledger.entries()] == ["monday", "tuesday"]
        assert all((entry.release.versions, entry.release.key) == ((), "") for entry in ledger.entries())
        wednesday = release("wednesday", four, versions=[("a", "records", "k:1"), ("a", "number", "k:2")])
        assert ledger.check(wednesday).reasons == (
            "exposed: what changed at agent a between run monday and run wednesday",
        )
        ledger.add(wednesday, accept_changes=["a"])
        assert ledger.check(release("thursday", four, versions=wednesday.versions)).accepted
        fewer = release("friday", nx.complete_graph(list("abc")), versions=wednesday.versions)
        assert "exposed: agent d" in " ".join(ledger.check(fewer).reasons), "if a has not changed, d is exposed"


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


@pytest.mark.parametrize(
    ("tampering", "message"),
    [
        ("UPDATE releases SET epsilon = 0.0 WHERE number = 1", "row 1 was changed"),
        ("DELETE FROM releases WHERE number = 1", "row 1 is missing"),
        ("DELETE FROM releases WHERE number = 2", "last rows are missing or its terms were changed"),
        ("UPDATE terms SET value = '9'", "row 1 was changed|terms were changed"),
    ],
)
def test_tampering_is_noticed(path, tampering, message):
    with Ledger(path, budget=1.0) as ledger:
        ledger.add(release("a"))
        ledger.add(release("b"))
    raw = sqlite3.connect(path)
    for trigger in ("rows_stay", "rows_remain", "terms_stay"):
        raw.execute(f"DROP TRIGGER {trigger}")
    raw.execute(tampering)
    raw.commit()
    raw.close()
    with pytest.raises(LedgerError, match=message):
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
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM mine").fetchone() == (0,)


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


def test_a_ledger_that_nobody_holds_any_more_is_closed(path):
    ledger = Ledger(path)
    database = ledger._file._database
    del ledger
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        database.execute("SELECT 1")
