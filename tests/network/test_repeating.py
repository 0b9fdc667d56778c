"""Repeated runs as people start them: real processes, killed in between and in the middle, in step at the end."""

import json

import numpy as np
import pytest

import tacit
from tacit.federation.numbering import numbered, scheduled
from tacit.runtimes.peers.local import free_ports

pytestmark = pytest.mark.network

RNG = np.random.default_rng(9)
TABLES = {name: RNG.standard_normal((12, 4)) for name in ("clinic", "harbour", "mountain")}
SUMS = ["--links", "2", "--unknowns", "3", "--cost", "ridge", "--l2", "1.0"]
THRICE = ("--every", "1s", "--runs", "3", "--json", "--ledger", "ledger.sqlite")


def answers(text):
    """Return what was printed of each run, and the account."""
    lines = [json.loads(line) for line in text.splitlines()]
    return {line["run"]: line for line in lines if "run" in line}, [line for line in lines if "account" in line]


@pytest.mark.parametrize("inward", [(), ("clinic", "harbour")], ids=["reachable", "at a relay"])
def test_members_that_are_killed_in_between_and_in_the_middle_stay_in_step(members, until, inward, request):
    options = list(SUMS)
    if inward:
        relaying = request.getfixturevalue("relaying")
        options += ["--relay", f"127.0.0.1:{relaying.port}"]
    trio = members(TABLES, family="ridge", options=options, inward=inward)
    manifest = scheduled(trio.manifest, every="1s", runs=3)
    sessions = [numbered(manifest, k).session()[:12] for k in (1, 2, 3)]
    done = {name: [trio.path(name, f"{name}-{session}.done") for session in sessions] for name in TABLES}
    outs = {name: [] for name in TABLES}

    def start(name):
        trio.start(name, *THRICE)
        outs[name].append(trio.running[name].told[0])

    for name in TABLES:
        trio.call(name, "ledger", "new", "--me", name)
        start(name)
    for victim, number in (("harbour", 1), ("clinic", 2), ("mountain", 2)):
        state = trio.path(victim, f"{victim}-{sessions[number - 1]}.state")
        assert until(lambda file=state, over=done[victim][number - 1]: file.exists() or over.exists(), 120.0)
        trio.kill(victim)
        start(victim)
    for name in TABLES:
        assert trio.wait(name, 240.0) == 0, trio.err(name)
    found = {}
    for name in TABLES:
        assert all(file.exists() for file in done[name]), "no run was left out"
        assert not list(trio.folder.joinpath(name).glob("*.state")), "and all of them are over"
        runs, (account,) = answers("".join(out.read_text() for out in outs[name]))
        assert [run["number"] for run in account["account"]["over"]] == [1, 2, 3]
        assert set(runs) == {1, 2, 3}
        found[name] = np.array([runs[k]["x"] for k in (1, 2, 3)])
        with tacit.Ledger(trio.path(name, "ledger.sqlite")) as book:
            entries = book.entries()
        assert len(entries) == 3, "the ledger was asked for every run, and no run was entered twice"
        assert len({entry.release.key for entry in entries}) == 3, "masks are fresh in every run"
    assert np.array_equal(found["clinic"], found["harbour"])
    assert np.array_equal(found["clinic"], found["mountain"])
    for name in TABLES:  # all is over: the same command begins nothing
        start(name)
        assert trio.wait(name, 90.0) == 0
        assert "3 of 3 runs are over" in trio.out(name)


@pytest.fixture
def relaying(tmp_path):
    """Run a relay in a thread."""
    import threading

    from tacit.runtimes.peers.relay import Relay

    relay = Relay(("127.0.0.1", free_ports(1)[0]))
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    assert relay.ready.wait(10.0)
    yield relay
    relay.stop()
    thread.join(10.0)


def test_members_who_say_different_schedules_find_out_and_whose_records_have_changed_tells_the_others(
    members, until
):
    """Its ledger refuses the second run. The others hear that it takes no part, at once, and not why."""
    trio = members(TABLES, family="ridge", options=[*SUMS, "--patience", "600"])
    trio.call("harbour", "ledger", "new", "--me", "harbour")
    book = {"harbour": ("--ledger", "ledger.sqlite")}
    for name, runs in zip(TABLES, ("2", "2", "5"), strict=True):
        trio.start(name, "--every", "1s", "--runs", runs, *book.get(name, ()))
    assert until(lambda: "different in: repeat" in trio.err("mountain"), 90.0)
    trio.kill("mountain")
    trio.start("mountain", "--every", "1s", "--runs", "2")
    table = TABLES["harbour"].copy()
    table[0] += 1.0
    assert until(lambda: list(trio.folder.joinpath("harbour").glob("*.runs")), 90.0)
    trio.write("harbour", "records", table)  # for the second run; the first one has read its own
    assert trio.wait("harbour", 240.0) == 1
    assert "run 2, session" in trio.err("harbour")
    assert "is refused" in trio.err("harbour")
    assert "clinic and mountain have been told that this member takes no part" in trio.err("harbour")
    assert "run 2 of 2 is not over; 1 of 2 runs are over" in trio.err("harbour")
    for name in ("clinic", "mountain"):
        assert trio.wait(name, 240.0) == 3
        assert "harbour takes no part in it, and does not say why. The state is kept" in trio.err(name)
        assert "run 2 of 2 is not over; 1 of 2 runs are over" in trio.err(name)
        assert not any(word in trio.err(name) for word in ("ledger", "records", "changed"))
