"""Real agents in memory: threads of which one runs at a time, links without sockets, and a clock by hand.

Everything above the sockets is the product: agents, stores on disk, channels, epochs. An agent runs until it waits;
then the others do, in an order that a seed decides, and what they wrote arrives. The clock goes on by *tick* at
every turn, and to the next moment that somebody waits for when nothing else happens. A member can be killed before
or after anything that it writes or sends, by the number of that act: what was not committed is gone, and it is
started again some turns later.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.errors import ProtocolError
from tacit.federation.joining import seat_of
from tacit.federation.rotation import key_of
from tacit.protocol import Alarm, Dialogue, Frame, Kind, Parser, Parting, Phase
from tacit.protocol.record import Stage
from tacit.protocol.run import MAY_SAY, Word
from tacit.runtimes.peers import Agent
from tacit.runtimes.peers.connections import Neighbour
from tacit.runtimes.peers.store import Store

WORDS = {Kind.HELLO: Word.GREETING, Kind.PING: Word.GREETING, Kind.DATA: Word.BARRIER, Kind.BYE: Word.GOODBYE}
STUCK = 120.0  # real seconds in which a member that is neither waiting nor over says where it is
GIVEN_UP = 20_000  # turns after which a run that does not end is a failure


class Killed(BaseException):
    """The power is cut."""


class Links:
    """One agent's connections, as far as its algorithm sees them."""

    def __init__(self, lockstep: Lockstep, name: str, channels: dict[str, Any]) -> None:
        self._all, self._name = lockstep, name
        self.neighbours = {
            other: Neighbour(name=other, host="", port=0, certificate=b"", dials=False, channel=channel)
            for other, channel in channels.items()
        }
        self.guard, self.failure = threading.Lock(), None

    def start(self) -> None:
        self._all.online[self._name] = self

    def stop(self) -> None:
        for other in self.neighbours:
            self._all.cut(self._name, other)
        self._all.online.pop(self._name, None)

    def write(self, frames: dict[str, list[Frame]]) -> None:
        self._all.act()
        for other, each in frames.items():
            if self.neighbours[other].open:
                self._all.lay(self._name, other, b"".join(frame.encode() for frame in each))
        self._all.act()

    def wait(self, goal: Callable[[], bool], seconds: float) -> bool:
        end = self._all.now + seconds
        while not goal():
            if self._all.now >= end:
                return False
            self._all.pause(end)
        return True


class Player:
    """One member's process."""

    def __init__(self, lockstep: Lockstep, name: str, play: Callable[[], Any], dies_at: int | None) -> None:
        self._all, self.name, self._play = lockstep, name, play
        self.turn, self.acts, self.dies_at, self.wakes = threading.Semaphore(0), 0, dies_at, 0.0
        self.end: Any = None
        self.over = False
        self.thread = threading.Thread(target=self._body, name=name, daemon=True)
        self.thread.start()

    def _body(self) -> None:
        self.turn.acquire()
        try:
            self.end = self._play()
        except BaseException as error:
            self.end = error
        finally:
            self.over = True
            self._all.main.release()


class Lockstep:
    """A federation on one thread at a time."""

    def __init__(self, *, seed: int = 0, tick: float = 0.02) -> None:
        self.now, self.main, self.tick = 0.0, threading.Semaphore(0), tick
        self.online: dict[str, Links] = {}
        self.folder = Path()
        self._order = random.Random(seed)  # noqa: S311
        self._ends: dict[tuple[str, str], Dialogue] = {}
        self._pipes: dict[tuple[str, str], bytearray] = {}
        self._playing: Player | None = None
        self.spoken: dict[tuple[str, str, str, int], bytes] = {}
        """All messages that ever left, by session, sender, receiver and number."""
        self.stages: dict[str, Stage] = {}
        """Of every state file, by name, as it is on disk."""
        self.acts = self.kills = 0
        self._dying = False

    def agent(self, manifest: Any, cost: Any, name: str, folder: Any) -> Agent:
        """Return a member that lives here."""
        self.folder = Path(folder)
        return Agent(
            manifest.job(), seat_of(manifest, name), cost, key=key_of(manifest, name, self.folder), folder=folder, durable=False,
            clock=lambda: self.now,
            connect=lambda seat, key, channels, **_: Links(self, seat.me, dict(channels)),
        )  # fmt: skip

    def run(
        self,
        plays: dict[str, Callable[[], Any]],
        deaths: dict[str, list[int]] | None = None,
        *,
        gone: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Play all parts to their end, and return it: an outcome, or an error.

        *deaths* are acts of a member, one for each life: it is killed there and started again, unless it is *gone*.
        """
        left = {name: list(acts) for name, acts in (deaths or {}).items()}
        ends: dict[str, Any] = {}

        def born(name: str) -> Player:
            return Player(self, name, plays[name], left[name].pop(0) if left.get(name) else None)

        with acts_of(self):
            players = [born(name) for name in plays]
            for turn in range(GIVEN_UP):
                if not players:
                    return ends
                self.turned(turn, players)
                before = self.acts
                delivered = self._carry()
                for player in self._order.sample(players, len(players)):
                    self._resume(player)
                for player in [player for player in players if player.over]:
                    player.thread.join()
                    players.remove(player)
                    if isinstance(player.end, Killed) and player.name not in gone:
                        self.died(player.name)
                        players.append(born(player.name))
                    else:
                        ends[player.name] = player.end
                self.now += self.tick
                if players and not delivered and self.acts == before:
                    self.now = max(self.now, min(player.wakes for player in players))
        raise AssertionError(f"{[player.name for player in players]} never end")

    def turned(self, turn: int, players: list[Player]) -> None:
        """Do nothing: worlds in which more happens between two turns do it here."""

    def died(self, name: str) -> None:
        """Do nothing: worlds in which a death takes more with it take it here."""

    # called in a player's thread ----------------------------------------------------------------------------------

    def pause(self, until: float) -> None:
        player = self._playing
        if player is None:  # an agent by itself
            self.now = until
            return
        player.wakes = until
        self.main.release()
        player.turn.acquire()

    def act(self) -> None:
        """Count something that a member does; this may be the moment at which it is killed."""
        player = self._playing
        if player is None or threading.current_thread() is not player.thread:
            return
        self.acts += 1
        player.acts += 1
        if player.acts == player.dies_at:
            self.kills += 1
            self._dying = True
            raise Killed

    def lay(self, a: str, b: str, data: bytes) -> None:
        """Let bytes leave: what is on disk must allow them, and no word is said otherwise the second time."""
        self.acts += 1
        if (a, b) not in self._pipes:
            return
        session = self.online[a].neighbours[b].channel.session
        stage = self.stages.get(f"{a}-{session[:12]}.state", Stage.ERASED)
        for frame in Parser(1 << 24).feed(data):
            is_alarm = frame.kind is Kind.BYE and (frame.body == Parting.LOST.value or Alarm.decode(frame.body))
            word = Word.ALARM if is_alarm else WORDS[frame.kind]
            assert word in MAY_SAY[stage], f"{a} says {frame.kind.name} where its file is {stage.name}"
            if frame.kind is Kind.DATA:
                spoken = self.spoken.setdefault((session, a, b, frame.number), frame.body)
                assert spoken == frame.body, f"{a} says something else to {b} than before"
        self._pipes[a, b] += data

    def cut(self, a: str, b: str) -> None:
        for end in ((a, b), (b, a)):
            if end[0] == a and self._arrives():
                self._deliver(*end)
            self._ends.pop(end, None)
            self._pipes.pop(end, None)
            links = self.online.get(end[0])
            if links is not None and end[1] in links.neighbours:
                links.neighbours[end[1]].open = False

    def _arrives(self) -> bool:
        """Tell whether what was written still arrives: always, unless its sender was killed."""
        return not self._dying or self._order.random() < 0.5

    # the scheduler ------------------------------------------------------------------------------------------------

    def _resume(self, player: Player) -> None:
        self._playing = player
        player.turn.release()
        if not self.main.acquire(timeout=STUCK):
            frame = sys._current_frames().get(player.thread.ident)
            where = "".join(traceback.format_stack(frame)) if frame is not None else "nowhere"
            raise AssertionError(f"{player.name} neither waits nor ends:\n{where}")
        self._playing, self._dying = None, False

    def _carry(self) -> int:
        """Connect whoever can be, and let everything arrive."""
        for a, links in list(self.online.items()):
            for b in links.neighbours:
                if b in self.online and (a, b) not in self._ends and a in self.online[b].neighbours:
                    self._connect(a, b)
        return sum(self._deliver(*end) for end in list(self._pipes))

    def _connect(self, a: str, b: str) -> None:
        for one, other in ((a, b), (b, a)):
            channel = self.online[one].neighbours[other].channel
            self._ends[one, other], self._pipes[one, other] = Dialogue(channel), bytearray()
            self.lay(one, other, channel.hello().encode())

    def _deliver(self, a: str, b: str) -> int:
        """Let all that a wrote arrive at b, in one piece."""
        data = bytes(self._pipes.get((a, b), b""))
        end = self._ends.get((b, a))
        if not data or end is None or b not in self.online:
            return 0
        self._pipes[a, b].clear()
        neighbour = self.online[b].neighbours[a]
        try:
            answers = end.feed(data)
        except ProtocolError as error:
            neighbour.violations += 1
            neighbour.trouble = str(error)
            self._ends.pop((b, a))
            if end.last_words is not None:
                self.lay(b, a, end.last_words.encode())
                self._deliver(b, a)
            return 0
        if not neighbour.open and end.phase is Phase.OPEN:
            neighbour.open = True
            neighbour.connected += 1
        for frame in answers:
            self.lay(b, a, frame.encode())
        return 1


@contextlib.contextmanager
def acts_of(lockstep: Lockstep) -> Any:
    """Let every write to a state file be an act, before and after it is done."""
    names = ("commit", "sent", "save", "write", "erase", "forget")
    methods = {name: getattr(Store, name) for name in names}

    def counted(name: str) -> Callable[..., Any]:
        def method(self: Store, *given: Any, **settings: Any) -> Any:
            lockstep.act()
            result = methods[name](self, *given, **settings)
            lockstep.stages[self.path.name] = self.record.stage
            lockstep.act()
            return result

        return method

    def opened(self: Store, *given: Any, **settings: Any) -> None:
        begun(self, *given, **{**settings, "threaded": False})
        lockstep.stages[self.path.name] = self.record.stage

    begun, Store.__init__ = Store.__init__, opened

    for name in names:
        setattr(Store, name, counted(name))
    try:
        yield
    finally:
        Store.__init__ = begun
        for name, method in methods.items():
            setattr(Store, name, method)
