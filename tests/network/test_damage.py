"""Files that a disk has changed, and disks that are full: always a sentence, and never another answer."""

import errno
import os
import random
import re
import shutil

import msgspec
import numpy as np
import pytest

from tacit.errors import DamagedError, FileError, TacitError
from tacit.masks import AffineMasks
from tacit.masks.randomness import Positions
from tacit.protocol.record import Record
from tacit.protocol.run import Begin, Commit, Draw, Publish
from tacit.runtimes.looking import Look
from tacit.runtimes.peers import filed
from tacit.runtimes.peers.store import Store
from tacit.runtimes.phases import Recalled
from tacit.runtimes.transcript import Transcript

KEY = bytes(range(100, 132))
EVERY = 241  # bytes between two that are changed
ALL = [pytest.param(first, marks=pytest.mark.network) for first in range(1, EVERY, 4)]


def filled(path):
    """Write a file as in the middle of a run, and leave it as a crash does."""
    store = Store(path)
    store.advance(Begin("session", b"a digest", b"agreed", ("east", "west"), KEY))
    for link in range(2):
        for number in range(3):
            store.came(link, number, bytes([link, number]) * 20)
            store.sent([(link, number)], bytes([number, link]) * 20)
    store.advance(Draw())
    store.advance(Commit())
    store.advance(Publish())
    for done in (10, 20):
        state = (np.arange(40.0) + done, np.arange(3.0) - done)
        looks = [(k, Look(1.0 / k, 0.5, 0.25, 0.0, None, 0.125)) for k in range(10, done + 1, 10)]
        recalled = Recalled(done, state, np.full(2, float(done)), looks)
        cursors = [done, done + 1]
        place = {"keystreams": Positions("", [done]), "transcript": Transcript().state}
        store.save(recalled, cursors=cursors, used=cursors, acknowledged=[0, 0], **place)
        store.commit()
    return store


def content(path):
    """Return all that a restart takes from a file."""
    with Store(path) as store:
        recalled = store.recall()
        arrays = None if recalled is None else [part.tobytes() for part in (*recalled.state, recalled.seen)]
        rest = None if recalled is None else (recalled.done, recalled.looks)
        journal = [store.journal(link) for link in range(2)]
        return msgspec.structs.astuple(store.record), arrays, rest, store.position(), journal, store.outbox()


@pytest.fixture
def whole(tmp_path):
    """Return a file that was closed, with its bytes and what it says."""
    path = tmp_path / "a.state"
    filled(path).close()
    said = content(path)
    return path, path.read_bytes(), said


def read(path, data, segments):
    """Return what changed bytes say; None where they are refused with a sentence."""
    path.write_bytes(data)
    for each in path.parent.glob("a.state-*"):
        each.unlink()
    for name, body in segments.items():
        (path.parent / name).write_bytes(body)
        (path.parent / name).chmod(0o600)
    try:
        return content(path)
    except FileError:
        return None


@pytest.mark.parametrize("first", [0, *ALL])
def test_a_byte_that_has_changed_in_the_file_changes_nothing_or_is_noticed(whole, first):
    path, data, said = whole
    segments = {each.name: each.read_bytes() for each in path.parent.glob("a.state-sent-*")}
    noticed = 0
    for place in range(first, len(data), EVERY):
        for bit in (0x01, 0x80):
            changed = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
            told = read(path, changed, segments)
            noticed += told is None
            assert told in (None, said), place
    assert noticed


def test_a_file_that_was_cut_short_is_noticed(whole):
    path, data, said = whole
    segments = {each.name: each.read_bytes() for each in path.parent.glob("a.state-sent-*")}
    assert segments
    for size in (*range(0, 200, 7), *range(200, len(data), 997)):
        assert read(path, data[:size], segments) is None, size
    assert read(path, data, segments) == said
    path.write_bytes(data[:5000])
    with pytest.raises(DamagedError, match=rf"^{re.escape(str(path))}: is damaged\. Keep it, and tell the others"):
        content(path)


def test_what_was_sent_has_no_hole(whole):
    """A crash cuts the end off; a disk may take anything."""
    path, data, said = whole
    (segment,) = path.parent.glob("a.state-sent-*")
    sent = segment.read_bytes()
    noticed = 0
    for place in range(0, len(sent), 5):
        told = read(path, data, {segment.name: sent[:place] + bytes([sent[place] ^ 4]) + sent[place + 1 :]})
        noticed += told is None
        if told is not None:
            *same, outbox = told
            assert same == list(said[:-1])
            assert all(messages == said[-1][link][: len(messages)] for link, messages in outbox.items())


def test_a_log_that_a_crash_left_and_a_disk_changed_says_less_and_never_something_else(tmp_path):
    """Whatever SQLite still believes was committed together; and nothing was sent before the record of the run."""
    alive = tmp_path / "alive"
    alive.mkdir()
    store = filled(alive / "a.state")
    files = {each.name: each.read_bytes() for each in alive.iterdir()}
    store.close()
    assert "a.state-wal" in files
    log, earlier = files["a.state-wal"], []
    path = tmp_path / "a.state"
    for place in range(0, len(log), 2003):
        for name, body in files.items():
            (tmp_path / name).write_bytes(body)
            (tmp_path / name).chmod(0o600)
        (tmp_path / "a.state-wal").write_bytes(log[:place] + bytes([log[place] ^ 2]) + log[place + 1 :])
        try:
            told = content(path)
        except DamagedError:
            continue
        assert KEY in told[0]
        earlier.append(told[2])
    assert None in earlier
    assert any(each is not None and each[0] == 10 for each in earlier)


def test_an_answer_of_which_a_bit_has_changed_is_no_answer():
    data = Record(session="s", outcome=bytes(80)).encode()
    for place in range(len(data)):
        with pytest.raises(FileError):
            Record.decode(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(FileError):
            Record.decode(data[:place])


# whose files they are -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o666, 0o640, 0o604, 0o620])
@pytest.mark.parametrize("tail", ["", "-sent-0"])
def test_a_file_that_others_can_read_or_change_is_refused(whole, tail, mode):
    path, _, said = whole
    shared = path.with_name(path.name + tail)
    shared.chmod(mode)
    with pytest.raises(FileError, match=rf"a\.state{tail}: others can read or change it. Use chmod 600"):
        content(path)
    shared.chmod(0o600)
    assert content(path) == said


def test_files_are_their_owners_alone_whatever_the_umask_is(tmp_path):
    before = os.umask(0)
    try:
        store = filled(tmp_path / "a.state")
    finally:
        os.umask(before)
    modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    store.close()
    assert len(modes) >= 3
    assert set(modes.values()) == {0o600}


# whole runs -----------------------------------------------------------------------------------------------------


def ends_well_or_with_a_sentence(made, ends, expected):
    for k, name in enumerate(made.names):
        if isinstance(ends[name], TacitError):
            assert str(ends[name])
            continue
        assert not isinstance(ends[name], BaseException), ends[name]
        assert np.array_equal(ends[name].x, expected.x[k])


@pytest.mark.parametrize("where", ["database", "slots"])
def test_a_disk_that_is_full_at_a_checkpoint_ends_one_agent_with_a_sentence_and_the_run_goes_on(
    federation, memory, monkeypatch, where
):
    monkeypatch.setattr(filed, "_LONG", 1 if where == "slots" else 1 << 30)
    made = federation(algorithm="nids", privacy=AffineMasks(10.0), n=4)
    expected, save = made.expected(), Store.save

    def no_room(slot, arrays):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(self, recalled, **more):
        if "member-1" not in self.path.name:
            return save(self, recalled, **more)
        self._background.settle()
        if where == "slots":
            monkeypatch.setattr(self._slots, "write", no_room)
        (pages,) = self._database.execute("PRAGMA page_count").fetchone()
        self._database.execute(f"PRAGMA max_page_count = {pages}")
        return save(self, recalled._replace(seen=np.zeros(100_000)), **more)

    made.found(patience=3.0)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "save", full)
        _, first = made.play_again(memory)
    assert isinstance(first["member-1"], FileError), first["member-1"]
    assert "make room, and start this agent again" in str(first["member-1"])
    _, second = made.play_again(memory)
    assert not [end for end in second.values() if isinstance(end, BaseException)], second
    assert np.array_equal(np.stack([second[name].x for name in made.names]), expected.x)


@pytest.mark.parametrize("trial", [0, 1, *(pytest.param(k, marks=pytest.mark.network) for k in range(2, 60))])
def test_a_run_whose_file_was_damaged_ends_with_the_same_bits_or_with_a_sentence(federation, memory, trial):
    made, moments = federation(algorithm="nids", privacy=AffineMasks(10.0), n=4), random.Random(trial)  # noqa: S311
    expected = made.expected()
    made.found(patience=3.0)
    world = memory()

    def play(name, cost):
        return lambda: world.agent(made.manifest, cost, name, made.folder).run()

    plays = {name: play(name, cost) for name, cost in zip(made.names, made.job.costs, strict=True)}
    close, left = Store.close, made.folder / "left"

    def keep(self):
        if world._dying:
            left.mkdir(exist_ok=True)
            for each in self.path.parent.glob(f"{self.path.name}*"):
                shutil.copy2(each, left / each.name)
        close(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "close", keep)
        world.run(plays, {"member-1": [moments.randint(20, 300)]}, gone=("member-1",))
    for each in made.folder.glob("member-1-*.state*"):
        each.unlink()
    for each in left.iterdir():
        shutil.copy2(each, made.folder / each.name)
    victim = moments.choice(sorted(made.folder.glob("member-1-*.state*")))
    data = bytearray(victim.read_bytes())
    if moments.random() < 0.3:
        del data[moments.randrange(len(data)) :]
    else:
        for _ in range(moments.choice([1, 1, 20])):
            data[moments.randrange(len(data))] ^= 1 << moments.randrange(8)
    victim.write_bytes(data)
    _, ends = made.play_again(memory)
    ends_well_or_with_a_sentence(made, ends, expected)


# as people run them ---------------------------------------------------------------------------------------------

GOSSIP = ["--cost", "ridge", "--level", "affine", "--sigma", "100", "--algorithm", "nids"]
GOSSIP += ["--setting", "step_size=0.002", "--l2", "1", "--unknowns", "4"]


@pytest.mark.network
def test_agents_whose_disk_is_full_or_whose_file_is_damaged_end_with_a_sentence_and_no_traceback(members, until):
    """Files may have 40 kB: the log is longer soon. With more room the run goes on, to the same bits."""
    rng = np.random.default_rng(7)
    tables = {name: rng.standard_normal((20, 5)) for name in ("anna", "bert", "cora")}
    small = {"bert": ["bash", "-c", 'ulimit -f 40; exec "$@"', "bash"]}
    made = members(tables, family="ridge", options=GOSSIP, wrap=lambda name: small.get(name, []))
    made.fix_keys()
    expected = made.expected()
    for name in made.names:
        made.start(name, "--json")
    assert made.wait("bert", 120.0) == 2, made.err("bert")
    assert "make room, and start this agent again; the run goes on" in made.err("bert")
    assert "Traceback" not in made.err("bert")
    small.clear()
    kept = made.state("bert").read_bytes()
    log = made.state("bert").with_name(made.state("bert").name + "-wal")
    logged = log.read_bytes() if log.exists() else b""
    log.unlink(missing_ok=True)
    made.state("bert").write_bytes(kept[:4096] + bytes(len(kept)))
    made.start("bert", "--json")
    assert made.wait("bert", 120.0) == 2
    assert "is damaged" in made.err("bert")
    assert "Traceback" not in made.err("bert")
    made.state("bert").write_bytes(kept)
    if logged:
        log.write_bytes(logged)
        log.chmod(0o600)
    made.start("bert", "--json")
    assert np.array_equal(made.answers(seconds=300.0), expected.x)
