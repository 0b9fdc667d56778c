"""Members in memory: real channels, the real table, a disk that forgets what was not committed, and a clock by hand.

A member does what `tacit.runtimes.peers.agent` does, one act at a time, so that a crash can come between any two:
it begins, waits for all, swaps masks, waits for all, publishes what the masks hide, and says goodbye. Its cost is a
number; behind masks r it publishes cost + Σ (r_in − r_out) modulo 2⁶⁴, and everybody adds up what all have published:
the sum of the costs of those who take part, or something has gone wrong. All words of the rounds hang together by
digests, so that a wrong, doubled or missing one anywhere changes everything after it.

The world sees every byte that leaves, and judges it by what is on its sender's disk at that moment.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import networkx as nx

from tacit.errors import ProtocolError, TacitError
from tacit.protocol import Channel, Dialogue, Frame, Kind, Parser, Parting, Phase
from tacit.protocol.farewell import Farewell, Line
from tacit.protocol.record import Mark, Record, Stage
from tacit.protocol.run import (
    MAY_SAY,
    Begin,
    Commit,
    Draw,
    End,
    Erase,
    Event,
    Forget,
    Goodbyes,
    Publish,
    Reuse,
    Supersede,
    Word,
    carry,
    step,
)

COSTS = {"north": 1_000_003, "east": 20_000_017, "south": 300_000_007, "west": 4_000_000_007}
LINKS = [("north", "east"), ("east", "south"), ("south", "west"), ("west", "north"), ("north", "south")]
MODULUS = 1 << 64
HOPS = 2  # so many exchanges reach everybody, also where one has left
ROUNDS = 4
PATIENCE = 30.0
LIMIT = 4096

ORDER = {stage: k for k, stage in enumerate(Stage)}

encode, decode = msgspec.json.encode, msgspec.json.decode


def digest(*parts: bytes | str) -> str:
    return hashlib.blake2b(
        b"|".join(p if isinstance(p, bytes) else p.encode() for p in parts), digest_size=8
    ).hexdigest()


class Agreement(msgspec.Struct, frozen=True):
    """What the members have agreed on: a manifest in four words."""

    members: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    once: bool
    """Whether masks serve one sum only."""
    epoch: int = 0
    previous: str = ""

    def session(self) -> str:
        return digest(encode(self))

    def graph(self) -> Any:
        return nx.Graph(self.links)

    def neighbours(self, me: str) -> tuple[str, ...]:
        return tuple(name for name in self.members if (me, name) in self.links or (name, me) in self.links)

    def without(self, gone: set[str]) -> Agreement | None:
        """Return the next epoch; None where too few or unconnected members would stay."""
        members = tuple(name for name in self.members if name not in gone)
        links = tuple(link for link in self.links if not gone & {*link})
        graph = nx.Graph(links)
        if len(members) < 2 or {*graph} != {*members} or not nx.is_connected(graph):
            return None
        return Agreement(members, links, self.once, self.epoch + 1, self.session())


@dataclass
class Disk:
    """One state file, and the answer beside it. What waits for a commit is lost in a crash, but for the log of what
    was drawn up, of which a crash may leave any beginning."""

    record: bytes = b""
    outbox: dict[str, dict[int, bytes]] = field(default_factory=dict)
    journal: dict[str, list[bytes]] = field(default_factory=dict)
    checkpoint: tuple[int, str, int, dict[str, Mark]] | None = None
    answer: bytes = b""
    open: list[Callable[[], None]] = field(default_factory=list)
    log: list[tuple[str, int, bytes]] = field(default_factory=list)

    def read(self) -> Record:
        return Record.decode(self.record) if self.record else Record()

    def commit(self) -> None:
        self._keep(len(self.log))
        for write in self.open:
            write()
        self.open.clear()

    def crash(self, left: int) -> None:
        self._keep(left)
        self.open.clear()
        self.log.clear()

    def _keep(self, count: int) -> None:
        for name, number, body in self.log[:count]:
            self.outbox.setdefault(name, {})[number] = body
        del self.log[:count]

    def erase(self) -> None:
        self.record, self.outbox, self.journal, self.checkpoint = b"", {}, {}, None

    def everything(self) -> bytes:
        """Return all bytes that lie here."""
        bodies = [body for kept in self.outbox.values() for body in kept.values()]
        return b"".join([self.record, *bodies, *itertools.chain(*self.journal.values()), self.answer])


class LostPatience(Exception):  # noqa: N818
    """A neighbour has not answered for too long: the state is kept."""


class Member:
    """One member's process: started, stopped, and started again."""

    def __init__(self, name: str, agreement: Agreement, world: World) -> None:
        self.name, self.agreement, self.world = name, agreement, world
        self.session = agreement.session()
        self.disk = world.disks.setdefault((name, self.session), Disk())
        self.record = self.disk.read()
        self.channels: dict[str, Channel] = {}
        self.online = False
        self.state = "runs"
        """Or "done", "kept" where somebody may still need it, "patient" no more, "refused"."""
        self.error = ""
        self.acts = self.live()

    # what the runtime does ------------------------------------------------------------------------------------

    def live(self) -> Iterator[str | None]:
        """Do everything; between any two acts a crash may come. None: nothing to do until something happens."""
        if self.disk.answer:
            self.record = Record.decode(self.disk.answer)
            self.disk.erase()
            return
        yield from self.begin()
        self.connect()
        if not self.record.has_ended:
            yield from self.take_part()
        yield from self.part()
        if self.record.stage is Stage.PARTED:
            self.disk.answer = step(self.record, Erase()).encode()
            yield "answered"
            self.disk.erase()
        else:
            self.state = "kept"

    def begin(self) -> Iterator[str]:
        agreement, cost = self.agreement, digest(str(COSTS[self.name])).encode()
        event = Begin(
            self.session, cost, encode(agreement), agreement.neighbours(self.name), self.world.fresh_key(self.name)
        )
        former = self.world.disks.get((self.name, agreement.previous))
        if agreement.epoch and not self.record.has_begun:
            if former is not None and former.answer:
                raise TacitError("this member has its answer: it ended in the epoch before.")
            if former is None or not former.record:
                raise TacitError("the file of the epoch before is not there.")
            before = former.read()
            names = decode(before.agreement or encode(agreement), type=Agreement).neighbours(self.name)
            brought = carry(
                before, by=self.session, previous=agreement.previous,
                journal=[former.journal.get(name, []) for name in names], x=b"",
            )  # fmt: skip
            former.record = step(before, Supersede(self.session, agreement.previous, cost)).encode()
            yield "marked"
            event = event._replace(carried=brought)
        self.advance(event)
        yield "begun"
        if former is not None and former.record:
            former.record = step(former.read(), Forget()).encode()
            former.outbox, former.journal, former.checkpoint = {}, {}, None
            yield "emptied"

    def connect(self) -> None:
        """Fill the channels, once, from wherever the run is."""
        at = self.disk.checkpoint
        for row, name in enumerate(self.record.neighbours):
            link = Channel(me=self.name, neighbour=name, session=self.session, parts={}, limit=LIMIT)
            over = self.record.has_ended
            mark = self.record.marks[row] if over else (at[3][name] if at else Mark(0, 0))
            kept = sorted(self.disk.outbox.get(name, {}).items())
            link.restore(
                kept, [] if over else list(self.disk.journal.get(name, [])), cursor=mark.sent, used=mark.used
            )
            if over:
                link.rewind(cursor=mark.sent, used=mark.used)
            link.finished = name in self.record.goodbyes
            self.channels[name] = link
        self.online = True

    def take_part(self) -> Iterator[str | None]:
        me, carried = self.name, self.record.carried
        yield from self.gather(Word.BARRIER, "", setting_up=True)
        published = False
        if carried is not None:
            published = any((yield from self.gather(Word.BARRIER, carried.committed, setting_up=True)).values())
        if published and not self.agreement.once:
            self.advance(Reuse())
            yield "masked"
            hidden, draw = self.carried_masks(), carried.key
        else:
            self.advance(Draw(once=self.agreement.once))
            yield "masked"
            hidden, draw = (yield from self.own_masks()), self.record.key
        hidden = (COSTS[me] + hidden) % MODULUS
        yield from self.gather(Word.BARRIER, "", setting_up=True)
        self.advance(Commit())
        yield "committed"
        self.world.ledger.add((me, draw, self.session))
        yield "entered"
        self.advance(Publish())
        yield "published"
        yield from self.rounds(hidden, draw)

    def rounds(self, hidden: int, draw: bytes) -> Iterator[str | None]:
        self.world.hides(self.name, draw, hidden, self.session)
        done, chain, total, saved = 0, digest(self.session), 0, False
        if self.disk.checkpoint is not None:
            done, chain, total, marks = self.disk.checkpoint
            for name, link in self.channels.items():
                link.rewind(cursor=marks[name].sent, used=marks[name].used)
        while done < ROUNDS:
            seen = yield from self.gather(Word.ROUND, [str(hidden), chain])
            done += 1
            chain = digest(*(f"{name}{value}" for name, value in sorted(seen.items())))
            total = sum(int(value) for value, _ in seen.values()) % MODULUS
            assert {*seen} == {*self.agreement.members}
            if self.world.checkpoints and not saved:
                self.save(done, chain, total)
                yield "saved"
        yield from self.flush(Word.ROUND, [])
        marks = [Mark(link.cursor, link.used) for link in self.channels.values()]
        self.advance(End(marks, encode([total, chain])))
        yield "ended"

    def part(self) -> Iterator[str | None]:
        leaving = Farewell(self.world.now, PATIENCE)
        while self.world.now < leaving.ends:
            lines = [self.line(name) for name in self.channels]
            greeted = leaving.look(lines, self.world.now)
            for name in greeted:
                frame = Frame(Kind.BYE, 0, self.channels[name].used)
                self.world.write(self, name, frame.encode())
                yield "said goodbye"
            self.advance(Goodbyes([line.name for line in lines if line.needs_nothing]))
            yield "noted"
            for name in leaving.answer(lines):
                frame = Frame(Kind.BYE, 0, self.channels[name].used, Parting.NOTED.value)
                self.world.write(self, name, frame.encode())
                yield "said so"
            if self.record.stage is Stage.PARTED and leaving.is_over(lines, self.world.now):
                return
            if [self.line(name) for name in self.channels] == lines:
                yield None

    def line(self, name: str) -> Line:
        end = self.world.ends.get((self.name, name))
        up = end is not None and end.phase is Phase.OPEN
        link = self.channels[name]
        connected = self.world.connected.get((self.name, name), 0)
        return Line(name, up, connected, link.confirmed, link.needs_nothing, link.goodbyes, has_noted=link.noted)

    # the algorithm's side -----------------------------------------------------------------------------------------

    def own_masks(self) -> Iterator[str | None]:
        """Swap masks with all neighbours: what came in less what went out."""
        out = {name: masks_of(self.record.key, name) for name in self.channels}
        came = yield from self.exchange(
            {name: encode([Word.MASK.value, str(r)]) for name, r in out.items()}, Word.MASK, setting_up=True
        )
        return sum(int(decode(body)[1]) for body in came.values()) - sum(out.values())

    def carried_masks(self) -> int:
        """Work the masks out again, without those shared with whoever has left."""
        carried = self.record.carried
        origin = decode(carried.agreement, type=Agreement)
        total = 0
        for name, messages in zip(origin.neighbours(self.name), carried.journal, strict=True):
            if name in self.agreement.members:
                came = [decode(body)[1] for body in messages if decode(body)[0] == Word.MASK.value]
                assert len(came) == 1, "masks are not complete"
                total += int(came[0]) - masks_of(carried.key, name)
        return total

    def gather(self, word: Word, value: Any, *, setting_up: bool = False) -> Iterator[str | None]:
        """Return everybody's value, by name."""
        known = {self.name: value}
        for _ in range(HOPS):
            body = encode([word.value, dict(sorted(known.items()))])
            came = yield from self.exchange(dict.fromkeys(self.channels, body), word, setting_up=setting_up)
            for each in came.values():
                known |= decode(each)[1]
        return known

    def exchange(self, bodies: dict[str, bytes], word: Word, *, setting_up: bool) -> Iterator[str | None]:
        frames = []
        for name, body in bodies.items():
            frame = self.channels[name].put(body)
            if frame is not None:
                self.disk.log.append((name, frame.number, body))
                frames.append((name, frame))
            yield "drawn up"
        yield from self.flush(word, frames)
        came = {}
        for name, link in self.channels.items():
            since = self.world.now
            while (body := link.take()) is None:
                if self.world.now - since > PATIENCE:
                    raise LostPatience
                yield None
            if setting_up:
                self.disk.open.append(
                    lambda name=name, number=link.used - 1, body=body: self.came(name, number, body)
                )
            came[name] = body
            yield "heard"
        return came

    def came(self, name: str, number: int, body: bytes) -> None:
        kept = self.disk.journal.setdefault(name, [])
        if number == len(kept):
            kept.append(body)

    def flush(self, word: Word, frames: list[tuple[str, Frame]]) -> Iterator[str]:
        self.disk.commit()
        for link in self.channels.values():
            link.committed()
        if self.disk.checkpoint is not None:
            for name, mark in self.disk.checkpoint[3].items():
                self.channels[name].safe = max(self.channels[name].safe, mark.used)
        yield "written"
        for name, frame in frames:
            self.world.write(self, name, frame.encode())
            yield "sent"

    def save(self, done: int, chain: str, total: int) -> None:
        marks = {name: Mark(link.cursor, link.used) for name, link in self.channels.items()}
        first = {name: min(link.kept_from, link.cursor) for name, link in self.channels.items()}

        def write() -> None:
            self.disk.checkpoint = (done, chain, total, marks)
            for name, number in first.items():
                kept = self.disk.outbox.get(name, {})
                self.disk.outbox[name] = {k: body for k, body in kept.items() if k >= number}

        self.disk.open.append(write)

    def advance(self, event: Event) -> None:
        """Let something happen: it is on disk when this returns, with all that was written before it."""
        self.record = step(self.record, event)
        self.write(self.record.encode())
        self.disk.commit()

    def write(self, data: bytes) -> None:
        self.disk.open.append(lambda: setattr(self.disk, "record", data))

    # what happens to it -----------------------------------------------------------------------------------------

    def work(self, acts: int) -> None:
        for _ in range(acts):
            if self.state != "runs":
                return
            try:
                if next(self.acts) is None:
                    return
            except StopIteration:
                self.stop("done" if self.state == "runs" else self.state)
            except LostPatience:
                self.stop("patient")
            except TacitError as error:
                self.error = str(error)
                self.stop("refused")

    def stop(self, state: str, left: int = 0) -> None:
        self.state, self.online = state, False
        self.acts.close()
        self.disk.crash(left)
        for name in self.channels:
            if state in ("done", "kept"):  # in good order: what was written still arrives
                self.world.deliver(self.name, name, 20)
            self.world.cut(self.name, name)


def masks_of(key: bytes, name: str) -> int:
    return int(digest(key, name), 16)


class World:
    """All members, all disks, all links, and a clock."""

    def __init__(self, *, once: bool, checkpoints: bool) -> None:
        self.now, self.checkpoints = 0.0, checkpoints
        self.disks: dict[tuple[str, str], Disk] = {}
        self.agreements = [Agreement(tuple(COSTS), tuple(LINKS), once)]
        self.members: dict[str, Member] = {}
        self.left: set[str] = set()
        self.ends: dict[tuple[str, str], Dialogue] = {}
        self.pipes: dict[tuple[str, str], bytearray] = {}
        self.connected: dict[tuple[str, str], int] = {}
        self.spoken: dict[tuple[str, str, str, int], bytes] = {}
        self.draws: dict[str, set[bytes]] = {name: set() for name in COSTS}
        self.sums: dict[bytes, set[tuple[int, str]]] = {}
        self.keys: list[bytes] = []
        self.ledger: set[tuple[str, bytes, str]] = set()

    def fresh_key(self, name: str) -> bytes:
        """Never the same twice: who draws again draws something else."""
        self.keys.append(hashlib.blake2b(f"{name}{len(self.keys)}".encode(), digest_size=32).digest())
        return self.keys[-1]

    @property
    def newest(self) -> Agreement:
        return self.agreements[-1]

    # members ----------------------------------------------------------------------------------------------------

    def start(self, name: str, agreement: Agreement | None = None) -> Member:
        agreement = agreement or next(a for a in reversed(self.agreements) if name in a.members)
        if name in self.members:
            self.members[name].stop("stopped")
        self.members[name] = Member(name, agreement, self)
        return self.members[name]

    def crash(self, name: str, left: int) -> None:
        self.members[name].stop("crashed", left)

    def disk(self, name: str, agreement: Agreement | None = None) -> Disk:
        return self.disks.get((name, (agreement or self.newest).session()), Disk())

    def answer_before(self, name: str) -> bool:
        """Return whether a member came to the end of an epoch before the newest, and so cannot take part in it."""
        former = [self.disk(name, agreement) for agreement in self.agreements[:-1]]
        return any(disk.answer or disk.read().has_ended for disk in former)

    def go_on_without(self) -> Agreement | None:
        """Agree on the next epoch: without those who have left, and those who have an answer already."""
        newest = self.newest
        ended = {name for name in newest.members if self.disk(name).answer or self.disk(name).read().has_ended}
        begun = {name for name in newest.members if self.disk(name).read().has_begun}
        after = newest.without(self.left | ended | ({*newest.members} - begun))
        if after is not None:
            self.agreements.append(after)
        return after

    # links ------------------------------------------------------------------------------------------------------

    def connect(self, a: str, b: str) -> None:
        self.cut(a, b)
        here, there = self.members.get(a), self.members.get(b)
        if here is None or there is None or not (here.online and there.online):
            return
        if b not in here.channels or a not in there.channels:
            return
        for one, other in ((here, there), (there, here)):
            self.ends[one.name, other.name] = Dialogue(one.channels[other.name])
            self.pipes[one.name, other.name] = bytearray()
        for one, other in ((here, there), (there, here)):
            self.lay(one, other.name, one.channels[other.name].hello().encode())

    def cut(self, a: str, b: str) -> None:
        for end in ((a, b), (b, a)):
            self.ends.pop(end, None)
            self.pipes.pop(end, None)

    def write(self, sender: Member, to: str, data: bytes) -> None:
        end = self.ends.get((sender.name, to))
        if end is not None and end.phase is Phase.OPEN:
            self.lay(sender, to, data)

    def lay(self, sender: Member, to: str, data: bytes) -> None:
        """Let bytes leave, and judge them by what is on the sender's disk."""
        stage = sender.disk.read().stage
        for frame in Parser(LIMIT).feed(data):
            word = {Kind.HELLO: Word.GREETING, Kind.PING: Word.GREETING, Kind.BYE: Word.GOODBYE}.get(frame.kind)
            if frame.kind is Kind.DATA:
                word = Word(decode(frame.body)[0])
                kept = sender.disk.outbox.get(to, {}).get(frame.number)
                assert kept == frame.body, f"{sender.name} says what is not written down"
                place = (sender.session, sender.name, to, frame.number)
                assert self.spoken.setdefault(place, frame.body) == frame.body, "other words than before"
            assert word in MAY_SAY[stage], f"{sender.name} says a {word} where its disk is {stage}"
            if frame.kind is Kind.BYE and frame.body == Parting.NOTED.value:
                assert to in sender.disk.read().goodbyes, f"{sender.name} has not noted the goodbye of {to}"
        self.pipes[sender.name, to] += data

    def deliver(self, a: str, b: str, frames: int) -> None:
        """Let so many frames from a arrive at b, in one piece."""
        data, size = self.pipes.get((a, b), bytearray()), 0
        for _ in range(frames):
            if len(data) < size + 4:
                break
            size += 21 + int.from_bytes(data[size : size + 4])
        if not size:
            return
        burst = bytes(data[:size])
        del data[:size]
        end = self.ends[b, a]
        was_open = end.phase is Phase.OPEN
        try:
            answers = end.feed(burst)
        except ProtocolError:
            self.cut(a, b)
            return
        if not was_open and end.phase is Phase.OPEN:
            self.connected[b, a] = self.connected.get((b, a), 0) + 1
        for frame in answers:
            self.lay(self.members[b], a, frame.encode())

    # judgements -------------------------------------------------------------------------------------------------

    def hides(self, name: str, draw: bytes, hidden: int, session: str) -> None:
        """Note under which masks a member is about to publish."""
        assert (name, draw, session) in self.ledger
        self.draws[name].add(draw)
        self.sums.setdefault(draw, set()).add((hidden, session))
        if self.newest.once:
            assert len(self.sums[draw]) == 1, "one mask in two sums"
        else:
            assert len(self.draws[name]) == 1, f"a second view of {name}'s cost"

    def judge(self) -> None:
        for (name, session), disk in self.disks.items():
            record = disk.read()
            agreement = next(a for a in self.agreements if a.session() == session)
            if disk.answer:
                ended = Record.decode(disk.answer)
                assert ended.stage is Stage.ERASED
                assert not any(key in disk.answer for key in self.keys)
            else:
                ended = record if record.has_ended else None
            if ended is not None:
                total = sum(COSTS[member] for member in agreement.members) % MODULUS
                assert decode(ended.outcome)[0] == total, f"{name} has a wrong answer"
            if record.stage is Stage.PARTED or disk.answer:
                self._owes_nothing(name, session, agreement, ended)
            if record.stage is Stage.SUPERSEDED and not record.key:
                assert not any(key in disk.everything() for key in self.keys)
                assert not disk.journal
                assert not disk.outbox

    def _owes_nothing(self, name: str, session: str, agreement: Agreement, ended: Record) -> None:
        for other, mark in zip(ended.neighbours, ended.marks, strict=True):
            theirs = self.disks.get((other, session), Disk())
            if theirs.answer or theirs.read().has_ended or theirs.read().stage is Stage.SUPERSEDED:
                continue  # whoever has gone on to another epoch needs nothing more of this one
            used = theirs.checkpoint[3][name].used if theirs.checkpoint else 0
            assert used >= mark.sent, f"{name} has left, and {other} still needs a message"

    def settle(self, turns: int = 400) -> None:
        """No more faults: everything arrives, everybody works, and the clock goes on when nothing happens."""
        for _ in range(turns):
            waiting = [m for m in self.members.values() if m.state == "runs"]
            if not waiting:
                return
            for a, b in self.newest.links:
                if (a, b) not in self.ends:
                    self.connect(a, b)
            before = self._footprint()
            for end in list(self.pipes):
                self.deliver(*end, 20)
            for member in waiting:
                member.work(60)
            if self._footprint() == before:
                self.now += 5.0

    def run_until(self, name: str, stage: Stage, *, turns: int = 0, quantum: int = 7) -> None:
        """Let everybody go on, some acts at a time, until so many *turns* after a member has come to a stage."""
        for _ in range(100):
            member = self.members.get(name)
            if member is None or member.state != "runs":
                return
            if ORDER[member.record.stage] >= ORDER[stage]:
                turns -= 1
                if turns < 0:
                    return
            for a, b in member.agreement.links:
                if (a, b) not in self.ends:
                    self.connect(a, b)
            for end in list(self.pipes):
                self.deliver(*end, 20)
            for each in self.members.values():
                if each is not member:
                    each.work(quantum)
            for _ in range(quantum):  # one act at a time, so that it can be stopped right there
                if turns <= 0 and ORDER[member.record.stage] >= ORDER[stage]:
                    break
                member.work(1)

    def run_ahead(self, name: str) -> None:
        """Let everybody go on, and nothing that a member says from now on arrive."""
        for _ in range(3):
            for end in list(self.pipes):
                if end[0] != name:
                    self.deliver(*end, 20)
            for each in self.members.values():
                each.work(40)

    def _footprint(self) -> list[Any]:
        return [
            (m.name, m.state, m.disk.record, [(c.used, c.cursor, c.expected) for c in m.channels.values()])
            for m in self.members.values()
        ] + [len(pipe) for pipe in self.pipes.values()]
