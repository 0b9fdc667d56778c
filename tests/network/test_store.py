"""What an agent writes down: a checkpoint is there whole or not at all, whatever interrupts it."""

import sqlite3

import msgspec
import numpy as np
import pytest

from tacit.errors import DamagedError, FileError
from tacit.masks.randomness import Positions
from tacit.protocol.record import VERSION, Record, Stage
from tacit.protocol.run import Begin, Draw, Supersede
from tacit.runtimes.looking import Look
from tacit.runtimes.peers import filed
from tacit.runtimes.peers import store as stores
from tacit.runtimes.peers.store import Store
from tacit.runtimes.phases import Recalled
from tacit.runtimes.transcript import Transcript

LOOK = Look(1.0, 0.5, 0.25, 0.0, None, 0.125)


def checkpoint(done: int) -> Recalled:
    state = (np.full(2, float(done)), np.full(2, -float(done)))
    return Recalled(done, state, np.full(2, float(done)), [(k, LOOK) for k in range(10, done + 1, 10)])


def save(store: Store, done: int) -> None:
    store.save(
        checkpoint(done),
        keystreams=Positions("", [done]),
        cursors=[done],
        used=[done],
        transcript=Transcript().state,
        acknowledged=[0],
    )


@pytest.mark.parametrize(("durable", "level"), [(False, 0), (True, 2)], ids=["trying", "durable"])
def test_the_disk_is_waited_for_where_a_power_cut_counts_and_nowhere_else(tmp_path, durable, level):
    """OFF and FULL, as SQLite calls them."""
    with Store(tmp_path / "a.state", durable=durable) as store:
        assert store._database.execute("PRAGMA synchronous").fetchone() == (level,)


def test_a_checkpoint_that_is_committed_is_recalled(tmp_path):
    store = Store(tmp_path / "a.state")
    save(store, 10)
    save(store, 20)
    store.commit()
    store.close()
    again = Store(tmp_path / "a.state")
    recalled = again.recall()
    again.close()
    assert recalled.done == 20
    assert recalled.looks == checkpoint(20).looks
    np.testing.assert_array_equal(recalled.state, checkpoint(20).state)


@pytest.fixture
def long(monkeypatch):
    """Let every array and every message be a long one."""
    monkeypatch.setattr(filed, "_LONG", 1)


def test_long_arrays_are_recalled_whichever_checkpoint_was_cut_short(tmp_path, long):
    """Two slots take turns: what is written while the other counts changes nothing before it is committed."""
    with Store(tmp_path / "a.state") as store:
        for done in (10, 20, 30):
            save(store, done)
    for path in tmp_path.glob("a.state*"):
        assert path.stat().st_mode & 0o777 == 0o600, path
    with Store(tmp_path / "a.state") as store:
        store._slots.write(1 - store.position().slot, [np.zeros(6)])  # killed here
    with Store(tmp_path / "a.state") as again:
        recalled = again.recall()
        np.testing.assert_array_equal(recalled.state, checkpoint(30).state)
        again.came(0, 0, b"heard, and long")
        again.commit()
        save(again, 40)
    with Store(tmp_path / "a.state") as again:
        np.testing.assert_array_equal(again.recall().state, checkpoint(40).state)
        (heard,) = again.journal(0)
        assert heard.read() == b"heard, and long"
        again.erase()
    assert not list(tmp_path.iterdir()), "everything is erased"


@pytest.mark.parametrize("ending", ["came", "arrays-0", "arrays-1"])
@pytest.mark.parametrize("how", ["changed", "cut", "gone"])
def test_a_long_vector_that_has_changed_is_noticed(tmp_path, long, ending, how):
    with Store(tmp_path / "a.state") as store:
        store.came(0, 0, b"heard, and long")
        store.commit()
        save(store, 10)
        slot = store.position().slot
    if ending.startswith("arrays") and not ending.endswith(str(slot)):
        return
    path = tmp_path / f"a.state-{ending}"
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-1] if how == "cut" else bytes([data[0] ^ 1]) + data[1:])
    with Store(tmp_path / "a.state") as store, pytest.raises(DamagedError, match="is damaged"):
        store.journal(0) if ending == "came" else store.recall()


def test_a_checkpoint_that_was_interrupted_is_forgotten(tmp_path, monkeypatch):
    store = Store(tmp_path / "a.state")
    save(store, 10)
    store.commit()

    def interrupted(look):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stores, "_numbers", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save(store, 20)
    store.close()  # as the agent does on the way out
    again = Store(tmp_path / "a.state")
    recalled = again.recall()
    again.close()
    assert (recalled.done, recalled.looks) == (10, checkpoint(10).looks)


BEGIN = Begin("s", b"a digest", b"agreed", ("east",), bytes(range(32)))


def test_a_stage_is_on_disk_before_anything_else_happens(tmp_path):
    """Also in the middle of a transaction, which a crash would roll back: the log of messages would survive it."""
    with Store(tmp_path / "a.state") as store:
        store.advance(BEGIN)
        store.came(0, 0, b"heard")
        store.advance(Draw())
    with Store(tmp_path / "a.state") as again:
        assert again.record.stage is Stage.MASKED
        assert again.journal(0) == [b"heard"]


def test_what_happens_again_is_not_written_again(tmp_path, monkeypatch):
    with Store(tmp_path / "a.state") as store:
        store.advance(BEGIN)
        monkeypatch.setattr(store, "write", None)
        assert store.advance(BEGIN).stage is Stage.KEYED


def test_a_file_of_an_earlier_version_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "a.state"
    with sqlite3.connect(path) as earlier:
        earlier.execute("CREATE TABLE run (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID")
    earlier.close()
    path.chmod(0o600)
    with pytest.raises(FileError, match=r"a\.state: was written by an earlier version of tacit"):
        Store(path)


def test_a_file_of_a_later_version_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "a.state"
    with Store(path) as store:
        store.write(msgspec.structs.replace(Record(), version=VERSION + 1))
    with pytest.raises(FileError, match=r"a\.state: was written by another version of tacit"):
        Store(path)


def test_an_emptied_file_says_only_who_goes_on(tmp_path):
    with Store(tmp_path / "a.state") as store:
        store.advance(BEGIN)
        store.came(0, 0, b"a mask that was heard")
        store.sent([(0, 0)], b"a mask that was said")
        store.advance(Supersede("later", "s", b"a digest"))
        store.forget()
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"later" in left
    assert not any(secret in left for secret in (BEGIN.key, b"a mask", b"a digest"))
