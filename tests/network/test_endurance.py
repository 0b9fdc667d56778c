"""What takes long and must hold every time: members killed at random in two hundred runs, and the same bits.

Real processes, real TLS. `test_intruders.py` has the other half: 10⁵ frames of nonsense, sent as a member.
"""

import itertools
import random
import time

import numpy as np
import pytest

import tacit
from tacit.runtimes.peers.processes import collect

PAIRINGS = ("both", "one-sided", "seeds")
WAYS = [
    *(("gradient-tracking", tacit.AffineMasks(10.0, pairing=pairing)) for pairing in PAIRINGS),
    *(("nids", tacit.AffineMasks(10.0, pairing=pairing)) for pairing in PAIRINGS),
    *(("direct", tacit.QuadraticMasks(10.0, pairing=pairing)) for pairing in PAIRINGS),
    *((name, tacit.SumMasks(pairing=pairing)) for name in ("newton", "lbfgs", "fista") for pairing in PAIRINGS),
    ("direct", tacit.SumMasks(words=2)),
    ("extra", None),
]
RUNS = list(zip(range(200), itertools.cycle(WAYS), strict=False))
KILLS = 4


@pytest.mark.endurance
@pytest.mark.parametrize(
    ("trial", "way"), RUNS, ids=[f"{k}, {name}, {getattr(p, 'pairing', 'plain')}" for k, (name, p) in RUNS]
)
def test_two_hundred_runs_with_members_killed_at_random_end_with_the_same_bits(federation, trial, way):
    """`kill -9` and restart: never a redrawn mask, never another answer."""
    name, privacy = way
    moments = random.Random(trial)  # noqa: S311
    peers = federation(algorithm=name, privacy=privacy, n=4, tolerance=1e-8)
    expected = peers.expected()
    members = peers.start()
    time.sleep(moments.uniform(0.0, 0.4))
    for _ in range(KILLS):
        member = moments.choice(members)
        if member.process.is_alive():
            member.kill()
            member.start()
        time.sleep(moments.uniform(0.0, 0.15))
    outcomes = collect(members)
    assert np.array_equal(np.stack([outcome.x for outcome, _ in outcomes]), expected.x)
    assert {outcome.rounds for outcome, _ in outcomes} == {expected.rounds}
