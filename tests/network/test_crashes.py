"""Members that are killed, stopped and started again: the run ends with the bits of an undisturbed one."""

import random
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.algorithms import ALGORITHMS, Standardised
from tacit.costs import stack
from tacit.runtimes.peers.processes import collect

MASKS = {
    "none": None,
    "affine": tacit.AffineMasks(10.0),
    "quadratic": tacit.QuadraticMasks(10.0),
    "sums": tacit.SumMasks(),
}
PAIRS = [
    (name, masks)
    for name, kind in ALGORITHMS.items()
    for masks, mechanism in MASKS.items()
    if mechanism is None or mechanism.refuses(kind) is None
]


@pytest.mark.network
@pytest.mark.parametrize(("n", "rounds"), [(5, 1500), (10, 200)], ids=["5 agents", "10 agents"])
@pytest.mark.parametrize(("name", "masks"), PAIRS, ids=[f"{name}, {masks}" for name, masks in PAIRS])
def test_peers_compute_the_bits_of_the_in_memory_agents(federation, name, masks, n, rounds):
    """Every algorithm, with and without masks: real processes, real TLS, the same answer to the last bit."""
    peers = federation(algorithm=name, privacy=MASKS[masks], tolerance=1e-6, n=n, rounds=rounds)
    expected = peers.expected()
    outcomes = collect(peers.start())
    assert np.array_equal(np.stack([outcome.x for outcome, _ in outcomes]), expected.x)
    assert {outcome.rounds for outcome, _ in outcomes} == {expected.rounds}
    assert {outcome.verdict for outcome, _ in outcomes} == {expected.verdict}


@pytest.mark.parametrize("trial", [0, *(pytest.param(trial, marks=pytest.mark.network) for trial in range(1, 25))])
@pytest.mark.parametrize(("name", "masks"), [("gradient-tracking", "affine"), ("lbfgs", "sums")])
def test_members_killed_at_random_moments_change_nothing(federation, trial, name, masks):
    """`kill -9` and restart, several times: never a redrawn mask, never another answer."""
    peers, moments = federation(algorithm=name, privacy=MASKS[masks]), random.Random(trial)  # noqa: S311
    expected = peers.expected()
    members = peers.start()
    time.sleep(moments.uniform(0.0, 0.3))
    for _ in range(4):
        member = moments.choice(members)
        if member.process.is_alive():
            member.kill()
            member.start()
        time.sleep(moments.uniform(0.0, 0.1))
    outcomes = collect(members)
    assert np.array_equal(np.stack([outcome.x for outcome, _ in outcomes]), expected.x)
    assert {outcome.rounds for outcome, _ in outcomes} == {expected.rounds}


PAIRED = [
    ("gradient-tracking", tacit.AffineMasks(10.0, pairing="one-sided")),
    ("gradient-tracking", tacit.AffineMasks(10.0, pairing="seeds")),
    ("fista", tacit.SumMasks(pairing="one-sided")),
    ("fista", tacit.SumMasks(pairing="seeds")),
]


@pytest.mark.network
@pytest.mark.parametrize(("name", "privacy"), PAIRED, ids=[f"{type(p).__name__}, {p.pairing}" for _, p in PAIRED])
def test_every_pairing_computes_the_bits_of_the_in_memory_agents(federation, name, privacy):
    """Members that are killed meanwhile are in `test_lockstep.py`, where the moment can be chosen."""
    peers = federation(algorithm=name, privacy=privacy, tolerance=1e-12)
    expected = peers.expected()
    outcomes = collect(peers.start())
    assert np.array_equal(np.stack([outcome.x for outcome, _ in outcomes]), expected.x)
    assert {outcome.rounds for outcome, _ in outcomes} == {expected.rounds}


@pytest.mark.network
def test_a_member_that_is_stopped_for_a_while_only_delays(federation):
    """SIGSTOP, as a laptop that sleeps: everybody waits, and the run goes on."""
    peers = federation(privacy=MASKS["affine"])
    expected = peers.expected()
    members = peers.start()
    time.sleep(0.3)
    import os

    os.kill(members[2].process.pid, signal.SIGSTOP)
    time.sleep(3.0)
    assert any(member.process.is_alive() for member in members)
    os.kill(members[2].process.pid, signal.SIGCONT)
    outcomes = collect(members)
    assert np.array_equal(np.stack([outcome.x for outcome, _ in outcomes]), expected.x)


def test_the_state_file_is_private_while_it_lives_and_gone_at_the_end(federation, tmp_path):
    peers = federation(privacy=MASKS["affine"])
    members = peers.start()
    states = [peers.state(name) for name in peers.names]
    assert all(state.stat().st_mode & 0o777 == 0o600 for state in states)
    assert all((tmp_path / f"{name}.key").stat().st_mode & 0o777 == 0o600 for name in peers.names)
    collect(members)
    for member in members:
        member.process.join(timeout=10)
    assert not any(state.exists() for state in states)
    assert all(state.with_suffix(".done").exists() for state in states)


@pytest.mark.network
def test_a_run_that_is_over_is_not_begun_again(federation):
    """A member started once more returns the answer it had: it draws no new masks."""
    peers = federation(privacy=MASKS["affine"])
    first = collect(peers.start())
    for member in peers.members:
        member.process.join(timeout=10)
    member = peers.members[1]
    member.start()
    (again, _), *_ = collect([member])
    assert np.array_equal(again.x, first[1][0].x)


@pytest.mark.network
@pytest.mark.parametrize("trial", range(5))
def test_a_regression_in_standard_units_survives_kills(federation, trial):
    """Sums of columns, of squares, and the fit: one run, and the bits of an undisturbed one."""
    peers = federation(algorithm="newton", privacy=tacit.SumMasks(bound=2.0**60, words=2))
    moments = random.Random(trial)  # noqa: S311
    for k, cost in enumerate(peers.job.costs):
        cost.facts = np.array([6.0, 0.0, 1.0 + k])
    peers.job = replace(peers.job, stack=stack(peers.job.costs), algorithm=Standardised("newton"))
    expected = peers.expected()
    members = peers.start()
    for _ in range(3):
        time.sleep(moments.uniform(0.0, 0.2))
        member = moments.choice(members)
        if member.process.is_alive():
            member.kill()
            member.start()
    for outcome, _ in collect(members):
        np.testing.assert_array_equal(outcome.x, expected.x[0])
        assert outcome.facts[0] == 30.0
