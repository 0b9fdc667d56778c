"""From a manifest to a seat: what the runtime is told of a federation, and nothing else."""

import pickle

import msgspec
import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.federation.joining import seat_of
from tacit.federation.local import manifest_of
from tacit.runtimes import Job, StoppingRule
from tacit.runtimes.peers.local import seats_of

NAMES = ["east", "north", "south"]


@pytest.fixture
def job():
    return Job(
        network=tacit.Network(nx.complete_graph(3)),
        costs=[tacit.Quadratic.distance([float(k)]) for k in range(3)],
        stack=None,
        x0=np.zeros(1),
        algorithm=tacit.algorithms.NIDS(step_size=0.1),
        exact=True,
        weights="metropolis",
        privacy=tacit.AffineMasks(10.0),
        rule=StoppingRule(tolerance=1e-9, max_rounds=100),
    )


@pytest.fixture
def manifest(job, tmp_path):
    return manifest_of(job, NAMES, tmp_path)


def test_a_seat_says_what_the_manifest_says(manifest):
    seat = seat_of(manifest, "north")
    assert (seat.me, seat.index, list(seat.members)) == ("north", 1, NAMES)
    assert (seat.session, seat.parts) == (manifest.session(), manifest.parts())
    assert f"{seat.place.host}:{seat.place.port}" == manifest.members["north"].address
    assert (seat.patience, seat.silence) == (manifest.stop.patience, manifest.stop.idle)
    assert seat.neighbours(manifest.network()) == manifest.neighbours()["north"] == ["east", "south"]
    assert seat.stem == f"north-{manifest.session()[:12]}"


def test_a_seat_goes_to_another_process_and_stays_the_same(manifest):
    seat = seat_of(manifest, "south")
    assert pickle.loads(pickle.dumps(seat)) == seat  # noqa: S301  our own


def test_who_is_no_member_has_no_seat(manifest):
    with pytest.raises(InputError, match="'moon' is no member; there are east, north, south"):
        seat_of(manifest, "moon")


def test_the_lineage_reads_the_epoch_before_and_refuses_another(manifest):
    agreed = msgspec.structs.replace(manifest, dropout="exclude", links=[*manifest.links])
    four = msgspec.structs.replace(agreed, run=7)
    after = tacit.federation.without(agreed, members=["south"])
    lineage = seat_of(after, "north").lineage
    before = lineage.before(msgspec.json.encode(agreed))
    assert (before.members, before.epoch, before.neighbours("north")) == (tuple(NAMES), 0, ["east", "south"])
    with pytest.raises(InputError, match="does not follow"):
        lineage.before(msgspec.json.encode(four))
    assert lineage.origin(msgspec.json.encode(four)).members == tuple(NAMES)


def test_on_one_machine_seats_need_no_manifest_and_hold_no_cost(job, tmp_path):
    shared, seats = seats_of(job, NAMES, tmp_path)
    assert [seat.me for seat in seats] == NAMES
    assert len({seat.session for seat in seats}) == 1
    assert (shared.costs, shared.stack, shared.network.agents) == ((), None, tuple(NAMES))
    assert all((tmp_path / f"{name}.key").stat().st_mode & 0o077 == 0 for name in NAMES)


def test_two_runs_on_one_machine_are_two_sessions(job, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (_, one), (_, two) = (seats_of(job, NAMES, tmp_path / place) for place in ("one", "two"))
    assert one[0].session != two[0].session
