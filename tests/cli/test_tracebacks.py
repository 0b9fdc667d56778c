"""What used to end in a traceback: each gets its sentence and its exit code."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.cli.streams import spell
from tacit.costs.custom import CallableCost
from tacit.errors import FileError, InputError, LedgerError


def test_a_logistic_model_of_amounts(run):
    for k, name in enumerate(("north", "south", "west")):
        rows = np.column_stack([np.arange(8) + k, np.sin(np.arange(8) + k)])
        np.savetxt(f"{name}.csv", rows, delimiter=",", header="age,effect", comments="")
    code, out, err = run("fit", "north.csv", "south.csv", "west.csv", "--target", "effect", "--model", "logistic")
    assert (code, out) == (2, "")
    assert err.startswith("tacit: column 'effect': holds amounts, and a logistic model takes classes")
    assert err.count("\n") == 1


def test_fit_without_scikit_learn(run, monkeypatch):
    monkeypatch.setattr(tacit, "learning", tacit.learning)  # what is imported meanwhile does not stay
    for name in [name for name in sys.modules if name.startswith(("sklearn", "tacit.learning"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    Path("north.csv").write_text("a,y\n1,2\n")
    code, out, err = run("fit", "north.csv", "--target", "y")
    assert (code, out) == (2, "")
    assert "pip install 'tacit[learning]'" in err
    assert "Traceback" not in err


@pytest.fixture
def no_writing(monkeypatch):
    """Refuse to create files in the folder `shut`, as an operating system does to whoever is not root."""
    Path("shut").mkdir()
    real, path_open = os.open, Path.open

    def opened(path, flags, *rest, **more):
        if "shut" in str(path) and flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, flags, *rest, **more)

    def opened_path(self, mode="r", *rest, **more):
        if "shut" in str(self) and set(mode) & set("wax"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return path_open(self, mode, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(Path, "open", opened_path)


def test_keys_in_a_folder_that_cannot_be_written(run, no_writing):
    code, out, err = run("keygen", "--name", "north", "--folder", "shut")
    assert (code, out) == (2, "")
    assert "a key cannot be written there (Permission denied)" in err
    assert not list(Path("shut").iterdir())


def test_a_full_disk_leaves_no_half_of_a_key(run, monkeypatch):
    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for method in ("write_bytes", "write_text"):  # the certificate, and then the card
        with monkeypatch.context() as patch:
            patch.setattr(Path, method, full)
            code, out, err = run("keygen", "--name", "north")
        assert (code, out) == (2, "")
        assert "No space left on device" in err
        assert not list(Path().glob("north.*"))


def test_a_ledger_that_cannot_be_started_is_not_called_damaged(run, monkeypatch):
    import sqlite3

    class Shut(sqlite3.Connection):
        def execute(self, *_):
            raise sqlite3.OperationalError("attempt to write a readonly database")

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **more: real(path, factory=Shut, **more))
    code, out, err = run("ledger", "new", "--ledger", "book.sqlite")
    assert (code, out) == (2, "")
    assert "book.sqlite: cannot be started (attempt to write a readonly database)" in err
    assert "damaged" not in err
    assert not Path("book.sqlite").exists()
    with pytest.raises(FileError):
        tacit.Ledger("book.sqlite")


def test_a_ledger_in_the_place_of_a_folder_and_a_damaged_one(run):
    Path("book.sqlite").mkdir()
    with pytest.raises(FileError, match="cannot be opened"):
        tacit.Ledger("book.sqlite")
    Path("other.sqlite").write_bytes(b"no ledger at all, and longer than a header of a database " * 10)
    with pytest.raises(LedgerError, match="is damaged or no ledger"):
        tacit.Ledger("other.sqlite")


def test_a_full_disk_gets_a_sentence_whatever_the_command(run, monkeypatch):
    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "open", full)
    code, out, err = run("init")
    assert (code, out) == (2, "")
    assert "No space left on device" in err
    assert err.count("\n") == 1


def test_lambdas_in_processes_of_their_own():
    costs = [
        CallableCost(1, value=lambda x, k=k: ((x - k) ** 2).sum(), grad=lambda x, k=k: 2 * (x - k), smoothness=2.0)
        for k in range(3)
    ]
    problem = tacit.Problem(nx.complete_graph(3), costs)
    with pytest.raises(InputError, match="cannot be handed to a process of its own") as caught:
        tacit.solve(problem, privacy=tacit.AffineMasks(10.0), runtime="peers")
    assert "runtime 'agents'" in str(caught.value)


def test_an_output_that_cannot_write_sigma(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    tacit_ = [sys.executable, "-m", "tacit"]
    subprocess.run([*tacit_, "init"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    for words in (["solve", "problem.toml"], ["calibrate", "--help"], ["certify", "--help"]):
        done = subprocess.run([*tacit_, *words], cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
        assert words[0] != "solve" or b"sigma = 1000" in done.stdout


def test_decoding_is_not_our_business():
    with pytest.raises(UnicodeDecodeError):
        spell(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"))
