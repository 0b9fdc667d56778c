"""`tacit agent` in this process, with the other members as threads: what it prints, enters and refuses."""

import contextlib
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.certificates import Release
from tacit.cli.lines import EachOnce
from tacit.errors import NetworkError
from tacit.runtimes.peers.keys import derived
from tacit.runtimes.peers.local import free_ports
from tacit.solving.facts import facts_of
from tacit.solving.versions import Digests

NAMES = ("east", "north", "south", "west")
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture
def federation(run):
    """Make four members with records here, and a manifest with the options given."""

    def make(*options, file="f.toml"):
        for name, port in zip(NAMES, free_ports(len(NAMES)), strict=True):
            if not Path(f"{name}.key").exists():
                assert run("keygen", "--name", name, "--address", f"127.0.0.1:{port}")[0] == 0
        for k, name in enumerate(NAMES):
            rng = np.random.default_rng(k)
            table = rng.standard_normal((9, 3))
            np.savetxt(f"{name}.csv", table, delimiter=",", header="age,dose,effect", comments="")
        words = ("--unknowns", "2", "--cost", "ridge", "--l2", "1", "--patience", "120", *options)
        code, _, err = run("federation", "new", file, *words)
        assert code == 0, err
        return file

    return make


@pytest.fixture
def others():
    """Start members as threads; they are joined after the test."""
    threads = []

    def start(names, file="f.toml"):
        manifest = tacit.federation.Manifest.read(file)

        def take_part(name):
            table = np.loadtxt(f"{name}.csv", delimiter=",", skiprows=1)
            cost = tacit.LeastSquares(table[:, :2], table[:, 2], l2=1.0 / len(manifest.members))
            cost.facts = facts_of("ridge", table[:, 2])
            agent = tacit.federation.join(manifest, cost, me=name, key=f"{name}.key")
            with contextlib.suppress(NetworkError):  # somebody gave up
                agent.run()

        new = [threading.Thread(target=take_part, args=(name,)) for name in names]
        threads.extend(new)
        for thread in new:
            thread.start()
        return new

    yield start
    for thread in threads:
        thread.join()


def test_the_answer_the_entry_and_the_statement(run, federation, others):
    federation("--any", "2")
    assert run("ledger", "new", "--ledger", "book.sqlite", "--me", "north", "--any", "2")[0] == 0
    others([name for name in NAMES if name != "north"])
    words = ("agent", "f.toml", "--me", "north", "--data", "north.csv", "--ledger", "book.sqlite")
    code, out, err = run(*words)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("status:       converged.")
    assert "privacy:      north's masks hide whole costs" in out
    assert "any 2 agents" in out, "the manifest remembers --any"
    assert len(re.findall(rf"^{STAMP} INFO connected to ", err, flags=re.MULTILINE)) == 3
    session = tacit.federation.Manifest.read("f.toml").session()
    (entry,) = tacit.Ledger("book.sqlite").entries()
    assert entry.release.run == f"a federation, run 1, session {session[:16]}"
    assert (entry.release.participants, entry.release.basis) == (NAMES, "sums")
    assert len(entry.release.links) == 6
    code, again, _ = run(*words, "--json")
    found = json.loads(again)
    assert code == 0
    assert found["session"] == session
    assert f"{found['x'][0]:.6f}"[:6] in out
    assert len(tacit.Ledger("book.sqlite").entries()) == 1, "a run that is over is not entered again"


GAUSSIAN = ("--level", "affine", "--sigma", "10", "--algorithm", "nids", "--setting", "step_size=0.01")


def test_the_same_manifest_again_with_fresh_masks_is_entered_again(run, federation, others):
    """A new folder, or a lost state file: another draw of masks for the same records, and ε adds up."""
    federation(*GAUSSIAN)
    run("ledger", "new", "--ledger", "book.sqlite", "--me", "north", "--budget", "1")
    words = ("agent", "f.toml", "--me", "north", "--data", "north.csv", "--ledger", "book.sqlite", "--quiet")
    for _ in range(2):
        started = others([name for name in NAMES if name != "north"])
        code, _, err = run(*words)
        assert code == 0, err
        for thread in started:
            thread.join()
        for file in [*Path().glob("*.done"), *Path().glob("*.state*")]:
            file.unlink()
    with tacit.Ledger("book.sqlite") as book:
        first, second = book.entries()
    assert second.release.run == f"{first.release.run}, again 2"
    assert second.epsilon == first.epsilon > 0
    assert first.release.key != second.release.key
    assert first.release.versions == second.release.versions
    Path("small").mkdir()
    run("ledger", "new", "--ledger", "small/book.sqlite", "--me", "north", "--budget", str(1.5 * first.epsilon))
    with tacit.Ledger("small/book.sqlite") as book:
        book.add(first.release)
    code, _, err = run(*words[:-2], "small/book.sqlite")
    assert code == 1
    assert "above the budget" in err


@pytest.mark.parametrize("options", [(), GAUSSIAN], ids=["sums", "affine"])
def test_records_that_have_changed_are_noticed_and_must_be_accepted(options, run, federation, others):
    """Nobody says anything: the digest of the records does. A new manifest does not help."""
    federation(*options)
    federation(*options, "--run", "2", file="second.toml")
    run("ledger", "new", "--ledger", "book.sqlite", "--me", "north", "--budget", "1")
    words = ("--me", "north", "--data", "north.csv", "--ledger", "book.sqlite", "--quiet")
    others([name for name in NAMES if name != "north"])
    assert run("agent", "f.toml", *words)[0] == 0
    header, *lines = Path("north.csv").read_text().splitlines()
    Path("north.csv").write_text("\n".join([header, *reversed(lines)]) + "\n")
    assert tacit.Ledger("book.sqlite").entries()[0].release.versions
    Path("north.csv").write_text("\n".join([header, *lines[1:]]) + "\n")
    code, out, err = run("agent", "second.toml", *words)
    assert (code, out) == (1, "")
    assert "exposed: what changed at agent north between run a federation, run 1" in err
    assert "--accept-change" in err
    assert not list(Path().glob("north-*.state")), "nothing was sent"
    code, _, err = run("agent", "second.toml", *words, "--changed", "nobody")
    assert code == 2
    assert "nobody is said to have changed and is no member" in err
    others([name for name in NAMES if name != "north"], file="second.toml")
    code, out, err = run("agent", "second.toml", *words, "--accept-change")
    assert code == 0, err
    assert out.split("privacy:      ")[1].startswith("NOT PRIVATE: exposed: what changed at agent north")
    code, out, _ = run("agent", "second.toml", *words, "--accept-change", "--json")  # the answer is kept
    assert code == 0
    again = json.loads(out)
    assert not again["private"]
    assert again["stamps"][0]["reason"] == "history"
    assert again["privacy"][0].startswith("NOT PRIVATE: exposed: what changed at agent north")
    book = tacit.Ledger("book.sqlite")
    assert [(e.kind, e.agent) for e in book.exposed()] == [("change", "north")]
    for secret in (Path("north.key").read_bytes(), lines[0].encode()):
        assert secret not in Path("book.sqlite").read_bytes()


def test_others_who_say_that_they_have_changed_hide_a_change(run, federation):
    federation()
    run("ledger", "new", "--ledger", "book.sqlite", "--me", "north")
    words = ("agent", "f.toml", "--me", "north", "--data", "north.csv", "--ledger", "book.sqlite")
    digests = Digests(derived(Path("north.key"), "versions of records"))
    columns = dict.fromkeys(("age", "dose", "effect"), np.zeros(8))
    with tacit.Ledger("book.sqlite") as book:
        four = nx.complete_graph(NAMES)
        book.add(Release.of("long ago", four, sigma=np.inf, basis="sums", versions=digests.of("north", columns)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tacit.peers.Agent, "run", lambda *a, **k: pytest.fail("it was not refused"))
        code, _, err = run(*words)
        assert code == 1
        assert "what changed at agent north between run long ago" in err
        code, _, err = run(*words, "--changed", "east")
        assert code == 1
        assert "what changed at agent north between run long ago and run a federation" in err
        assert " to east" in err
        with pytest.raises(pytest.fail.Exception, match="not refused"):
            run(*words, "--changed", "east", "--changed", "south")


class Interrupted(BaseException):
    """As good as a power cut."""


def test_a_crash_after_the_entry_makes_no_second_one(run, federation, others, monkeypatch):
    federation()
    run("ledger", "new", "--ledger", "book.sqlite", "--me", "north", "--budget", "1")
    words = ("agent", "f.toml", "--me", "north", "--data", "north.csv", "--ledger", "book.sqlite", "--quiet")
    add = tacit.Ledger.add

    def add_and_die(self, release, **more):
        add(self, release, **more)
        raise Interrupted

    others([name for name in NAMES if name != "north"])
    with monkeypatch.context() as patch:
        patch.setattr(tacit.Ledger, "add", add_and_die)
        with pytest.raises(Interrupted):
            run(*words)
    assert len(tacit.Ledger("book.sqlite").entries()) == 1
    code, out, err = run(*words)
    assert code == 0, err
    assert "converged" in out
    assert len(tacit.Ledger("book.sqlite").entries()) == 1


def test_a_run_beyond_the_budget_sends_nothing(run, federation):
    options = ("--level", "affine", "--sigma", "1", "--algorithm", "nids", "--setting", "step_size=0.01")
    federation(*options)
    run("ledger", "new", "--ledger", "book.sqlite", "--me", "north", "--budget", "0.001")
    words = ("agent", "f.toml", "--me", "north", "--data", "north.csv", "--ledger", "book.sqlite")
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert "above the budget of 0.001" in err
    assert err.count("\n") == 1
    assert not list(Path().glob("*.state"))
    assert not tacit.Ledger("book.sqlite").entries()


def test_mistakes_get_one_sentence_before_anything_is_sent(run, federation):
    federation()
    run("ledger", "new", "--ledger", "of-south.sqlite", "--me", "south")
    Path("wide.csv").write_text("age,dose,weight,effect\n1,2,3,4\n5,6,7,8\n")
    Path("worse.csv").write_text("age,dose,effect\n1,oops,3\n")
    good = {"--me": "north", "--data": "north.csv"}

    def refused(message, code=2, **changed):
        options = {**good, **{f"--{name.replace('_', '-')}": value for name, value in changed.items()}}
        got, out, err = run("agent", "f.toml", *(word for pair in options.items() for word in pair))
        assert (got, out) == (code, ""), err
        assert message in err
        assert err.startswith("tacit: ")
        assert err.count("\n") == 1
        assert not list(Path().glob("*.state"))

    refused("'nrth' is no member; the manifest has east, north", me="nrth")
    refused(
        "elsewhere.key: is not there; a key and its certificate lie side by side. `tacit keygen` makes both",
        key="elsewhere.key",
    )
    refused("is not the certificate by which the others know north", key="south.key")
    refused("nowhere.csv: cannot be read", data="nowhere.csv")
    refused("line 2, column 'dose': is not a number", data="worse.csv")
    refused(
        "wide.csv: gives 3 unknown(s), and the manifest says 2: all members need the same columns", data="wide.csv"
    )
    refused("cost = 'logistic', and the manifest has 'ridge'", cost="logistic")
    refused("no-ledger.sqlite: there is no ledger. `tacit ledger new` starts one", ledger="no-ledger.sqlite")
    refused("of-south.sqlite: is the ledger of south, not of north", ledger="of-south.sqlite")
    refused("listen = 'here' must be host:port", listen="here")
    Path("north.key").chmod(0o644)
    refused("north.key: others can read it; use chmod 600")


def test_a_port_in_use_is_named(run, federation):
    federation()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, _, err = run("agent", "f.toml", "--me", "north", "--data", "north.csv", "--listen", address)
    assert code == 3
    assert f"cannot listen on {address}" in err


def test_another_manifest_is_said_once_in_good_english(run, federation, others):
    federation("--patience", "3", "--any", "1")
    federation("--patience", "3", "--any", "2", "--target", "effect", file="mine.toml")
    others([name for name in NAMES if name != "north"])
    code, _, err = run("agent", "mine.toml", "--me", "north", "--data", "north.csv")
    assert code == 3
    said = [line for line in err.splitlines() if "another agreement" in line]
    wanted = (
        STAMP
        + r" WARNING link to \w+ closed: (east|south|west|north) has another agreement, different in: privacy, model\. Compare the two\."
    )
    assert all(re.fullmatch(wanted, line) for line in said), err
    assert 1 <= len(said) == len(set(said)), "dialled many times, said once"
    assert err.splitlines()[-1].endswith("the run goes on when both are back.")


def test_a_sentence_is_news_until_there_is_another_one():
    once = EachOnce()

    def news(name, why):
        record = logging.LogRecord(
            "tacit.peers", logging.WARNING, "", 0, "link to %s closed: %s", (name, why), None
        )
        return once.filter(record)

    assert [news("a", "x"), news("a", "x"), news("b", "x"), news("a", "y"), news("a", "x")] == [
        True, False, True, True, True,
    ]  # fmt: skip


def test_a_member_with_one_neighbour_is_told_so(run, federation, others):
    federation()
    manifest = msgspec.toml.decode(Path("f.toml").read_bytes())
    manifest["links"] = [["east", "south"], ["east", "west"], ["south", "west"], ["north", "west"]]
    Path("thin.toml").write_bytes(msgspec.toml.encode(manifest))
    code, out, _ = run("federation", "check", "thin.toml")
    assert code == 1
    assert "Problem: NOT PRIVATE: agent north has one neighbour, who knows all its masks" in out
    others([name for name in NAMES if name != "north"], file="thin.toml")
    code, out, err = run("agent", "thin.toml", "--me", "north", "--data", "north.csv", "--quiet")
    assert (code, err) == (0, "")
    assert "NOT PRIVATE: agent north has one neighbour, who knows all its masks" in out


@pytest.mark.network
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_state_and_leaves_no_traceback(federation, number):
    federation()
    words = ("agent", "f.toml", "--me", "north", "--data", "north.csv", "--json")
    with subprocess.Popen(
        [Path(sys.executable).parent / "tacit", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        while not list(Path().glob("north-*.state")):
            assert started.poll() is None
            time.sleep(0.05)
        time.sleep(1.0)  # it waits for the others now
        started.send_signal(number)
        out, err = started.communicate(timeout=30)
    *lines, last = err.decode().splitlines()
    assert (started.returncode, out, last) == (130, b"", "tacit: stopped.")
    assert "the state is kept" in json.loads(lines[-1])["said"]
    assert list(Path().glob("north-*.state"))
