"""Five people, one of whom is gone for good: the others run out of patience, agree, and go on without it."""

import json

import numpy as np
import pytest

from tacit.certificates import Ledger
from tacit.federation import Manifest

pytestmark = pytest.mark.network
NAMES = ["north", "south", "east", "west", "centre"]
STAY = [name for name in NAMES if name != "south"]
L2 = 3.0
RIDGE = ["--unknowns", "3", "--cost", "ridge", "--l2", str(L2), "--dropout", "exclude", "--patience", "20"]
WAYS = {
    "affine": ["--level", "affine", "--sigma", "10", "--algorithm", "gradient-tracking", "--setting", "step_size=0.0005"],
    "affine, seeds": [
        "--level", "affine", "--sigma", "10", "--algorithm", "nids", "--setting", "step_size=0.0005", "--pairing", "seeds"
    ],
    "sums": ["--level", "sums", "--algorithm", "fista", "--tolerance", "1e-12"],
    "sums, one-sided": ["--level", "sums", "--algorithm", "fista", "--tolerance", "1e-12", "--pairing", "one-sided"],
}  # fmt: skip


def tables():
    rng = np.random.default_rng(11)
    return {name: rng.standard_normal((20, 4)) * [1.0, 2.0, 12.0, 1.0] for name in NAMES}


def optimum(names):
    """Return the minimiser of these members' costs, each with its fifth of the penalty."""
    table = np.vstack([tables()[name] for name in names])
    A, y = table[:, :3], table[:, 3]
    return np.linalg.solve(A.T @ A + L2 * len(names) / 5 * np.eye(3), A.T @ y)


@pytest.mark.parametrize("way", WAYS)
def test_four_go_on_without_the_fifth_who_was_killed(members, until, way):
    all_ = members(tables(), family="ridge", options=[*RIDGE, *WAYS[way]])
    all_.call("north", "ledger", "new", "--me", "north")
    for name in NAMES:
        all_.start(name, "--json", *(["--ledger", "ledger.sqlite"] if name == "north" else []))
    assert until(lambda: all_.at_work("south"), seconds=60), all_.err("south")
    all_.kill("south")
    for name in STAY:
        assert all_.wait(name) == 3, all_.err(name)
        assert "has not answered" in all_.err(name)
    all_.call("north", "federation", "without", "federation.toml", "second.toml", "--member", "south", "--yes")
    for name in STAY:
        if name != "north":
            all_.path(name, "second.toml").write_bytes(all_.path("north", "second.toml").read_bytes())

    # the ledger wants to hear that north knows what this tells of south
    all_.start("north", "--json", "--ledger", "ledger.sqlite", federation="second.toml")
    assert all_.wait("north") == 1
    assert "to go on without south exposes what south brought in" in all_.err("north")
    assert "--accept-exposure" in all_.err("north")

    for name in STAY[:-1]:
        ledger = ["--ledger", "ledger.sqlite", "--accept-exposure"] if name == "north" else []
        all_.start(name, "--json", *ledger, federation="second.toml")
    assert until(lambda: "connected to" in all_.err("north"), seconds=60)

    # south is back, and knows nothing of all this
    all_.start("south", "--quiet")
    told = "north is there and takes no link from this member"
    assert until(lambda: told in all_.err("south"), seconds=60), all_.err("south")
    assert "in which this member or this link is left out" in all_.err("south")

    all_.start(STAY[-1], "--json", federation="second.toml")
    found = []
    for name in STAY:
        assert all_.wait(name) == 0, all_.err(name)
        found.append(json.loads(all_.out(name)))
    x = np.array([each["x"] for each in found])
    np.testing.assert_allclose(x, np.tile(optimum(STAY), (4, 1)), atol=1e-6)
    if way.startswith("sums"):
        assert (x == x[0]).all(), "the same to the last bit"
    assert any("epoch 1" in sentence for sentence in found[0]["privacy"])
    assert any("computational" in sentence for sentence in found[0]["privacy"]) == ("seeds" in way)
    assert all_.wait("south") == 3
    check_the_ledger(all_, way)

    # there is no way back
    all_.start("east", "--json", "--quiet")
    assert all_.wait("east") == 1
    assert "gone on in a later epoch, and cannot go back" in all_.err("east")


def check_the_ledger(all_, way):
    first, second = (Manifest.read(all_.path("north", file)) for file in ("federation.toml", "second.toml"))
    with Ledger(all_.path("north", "ledger.sqlite")) as book:
        before, after = book.entries()
        assert before.release.run == f"a federation, run 1, session {first.session()[:16]}"
        assert after.release.run == f"a federation, run 1, epoch 1, session {second.session()[:16]}"
        assert set(after.release.participants) == set(STAY)
        assert after.release.masks == ("" if way.startswith("sums") else before.release.run)
        assert [e.agent for e in book.exposed()] == ["south"]
        assert book.spent("1") >= before.epsilon
