"""Machines that are put back to an older state, by a snapshot, a backup or a clone, beside a root that lies.

What a member has said behind a mask stays said. If it is put back and led to another point, and said its numbers
there behind the same mask, the difference of the two would be its own change, exactly.
"""

import shutil
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from lockstep import Lockstep

import tacit
from tacit.errors import NetworkError
from tacit.masks import SumMasks
from tacit.masks.randomness import Keystream
from tacit.masks.sums import SecretSums
from tacit.protocol import Channel, Frame
from tacit.runtimes import Job, StoppingRule, agents
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.solving import choose

PAIRINGS = ["both", "one-sided", "seeds"]
ALGORITHMS = ["newton", "lbfgs", "fista"]
LIED_IN, LIE = 2, np.uint64(1 << 34)  # from which sum on the root lies, and by how much


@pytest.fixture
def lives(monkeypatch):
    """Return a function that runs six members of the same keys, as often as they are put back to the beginning.

    What it returns are, by member, its words and its numbers, sum by sum. A lying root tells all the same.
    """

    def live(*, pairing, algorithm, lies, turns=True):
        words, numbers = {}, {}
        adds, masks = LinkedPeers.sum, SecretSums._masked

        def masked(self, v, complaint):
            numbers.setdefault(self._peers._me, []).append(self._fixed_point.encode(v))
            words.setdefault(self._peers._me, []).append(masks(self, v, complaint))
            return words[self._peers._me][-1]

        def added(self, v, add=np.add):
            if self._parent is None and lies and len(words[self._me]) >= LIED_IN:
                v = np.concatenate([v[:-1] + LIE, v[-1:]])  # the last is for complaints
            return adds(self, v, add)

        with monkeypatch.context() as patched:
            patched.setattr(SecretSums, "_masked", masked)
            patched.setattr(LinkedPeers, "sum", added)
            if not turns:
                patched.setattr(Keystream, "turn", lambda self, total: None)
            agents.run(job_of(pairing, algorithm))
        return words, numbers

    return live


def job_of(pairing, algorithm):
    rng = np.random.default_rng(4)
    costs = [tacit.Logistic(rng.standard_normal((9, 3)), np.sign(rng.standard_normal(9)), l2=1.0) for _ in range(6)]
    problem = tacit.Problem(nx.circulant_graph(6, [1, 2]), costs)
    masks = SumMasks(pairing=pairing)
    choice = choose(problem, algorithm, privacy=masks)
    return Job(
        network=problem.network,
        costs=problem.costs,
        stack=None,
        x0=problem.x0,
        algorithm=choice.algorithm,
        exact=True,
        weights=choice.weights,
        privacy=replace(masks, seed=9),
        rule=StoppingRule(tolerance=1e-6, max_rounds=40),
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_numbers_at_another_point_are_behind_other_masks_where_all_were_put_back_and_lied_to(
    lives, pairing, algorithm
):
    """Nobody can notice it: all honest members are told the same, as they were before, and it is something else."""
    told = {"pairing": pairing, "algorithm": algorithm}
    (before, held), (after, holds) = lives(**told, lies=False), lives(**told, lies=True)
    for member in range(6):
        for k in range(min(len(before[member]), len(after[member]))):
            change = holds[member][k] - held[member][k]
            seen = (after[member][k] - before[member][k])[: len(change)]
            if k < LIED_IN:
                assert not seen.any(), "told the same, it says the same"
            else:
                assert not (seen == change).any()
    later = zip(holds[1][LIED_IN:], held[1][LIED_IN:], strict=False)
    assert any((one != other).any() for one, other in later), "the lie has led nowhere else"


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_test_above_sees_a_change_where_masks_do_not_turn(lives, pairing):
    told = {"pairing": pairing, "algorithm": "newton", "turns": False}
    (before, held), (after, holds) = lives(**told, lies=False), lives(**told, lies=True)
    change = holds[3][LIED_IN] - held[3][LIED_IN]
    assert ((after[3][LIED_IN] - before[3][LIED_IN])[: len(change)] == change).all()


# with files -------------------------------------------------------------------------------------------------------

ROOT, VICTIM = "member-0", "member-1"


class Snapshot(Lockstep):
    """A world in which one member's files are copied, and put back when it is killed later."""

    copy_at, kill_at = 6, 12  # messages to the root
    copied = put_back = False

    def turned(self, turn, players):
        said = sum(a == VICTIM and b == ROOT for _, a, b, _ in self.spoken)
        if not self.copied and said >= self.copy_at:
            shutil.copytree(self.folder, self.folder / "copy", ignore=shutil.ignore_patterns("copy", "*.key"))
            self.copied = True
        for player in players:
            if player.name == VICTIM and not self.put_back and said >= self.kill_at:
                player.dies_at = player.acts + 1

    def died(self, name):
        self.put_back = True
        self.said_before = {key for key in self.spoken if key[1] == VICTIM}
        for file in self.folder.glob(f"{VICTIM}-*.state*"):
            file.unlink()
        for file in (self.folder / "copy").glob(f"{VICTIM}-*.state*"):
            shutil.copy2(file, self.folder)

    def lay(self, a, b, data):
        if a == ROOT:  # it may say something else than before
            for key in [key for key in self.spoken if key[1:3] == (ROOT, VICTIM)]:
                del self.spoken[key]
        super().lay(a, b, data)


def other(body):
    """Return a total that is not what was told before."""
    return body[:9] + bytes([body[9] ^ 1]) + body[10:]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_a_member_that_is_put_back_says_nothing_new_whatever_the_root_tells_it(federation, monkeypatch, pairing):
    """Its honest neighbours know that it has said more than its file does: it stops before it says anything else."""
    peers, worlds, keeps = federation(algorithm="lbfgs", privacy=SumMasks(pairing=pairing), n=6), [], Channel.wanted

    def wanted(self, number):
        frames = keeps(self, number)
        if worlds[0].put_back and (self.me, self.neighbour) == (ROOT, VICTIM):
            return [Frame(f.kind, f.number, f.acknowledged, other(bytes(f.body))) for f in frames]
        return frames

    def world(seed):
        worlds.append(Snapshot(seed=seed))
        return worlds[0]

    monkeypatch.setattr(Channel, "wanted", wanted)
    _, ends = peers.play(world, patience=4.0)
    assert worlds[0].put_back
    assert isinstance(ends[VICTIM], NetworkError)
    assert {key for key in worlds[0].spoken if key[1] == VICTIM} == worlds[0].said_before
