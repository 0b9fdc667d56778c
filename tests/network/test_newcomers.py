"""A newcomer between two runs, as people do it: real processes, and one command for everybody."""

import json
import shutil

import numpy as np
import pytest

import tacit
from tacit.federation import Manifest
from tacit.runtimes.peers.local import free_ports

pytestmark = pytest.mark.network

RNG = np.random.default_rng(8)
TABLES = {name: RNG.standard_normal((12, 4)) for name in ("clinic", "harbour", "mountain")}
SUMS = ["--links", "2", "--unknowns", "3", "--cost", "ridge", "--l2", "1.0"]


def test_a_newcomer_takes_part_in_the_next_run_once_everybody_knows_what_that_tells(members):
    trio = members(TABLES, family="ridge", options=SUMS)
    for name in TABLES:
        trio.call(name, "ledger", "new", "--me", name)
        trio.start(name, "--json", "--ledger", "ledger.sqlite")
    first = trio.answers()
    new = "valley"
    (trio.folder / new).mkdir()
    tables = TABLES | {new: RNG.standard_normal((12, 4))}
    trio.write(new, "records", tables[new])
    trio.call(new, "keygen", "--name", new, "--address", f"127.0.0.1:{free_ports(1)[0]}")
    trio.call(
        "clinic", "federation", "with", "federation.toml", "next.toml", "--card", "../valley/valley.card", "--yes"
    )
    trio.call(new, "ledger", "new", "--me", new)
    for name in (*TABLES, new):
        if name != "clinic":
            shutil.copy(trio.path("clinic", "next.toml"), trio.path(name, "next.toml"))
    trio.manifest, trio.names = Manifest.read(trio.path("clinic", "next.toml")), list(tables)
    for name in ("harbour", new):
        trio.start(name, "--ledger", "ledger.sqlite", federation="next.toml")
        assert trio.wait(name) == 1
        assert "the sums with valley and without it tell what it brings, exactly" in trio.err(name)
    for name in tables:
        trio.start(name, "--json", "--ledger", "ledger.sqlite", "--accept-exposure", federation="next.toml")
    second = trio.answers()
    assert not np.allclose(first[0], second[0])
    A = np.vstack([table[:, :3] for table in tables.values()])
    y = np.concatenate([table[:, 3] for table in tables.values()])
    np.testing.assert_allclose(second[0], np.linalg.solve(A.T @ A + np.eye(3), A.T @ y), atol=1e-6)
    answer = json.loads(trio.out(new))
    assert not answer["private"]
    assert [stamp["agents"] for stamp in answer["stamps"] if stamp["reason"] == "history"] == [[new]]
    assert json.loads(trio.out("harbour"))["private"], "of the others nothing new is told"
    for name in tables:
        with tacit.Ledger(trio.path(name, "ledger.sqlite")) as book:
            assert [len(entry.release.participants) for entry in book.entries()] == [3, 4]
            assert [exposure.agent for exposure in book.exposed()] == [new]


def test_a_manifest_that_changes_more_than_a_newcomer_explains_is_refused_by_who_remembers(members):
    trio = members(TABLES, family="ridge", options=SUMS)
    for name in TABLES:
        trio.start(name, "--json")
    trio.answers()
    (trio.folder / "valley").mkdir()
    trio.call("valley", "keygen", "--name", "valley", "--dial-out")
    trio.call("valley", "keygen", "--name", "harbour", "--dial-out")  # somebody else's key under a member's name
    trio.call(
        "clinic", "federation", "with", "federation.toml", "next.toml", "--card", "../valley/valley.card", "--yes"
    )
    text, own, other = (
        trio.path("clinic", "next.toml").read_text(),
        trio.path("harbour", "harbour.crt").read_text(),
        trio.path("valley", "harbour.crt").read_text(),
    )
    assert own.strip() in text.replace("\\n", "\n")
    forged = text.replace(own.replace("\n", "\\n"), other.replace("\n", "\\n")).replace(own, other)
    assert forged != text
    trio.path("clinic", "next.toml").write_text(forged)
    trio.start("clinic", "--accept-exposure", federation="next.toml")
    assert trio.wait("clinic") == 2
    assert "Of harbour it has another certificate." in trio.err("clinic")
