"""A member that talks for ever and never says what is due: patience counts what is waited for, and not bytes."""

import numpy as np
import pytest
from lockstep import Lockstep

from tacit.errors import NetworkError
from tacit.masks import AffineMasks, SumMasks
from tacit.protocol import Frame, Kind
from tacit.runtimes.linked_peers import LinkedPeers

LIAR, PATIENCE, SILENT_AT = "member-0", 5.0, 6


def pings(world, neighbour):
    return Frame(Kind.PING, 0, 0).encode()


def old_messages(world, neighbour):
    """Return all that the liar has said to a neighbour, once more."""
    said = [(n, body) for (_, a, b, n), body in world.spoken.items() if (a, b) == (LIAR, neighbour)]
    return b"".join(Frame(Kind.DATA, n, 0, body).encode() for n, body in said)


def byte_by_byte(world, neighbour):
    """Return one byte more of a message that never ends."""
    number = sum((a, b) == (LIAR, neighbour) for _, a, b, _ in world.spoken)
    frame = Frame(Kind.DATA, number, 0, bytes(500)).encode()
    place = world.begun[neighbour] = world.begun.get(neighbour, -1) + 1
    return frame[place : place + 1]


def hanging_up(world, neighbour):
    """Hang up, and come back in the next turn."""
    world.cut(LIAR, neighbour)
    return b""


CHATTER = [pings, old_messages, byte_by_byte, hanging_up]


class Chatter(Lockstep):
    """A world in which one member says something in every turn, once it has stopped saying what is due."""

    chatter, silent = staticmethod(pings), False
    began = others_left = 0.0
    """When the member fell silent, and until when others were there."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.begun = {}

    def turned(self, turn, players):
        if any(player.name != LIAR for player in players):
            self.others_left = self.now
        for a, b in list(self._pipes):
            if a == LIAR and self.silent:
                said = self.chatter(self, b)
                if (a, b) in self._pipes:
                    self._pipes[a, b] += said


@pytest.mark.parametrize(
    ("algorithm", "privacy"), [("nids", AffineMasks(10.0)), ("lbfgs", SumMasks())], ids=["gossip", "sums"]
)
@pytest.mark.parametrize("chatter", CHATTER, ids=lambda chatter: chatter.__name__)
def test_whoever_talks_for_ever_is_waited_for_as_long_as_one_who_is_silent(
    federation, monkeypatch, chatter, algorithm, privacy
):
    worlds = []

    class Silent(LinkedPeers):
        turns = 0

        def mix(self, x):
            self.wait()
            return super().mix(x)

        def sum(self, v, add=np.add):
            self.wait()
            return super().sum(v, add)

        def wait(self):
            self.turns += 1
            if self._me == 0 and self.turns == SILENT_AT:
                worlds[0].silent, worlds[0].began = True, worlds[0].now
                while worlds[0].now < 100 * PATIENCE:
                    worlds[0].pause(100 * PATIENCE)

    def world(seed):
        worlds.append(Chatter(seed=seed, tick=0.05))
        worlds[0].chatter = chatter
        return worlds[0]

    monkeypatch.setattr("tacit.runtimes.peers.agent.LinkedPeers", Silent)
    peers = federation(algorithm=algorithm, privacy=privacy, n=6)
    _, ends = peers.play(world, patience=PATIENCE)
    assert 0.0 < worlds[0].began < worlds[0].others_left < worlds[0].began + 3 * PATIENCE
    for name in peers.names[1:]:
        assert isinstance(ends[name], NetworkError)
        assert "has not answered for" in str(ends[name])
    assert f"{LIAR} has not answered for" in str(ends["member-1"])
