"""A member leaves, or a link stays down: those who stay go on, with the masks that they have."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec
import networkx as nx
import numpy as np
import pytest
from lockstep import Lockstep

import tacit
from tacit.errors import InputError, NetworkError, TacitError
from tacit.federation import join, without
from tacit.federation.local import manifest_of
from tacit.federation.sections import Masks
from tacit.masks import AffineMasks, QuadraticMasks, SumMasks
from tacit.runtimes import Job, StoppingRule
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.runtimes.peers.epochs import ReplayedLinks
from tacit.runtimes.peers.store import Store
from tacit.solving import choose

NAMES = ["north", "east", "south", "west", "centre", "coast"]
GRAPH = nx.circulant_graph(6, [1, 2])
SEEN: dict[tuple[str, int], np.ndarray] = {}  # effective affine parts by member and turn


class Watched(tacit.Quadratic):
    """A cost whose effective affine part is noted."""

    name, turn = "", 0

    def with_affine(self, affine):
        SEEN[self.name, Watched.turn] = affine
        return super().with_affine(affine)


class Gone(Exception):  # noqa: N818
    """The machine is taken away."""


def costs_of():
    rng = np.random.default_rng(3)
    costs = [Watched(np.diag(rng.uniform(1.0, 2.0, 2)), rng.standard_normal(2)) for _ in NAMES]
    for name, cost in zip(NAMES, costs, strict=True):
        cost.name = name
    return dict(zip(NAMES, costs, strict=True))


def optimum(names):
    costs = [costs_of()[name] for name in names]
    return np.linalg.solve(sum(c.hess(np.zeros(2)) for c in costs), -sum(c.affine for c in costs))


def agreed(folder, privacy, algorithm, *, patience=2.0, dropout="exclude"):
    problem = tacit.Problem(GRAPH, list(costs_of().values()))
    choice = choose(problem, algorithm, privacy=privacy)
    job = Job(
        network=problem.network,
        costs=problem.costs,
        stack=problem.stack,
        x0=problem.x0,
        algorithm=choice.algorithm,
        exact=True,
        weights=choice.weights,
        privacy=privacy,
        rule=StoppingRule(tolerance=1e-9, max_rounds=3000),
    )
    manifest = manifest_of(job, NAMES, folder)
    stop = msgspec.structs.replace(manifest.stop, patience=patience, idle=2.0)
    return msgspec.structs.replace(manifest, stop=stop, dropout=dropout)


def run(manifest, folder, *, turn=0, leaves=(), at=40, only=None, deaths=None, gone=(), tls=False):
    """Run all members; those who leave do so when the run has come to round *at* (0: at once).

    In memory, with a clock that nobody waits for, unless over real links.
    """
    world = Lockstep(seed=turn)

    def member(name):
        cost, key = costs_of()[name], folder / f"{name}.key"
        agent = (
            join(manifest, cost, me=name, key=key, folder=folder)
            if tls
            else world.agent(manifest, cost, name, folder)
        )

        def leave(progress):
            if progress.check.round >= at:
                raise Gone

        def commit():
            if name in leaves and at == 1:
                raise Gone

        try:
            return agent.run(on_progress=leave if name in leaves else None, on_commit=commit)
        except (NetworkError, Gone, TacitError) as error:
            return error

    Watched.turn = turn
    names = only or [name for name in manifest.members if not (name in leaves and at == 0)]
    if not tls:
        return world.run({name: partial(member, name) for name in names}, deaths, gone=gone)
    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(member, names), strict=True))


def ends_at(outcomes, x):
    for name, outcome in outcomes.items():
        assert not isinstance(outcome, Exception), (name, outcome)
        np.testing.assert_allclose(outcome.x, x, atol=1e-6, err_msg=name)


WAYS = {
    "affine": (AffineMasks(10.0), "nids", 20),
    "affine, seeds": (AffineMasks(10.0, pairing="seeds"), "gradient-tracking", 20),
    "affine, one-sided": (AffineMasks(10.0, pairing="one-sided"), "extra", 20),
    "quadratic": (QuadraticMasks(10.0), "direct", 1),
    "sums": (SumMasks(), "newton", 1),
    "sums, seeds": (SumMasks(pairing="seeds"), "lbfgs", 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_those_who_stay_reach_the_optimum_of_their_own_costs(way, tmp_path):
    privacy, algorithm, at = WAYS[way]
    manifest = agreed(tmp_path, privacy, algorithm)
    first = run(manifest, tmp_path, leaves=["south"], at=at)
    assert isinstance(first["south"], Gone)
    assert all(isinstance(outcome, NetworkError) for name, outcome in first.items() if name != "south"), first
    after = without(manifest, members=["south"])
    stay = [name for name in NAMES if name != "south"]
    ends_at(run(after, tmp_path, turn=1), optimum(stay))


def test_those_who_stay_go_on_over_real_links(tmp_path):
    """The one departure that is tried over TLS, with seconds that pass."""
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20, tls=True)
    after = without(manifest, members=["south"])
    ends_at(run(after, tmp_path, turn=1, tls=True), optimum([name for name in NAMES if name != "south"]))


TRIALS = [0, *(pytest.param(trial, marks=pytest.mark.network) for trial in range(1, 60))]


@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize("way", ["affine", "affine, seeds", "sums"])
def test_a_member_may_leave_at_any_act_and_others_be_killed_in_the_next_epoch(way, trial, tmp_path):
    """While masks are swapped, between the barrier and the first round, in mid-sum: those who stay reach their own."""
    privacy, algorithm, _ = WAYS[way]
    moments = random.Random(trial)  # noqa: S311
    manifest = agreed(tmp_path, privacy, algorithm)
    leaver = moments.choice(NAMES)
    first = run(
        manifest,
        tmp_path,
        at=3000,
        deaths={leaver: [moments.choice([moments.randint(1, 40), 50])]},
        gone=(leaver,),
    )
    stay = [name for name in NAMES if name != leaver]
    assert all(isinstance(first[name], NetworkError) for name in stay), first
    deaths = {name: [moments.randint(1, 50)] for name in moments.sample(stay, 2)}
    ends_at(run(without(manifest, members=[leaver]), tmp_path, turn=1, deaths=deaths), optimum(stay))


def test_masks_are_kept_and_only_the_leavers_terms_are_cancelled(tmp_path):
    """No second view of those who stay: their effective costs move by the leaver's terms and by nothing else."""
    SEEN.clear()
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    ends_at(
        run(without(manifest, members=["south"]), tmp_path, turn=1), optimum([n for n in NAMES if n != "south"])
    )
    stay = [name for name in NAMES if name != "south"]
    beside = {NAMES[j] for j in GRAPH[NAMES.index("south")]}
    for name in stay:
        moved = (SEEN[name, 1] != SEEN[name, 0]).any()
        assert moved == (name in beside), name
    true = sum(costs_of()[name].affine for name in stay)
    np.testing.assert_allclose(sum(SEEN[name, 1] for name in stay), true, atol=1e-9)
    # what that costs: the two views together tell the leaver's affine part
    told = sum(SEEN[name, 0] for name in NAMES) - sum(SEEN[name, 1] for name in stay)
    np.testing.assert_allclose(told, costs_of()["south"].affine, atol=1e-9)


def test_before_anything_is_published_a_leaver_costs_nothing(tmp_path):
    """New masks for all: the old ones were never used."""
    SEEN.clear()
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids", patience=1.0)
    first = run(manifest, tmp_path, leaves=["coast"], at=0)
    assert all(isinstance(outcome, NetworkError) for outcome in first.values()), first
    stay = [name for name in NAMES if name != "coast"]
    ends_at(run(without(manifest, members=["coast"]), tmp_path, turn=1), optimum(stay))
    assert not any((name, 0) in SEEN for name in stay)


def test_one_who_committed_binds_all_to_their_masks(tmp_path):
    """North is past the barrier, and the leaver with it: whoever is not sure must not draw again."""
    SEEN.clear()
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=1)
    stay = [name for name in NAMES if name != "south"]
    ends_at(run(without(manifest, members=["south"]), tmp_path, turn=1), optimum(stay))
    far = [NAMES[j] for j in range(6) if j != 2 and j not in GRAPH[2]]
    assert far
    assert all((SEEN[name, 0] == SEEN[name, 1]).all() for name in far)


def test_carried_masks_that_do_not_cancel_are_found_before_anything_is_published(tmp_path, monkeypatch):
    """A member whose file was mixed up holds other terms than its neighbours: nobody goes on with them."""
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    heard, mixed_up = ReplayedLinks.receive, []

    def receive(self, neighbour):
        message = heard(self, neighbour)
        mixed_up.extend([self] * (not mixed_up and message.dtype == np.float64))
        return message + 64.0 if self in mixed_up and message.dtype == np.float64 else message

    monkeypatch.setattr(ReplayedLinks, "receive", receive)
    ends = run(without(manifest, members=["south"]), tmp_path, turn=1)
    assert mixed_up
    assert all("do not cancel" in str(end) for end in ends.values()), ends


def test_a_second_member_may_leave_in_a_later_epoch(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    second = without(manifest, members=["south"])
    run(second, tmp_path, leaves=["west"], at=20)
    third = without(second, members=["west"])
    stay = [name for name in NAMES if name not in ("south", "west")]
    ends_at(run(third, tmp_path), optimum(stay))
    assert third.epoch == 2


@pytest.mark.parametrize("pairing", ["both", "seeds"])
def test_masks_drawn_in_a_later_epoch_are_carried_on_from_there(tmp_path, pairing):
    """Nobody had published in the first epoch: the masks are those of the second, which had one question more."""
    manifest = agreed(tmp_path, AffineMasks(10.0, pairing=pairing), "nids", patience=1.0)
    run(manifest, tmp_path, leaves=["coast"], at=0)
    second = without(manifest, members=["coast"])
    run(second, tmp_path, leaves=["south"], at=20)
    third = without(second, members=["south"])
    ends_at(run(third, tmp_path), optimum([name for name in NAMES if name not in ("coast", "south")]))


def test_a_root_that_denies_what_was_published_is_refused(tmp_path, monkeypatch):
    """Else everybody would draw again, and show a second noisy view of its cost."""
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    SEEN.clear()
    add = LinkedPeers.sum

    def lie(self, v, add_=np.add, **given):
        total = add(self, v, **({"add": add_} | given))
        return np.zeros_like(total) if given.get("add") is np.maximum and v.shape == (1,) else total

    with monkeypatch.context() as patched:
        patched.setattr(LinkedPeers, "sum", lie)
        ends = run(without(manifest, members=["south"]), tmp_path, turn=1)
    assert all(isinstance(end, TacitError) for end in ends.values()), ends
    assert not SEEN


@pytest.mark.parametrize(
    "change",
    [
        {"privacy": Masks("affine", sigma=0.001)},
        {"unknowns": 3, "x0": [0.0, 0.0, 0.0]},
        {"run": 2},
        {"title": "another"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_later_manifest_that_changes_more_than_who_stays_is_refused(tmp_path, change):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    after = msgspec.structs.replace(without(manifest, members=["south"]), **change)
    cost = costs_of()["north"] if "unknowns" not in change else tacit.Quadratic(np.eye(3), np.ones(3))
    with pytest.raises(TacitError, match="does not follow"):
        join(after, cost, me="north", key=tmp_path / "north.key", folder=tmp_path).run()


def test_a_hand_written_epoch_cannot_leave_out_whom_the_members_agreed_to_wait_for(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids", dropout="wait")
    run(manifest, tmp_path, leaves=["south"], at=20)
    forged = without(msgspec.structs.replace(manifest, dropout="exclude"), members=["south"])
    forged = msgspec.structs.replace(forged, previous=manifest.session())
    for dropout in ("wait", "exclude"):
        with pytest.raises(TacitError, match="agreed to wait"):
            join(
                msgspec.structs.replace(forged, dropout=dropout),
                costs_of()["north"],
                me="north",
                key=tmp_path / "north.key",
                folder=tmp_path,
            ).run()


def test_a_crash_between_two_epochs_leaves_no_way_back(tmp_path, monkeypatch):
    """Marked first, emptied last."""
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    after = without(manifest, members=["south"])

    def crash(self):
        raise Gone

    with monkeypatch.context() as patched:
        patched.setattr(Store, "forget", crash)
        ends = run(after, tmp_path)
    assert all(isinstance(end, Gone) for end in ends.values())
    assert "later epoch" in str(run(manifest, tmp_path, only=["north"])["north"])
    ends_at(run(after, tmp_path), optimum([name for name in NAMES if name != "south"]))


def test_a_crash_in_a_later_epoch_changes_nothing(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids", patience=1.5)
    run(manifest, tmp_path, leaves=["south"], at=20)
    after = without(manifest, members=["south"])
    run(after, tmp_path, leaves=["east"], at=10)
    ends_at(run(after, tmp_path), optimum([name for name in NAMES if name != "south"]))


@pytest.mark.parametrize("way", ["sums", *(way for way in ("affine", "quadratic"))])
def test_a_link_that_stays_down_is_left_out_and_the_tree_grows_around_it(way, tmp_path):
    """Nobody leaves: the optimum is that of all, masks stay, and sums go another way."""
    privacy, algorithm, at = WAYS[way]
    manifest = agreed(tmp_path, privacy, algorithm)
    run(manifest, tmp_path, leaves=["south"], at=at)  # which comes back
    after = without(manifest, links=[("north", "east"), ("south", "north")])
    SEEN.clear()
    ends_at(run(after, tmp_path, turn=1), optimum(NAMES))


def test_whoever_has_gone_on_cannot_go_back(tmp_path):
    """The former file is emptied: the old manifest would otherwise be answered with masks drawn anew."""
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    former = Store(tmp_path / f"north-{manifest.session()[:12]}.state")
    secrets = [former.record.key, *(body for row in range(4) for body in former.journal(row) if len(body) > 16)]
    former.close()
    run(without(manifest, members=["south"]), tmp_path)
    back = run(manifest, tmp_path, only=["north"])["north"]
    assert isinstance(back, TacitError)
    assert "later epoch" in str(back)
    left = b"".join(p.read_bytes() for p in tmp_path.glob(f"north-{manifest.session()[:12]}.state*"))
    assert not any(secret in left for secret in secrets)


def test_masks_do_not_serve_other_data(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    run(manifest, tmp_path, leaves=["south"], at=20)
    after = without(manifest, members=["south"])
    other = tacit.Quadratic(np.eye(2), np.ones(2))
    for _ in range(2):
        with pytest.raises(TacitError, match="other data"):
            join(after, other, me="north", key=tmp_path / "north.key", folder=tmp_path).run()
    ends_at(run(after, tmp_path), optimum([name for name in NAMES if name != "south"]))  # a slip costs nothing


def test_nobody_is_left_out_unless_the_members_agreed_to_it(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids", dropout="wait")
    with pytest.raises(InputError, match="agreed to wait"):
        without(manifest, members=["south"])
    assert without(manifest, links=[("north", "east")]).epoch == 1  # which exposes nobody


def test_what_would_fall_apart_or_does_not_exist_is_refused(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    with pytest.raises(InputError, match="no member"):
        without(manifest, members=["moon"])
    with pytest.raises(InputError, match="not linked"):
        without(manifest, links=[("north", "west")])
    with pytest.raises(InputError, match="which member"):
        without(manifest)
    with pytest.raises(TacitError, match="falls into 2 pieces"):
        without(manifest, links=[("north", NAMES[j]) for j in GRAPH[0]])


def test_a_member_without_its_file_cannot_go_on(tmp_path):
    manifest = agreed(tmp_path, AffineMasks(10.0), "nids")
    after = without(manifest, members=["south"])
    with pytest.raises(TacitError, match="left out of the next epoch too"):
        join(after, costs_of()["north"], me="north", key=tmp_path / "north.key", folder=tmp_path).run()
