"""Frames, payloads and channels without sockets, clocks or threads: one by one, then all at once under faults."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest
from hypothesis import Phase as Stage
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from tacit.algorithms import Bracket
from tacit.errors import ProtocolError, TacitError
from tacit.protocol import Channel, Dialogue, Frame, Kind, Parser, Parting, Phase, decode, encode, longest
from tacit.protocol import channel as channels
from tacit.runtimes.transcript import DIGEST_WORDS

LIMIT = 64
PARTS = {"title": "aa", "links": "bb"}


def channel(
    me: str = "north", neighbour: str = "south", *, session: str = "s", parts: dict[str, str] = PARTS
) -> Channel:
    return Channel(me=me, neighbour=neighbour, session=session, parts=parts, limit=LIMIT)


def joined() -> tuple[Channel, Dialogue, Channel, Dialogue]:
    """Two channels whose connections have greeted each other."""
    north, south = channel("north", "south"), channel("south", "north")
    a, b = Dialogue(north), Dialogue(south)
    assert a.feed(south.hello().encode()) == []
    assert b.feed(north.hello().encode()) == []
    return north, a, south, b


# frames -----------------------------------------------------------------------------------------------


FRAMES = [
    Frame(Kind.HELLO, 0, 3, b"{}"),
    Frame(Kind.DATA, 7, 2, b"f" + bytes(16)),
    Frame(Kind.PING, 0, 2**64 - 1),
    Frame(Kind.BYE, 0, 9, b"finished"),
    Frame(Kind.DATA, 2**64 - 1, 0, bytes(LIMIT)),
]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_frames_come_out_of_a_stream_as_they_went_in_however_it_is_cut(pieces):
    stream, parser, out, start = b"".join(f.encode() for f in FRAMES), Parser(LIMIT), [], 0
    for k in range(len(stream)):
        size = pieces[k % len(pieces)]
        out += parser.feed(stream[start : start + size])
        start += size
    assert out == FRAMES
    assert parser.waiting == 0


@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.name)
def test_a_body_longer_than_its_kind_may_be_is_refused_by_the_header_alone(kind):
    limit = {Kind.HELLO: 4096, Kind.DATA: LIMIT, Kind.PING: 0, Kind.BYE: 4096}[kind]
    header = Frame(kind, 0, 0, bytes(limit + 1)).encode()[:21]
    with pytest.raises(ProtocolError, match=rf"{limit + 1} bytes .* at most {limit}"):
        Parser(LIMIT).feed(header)
    assert Parser(LIMIT).feed(Frame(kind, 0, 0, bytes(limit)).encode()) == [Frame(kind, 0, 0, bytes(limit))]


@pytest.mark.parametrize("kind", [0, 5, 128, 255])
def test_an_unknown_kind_is_refused(kind):
    header = bytearray(Frame(Kind.PING).encode())
    header[4] = kind
    with pytest.raises(ProtocolError, match=f"unknown kind {kind}"):
        Parser(LIMIT).feed(bytes(header))


def test_an_incomplete_frame_waits_and_says_how_much_of_it_is_there():
    parser, whole = Parser(LIMIT), Frame(Kind.DATA, 0, 0, b"x" * 10).encode()
    for k in range(1, len(whole)):
        assert parser.feed(whole[k - 1 : k]) == []
        assert parser.waiting == k
    assert parser.feed(whole[-1:]) == [Frame(Kind.DATA, 0, 0, b"x" * 10)]


@pytest.mark.parametrize("seed", range(4))
def test_a_long_message_is_received_into_its_place_however_it_comes(seed):
    rng = np.random.default_rng(seed)
    frames = [Frame(Kind.DATA, k, 2, rng.bytes(size)) for k, size in enumerate((60_000, 1 << 14, 0, 40_000))]
    stream, parser, came = b"".join(b"".join(frame.pieces()) for frame in frames), Parser(1 << 16), []
    assert stream == b"".join(frame.encode() for frame in frames)
    while stream:
        room = parser.room
        count = int(rng.integers(1, 20_000)) if room is None else min(len(room), int(rng.integers(1, 20_000)))
        piece, stream = stream[:count], stream[count:]
        if room is None:
            came += parser.feed(piece)
        else:
            room[: len(piece)] = piece
            came += parser.filled(len(piece))
    assert came == frames
    assert parser.room is None
    assert parser.waiting == 0


def test_numbers_of_a_long_message_lie_where_processors_want_them():
    numbers = np.random.default_rng(0).standard_normal(30_000)
    stream, parser = Frame(Kind.DATA, 0, 0, encode(numbers)).encode(), Parser(1 << 20)
    [frame] = parser.feed(stream[:1000]) + parser.feed(stream[1000:])
    assert decode(frame.body).flags.aligned
    assert np.array_equal(decode(frame.body), numbers)


# payloads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.uint64, np.int64])
def test_a_vector_comes_back_with_the_same_bits(dtype):
    array = np.array([0, 1, 2**53 - 1, 7]).astype(dtype)
    back = decode(encode(array))
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()


def test_a_float_keeps_its_sign_of_zero_and_its_last_bit():
    array = np.array([-0.0, 5e-324, np.nextafter(1.0, 2.0), -9.999999999999999e99])
    assert decode(encode(array)).tobytes() == array.tobytes()


def test_a_strided_vector_is_sent_as_it_reads():
    array = np.arange(10.0)[::-3]
    np.testing.assert_array_equal(decode(encode(array)), array)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_number_that_is_none_is_refused(bad, place):
    array = np.ones(3)
    array[place] = bad
    with pytest.raises(ProtocolError, match="NaN or infinity"):
        decode(b"f" + array.tobytes())


@pytest.mark.parametrize("body", [b"", b"x", b"F" + bytes(8), b"f" + bytes(7), b"u" + bytes(9), bytes(9), bytes(8)])
def test_what_is_no_vector_is_refused(body):
    with pytest.raises(ProtocolError, match="no vector of numbers"):
        decode(body)


@pytest.mark.parametrize("dim", [1, 2, 10, 100])
def test_the_longest_message_has_room_for_values_gradients_and_hessians_in_two_words(dim):
    assert longest(dim) >= len(encode(np.zeros(2 * (1 + dim + dim * (dim + 1) // 2), dtype=np.uint64)))


@pytest.mark.parametrize("points", [1, 31, 300])
def test_the_longest_message_has_room_for_a_bracket_in_two_words_and_the_digest_before_it(points):
    slopes = Bracket(points=points).points_at_once
    words = 2 * (3 * slopes + 1) + DIGEST_WORDS
    assert longest(3, curvature=False, points=slopes) >= len(encode(np.zeros(words, dtype=np.uint64)))


def test_a_message_that_the_neighbour_would_refuse_is_refused_where_it_is_made():
    north, _, _, _ = joined()
    with pytest.raises(ProtocolError, match="are the most in this run"):
        north.put(bytes(north.limit + 1))


# channels ---------------------------------------------------------------------------------------------


def test_messages_are_numbered_kept_and_handed_over_in_order():
    north, _, south, b = joined()
    for body in (b"one", b"two", b"three"):
        b.feed(north.put(body).encode())
    assert [number for number, _ in north.outbox] == [0, 1, 2]
    assert [south.take(), south.take(), south.take(), south.take()] == [b"one", b"two", b"three", None]
    assert (south.expected, south.used) == (3, 3)


def test_a_message_that_was_kept_before_is_ignored():
    north, _, south, b = joined()
    frame = north.put(b"one").encode()
    b.feed(frame + frame)
    b.feed(frame)
    assert list(south.inbox) == [b"one"]
    south.take()
    b.feed(frame)
    assert south.take() is None


def test_a_message_from_the_future_is_a_violation():
    _, _, south, b = joined()
    with pytest.raises(ProtocolError, match="message 1 before message 0"):
        b.feed(Frame(Kind.DATA, 1, 0, b"later").encode())
    assert not south.inbox


def test_a_new_connection_is_sent_what_is_missing_and_nothing_else():
    north, _, south, b = joined()
    for body in (b"one", b"two", b"three"):
        frame = north.put(body)
        if body == b"one":
            b.feed(frame.encode())
    north.committed()
    answers = Dialogue(north).feed(south.hello().encode())
    assert [(f.kind, f.number, f.body) for f in answers] == [(Kind.DATA, 1, b"two"), (Kind.DATA, 2, b"three")]


def test_whoever_asks_gets_nothing_that_is_not_written_down():
    """A greeting may come between drawing up a message and committing it: a crash could then unsay it."""
    north, _, south, _ = joined()
    north.put(b"one")
    north.committed()
    north.put(b"two")
    answers = Dialogue(north).feed(south.hello().encode())
    assert [frame.body for frame in answers] == [b"one"]


def test_what_is_acknowledged_is_forgotten_and_nothing_else():
    north, a, _, _ = joined()
    for body in (b"one", b"two", b"three"):
        north.put(body)
    a.feed(Frame(Kind.PING, 0, 2).encode())
    assert list(north.outbox) == [(2, b"three")]
    a.feed(Frame(Kind.PING, 0, 1).encode())  # an older word comes late
    assert list(north.outbox) == [(2, b"three")]


def test_acknowledging_what_was_never_sent_is_a_violation():
    north, a, _, _ = joined()
    north.put(b"one")
    with pytest.raises(ProtocolError, match="never sent"):
        a.feed(Frame(Kind.PING, 0, 2).encode())
    assert list(north.outbox) == [(0, b"one")]


@pytest.mark.parametrize("wanted", [-1, 0, 4, 10**30])
def test_wanting_what_is_forgotten_or_unsaid_is_a_violation(wanted):
    north, a, south, _ = joined()
    for body in (b"one", b"two", b"three"):
        north.put(body)
    a.feed(Frame(Kind.PING, 0, 1).encode())
    told = channels.Hello(south.session, south.parts, "south", "north", wanted)
    with pytest.raises(ProtocolError, match="an older one"):
        Dialogue(north).feed(Frame(Kind.HELLO, 0, 0, msgspec.json.encode(told)).encode())


def test_a_peer_that_runs_far_ahead_is_a_flood():
    _, _, south, b = joined()
    for k in range(channels._AHEAD):
        b.feed(Frame(Kind.DATA, k, 0, b"").encode())
    with pytest.raises(ProtocolError, match="flood"):
        b.feed(Frame(Kind.DATA, channels._AHEAD, 0, b"").encode())
    assert len(south.inbox) == channels._AHEAD


@pytest.mark.parametrize("kind", [Kind.DATA, Kind.PING, Kind.BYE], ids=lambda kind: kind.name)
def test_nothing_comes_before_the_greeting(kind):
    south = channel("south", "north")
    with pytest.raises(ProtocolError, match=f"{kind.name} where the link is NEW"):
        Dialogue(south).feed(Frame(kind).encode())
    assert not south.inbox
    assert not south.finished


def test_nobody_greets_twice():
    north, _, _, b = joined()
    with pytest.raises(ProtocolError, match="HELLO where the link is OPEN"):
        b.feed(north.hello().encode())


def test_another_manifest_is_refused_and_the_part_that_differs_is_named():
    south = channel("south", "north", session="s")
    other = channel("north", "south", session="t", parts={"title": "aa", "links": "cc"})
    connection = Dialogue(south)
    with pytest.raises(ProtocolError, match="north has another agreement, different in: links"):
        connection.feed(other.hello().encode())
    assert connection.phase is Phase.NEW


@pytest.mark.parametrize(("here", "there", "taken"), [("a", "b", False), ("a", "a", True), ("a", "", True)])
def test_other_limits_on_x_are_refused_where_both_have_to_have_the_same(here, there, taken):
    south, north = channel("south", "north"), channel("north", "south")
    south.limits, north.limits = here, there
    connection = Dialogue(south)
    with contextlib.nullcontext() if taken else pytest.raises(ProtocolError, match="north has other limits on x"):
        connection.feed(north.hello().encode())
    assert (connection.phase is Phase.OPEN) == taken


@pytest.mark.parametrize(("name", "to"), [("east", "south"), ("north", "east"), ("south", "north"), ("", "")])
def test_a_greeting_under_another_name_is_refused(name, to):
    connection = Dialogue(channel("south", "north"))
    with pytest.raises(ProtocolError, match="another member"):
        connection.feed(channel(name, to).hello().encode())
    assert connection.phase is Phase.NEW


def test_a_goodbye_is_remembered_over_connections():
    _, _, south, b = joined()
    b.feed(Frame(Kind.BYE, 0, 0).encode())
    assert south.finished
    Dialogue(south)
    assert south.finished


def test_a_message_drawn_up_again_after_a_restart_is_not_sent_again():
    again = channel()
    again.restore([(0, b"one"), (1, b"two")], [], cursor=0, used=0)
    assert [again.put(b"one"), again.put(b"two")] == [None, None]
    assert again.put(b"three") == Frame(Kind.DATA, 2, 0, b"three")


def test_a_message_drawn_up_again_that_differs_is_refused():
    again = channel()
    again.restore([(0, b"one"), (1, b"two")], [], cursor=0, used=0)
    again.put(b"one")
    with pytest.raises(TacitError, match="something else than before") as caught:
        again.put(b"TWO")
    assert "TWO" not in str(caught.value)
    assert "two" not in str(caught.value)
    assert list(again.outbox) == [(0, b"one"), (1, b"two")]


def test_after_a_restart_the_setting_up_is_read_from_the_journal_and_the_rest_from_the_peer():
    again = channel("south", "north")
    again.restore([], [b"zero", b"one"], cursor=5, used=4)
    told = msgspec.json.decode(again.hello().body)
    assert (told["wanted"], again.hello().acknowledged) == (4, 4)
    connection = Dialogue(again)
    north = channel("north", "south")
    north.restore([(4, b"four")], [], cursor=5, used=5)
    connection.feed(north.hello().encode() + b"".join(frame.encode() for frame in north.wanted(4)))
    assert [again.take(), again.take()] == [b"zero", b"one"]
    again.rewind(cursor=5, used=4)
    assert again.take() == b"four"
    assert (again.used, again.cursor, again.next_out) == (5, 5, 5)


def test_a_refused_message_leaves_the_channel_untouched():
    north, a, _, _ = joined()
    north.put(b"one")
    with pytest.raises(ProtocolError):
        a.feed(Frame(Kind.DATA, 99, 1, b"later").encode())
    assert list(north.outbox) == [(0, b"one")]


@pytest.mark.parametrize("part", [b"session", b"name", b"title"])
def test_a_greeting_that_is_no_text_is_refused(part):
    body = channel("north", "south").hello().body.replace(b'"' + part, b'"\xff' + part, 1)
    with pytest.raises(ProtocolError, match="cannot be read"):
        Dialogue(channel("south", "north")).feed(Frame(Kind.HELLO, 0, 0, body).encode())


# agents under faults ------------------------------------------------------------------------------------
#
# Every agent sends one message to every neighbour in every round, and the next message depends on all that it has
# received: a wrong, missing, doubled or swapped message anywhere changes everything after it. The table EXPECTED
# says what an undisturbed run says. What is written down counts from `commit` on; a crash loses the rest.

ROUNDS, SETTING_UP, CHECKPOINT = 24, 3, 6
NEIGHBOURS = {0: (1, 2), 1: (0, 2), 2: (0, 1)}
LINKS = ((0, 1), (0, 2), (1, 2))


def digest(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"|".join(parts), digest_size=8).digest()


def undisturbed() -> tuple[dict[tuple[int, int], list[bytes]], dict[int, bytes]]:
    states = {i: digest(b"agent", bytes([i])) for i in NEIGHBOURS}
    said: dict[tuple[int, int], list[bytes]] = {(i, j): [] for i in NEIGHBOURS for j in NEIGHBOURS[i]}
    for _ in range(ROUNDS):
        for i, j in said:
            said[i, j].append(digest(states[i], bytes([j])))
        states = {i: digest(states[i], *(said[j, i][-1] for j in NEIGHBOURS[i])) for i in states}
    return said, states


EXPECTED, ANSWERS = undisturbed()


@dataclass
class Disk:
    """What survives a crash, and what waits for the next commit."""

    outbox: dict[int, dict[int, bytes]] = field(default_factory=lambda: {k: {} for k in NEIGHBOURS})
    journal: dict[int, list[bytes]] = field(default_factory=lambda: {k: [] for k in NEIGHBOURS})
    checkpoint: tuple[int, bytes, dict[int, int], dict[int, int]] | None = None
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def write(self, what: Callable[[], None]) -> None:
        self.waiting.append(what)

    def commit(self) -> None:
        for what in self.waiting:
            what()
        self.waiting.clear()

    def crash(self) -> None:
        self.waiting.clear()


class Member:
    """One agent, which can be stopped after every single thing that it does."""

    def __init__(self, me: int, wires: Wires) -> None:
        self.me, self.wires, self.disk = me, wires, Disk()
        self.start()

    def start(self) -> None:
        self.channels: dict[int, Channel] = {}
        checkpoint = self.disk.checkpoint
        for j in NEIGHBOURS[self.me]:
            made = channel(str(self.me), str(j))
            made.restore(
                sorted(self.disk.outbox[j].items()),
                list(self.disk.journal[j]),
                cursor=checkpoint[2][j] if checkpoint else 0,
                used=checkpoint[3][j] if checkpoint else 0,
            )
            self.channels[j] = made
        self.round, self.done, self.want_checkpoint = 0, False, False
        self.safe: dict[int, int] | None = None
        self.acts = self.live()

    def crash(self) -> None:
        self.disk.crash()
        self.start()

    def work(self, steps: int) -> None:
        for _ in range(steps):
            if next(self.acts, None) is None:
                return

    def live(self) -> Iterator[str]:
        """Do everything; between any two acts a crash may come. None: nothing to do until something arrives."""
        state = digest(b"agent", bytes([self.me]))
        for _ in range(SETTING_UP):
            state = yield from self.exchange(state, setting_up=True)
        self.round = SETTING_UP
        if self.disk.checkpoint is not None:
            self.round, state, cursors, used = self.disk.checkpoint
            for j, link in self.channels.items():
                link.rewind(cursor=cursors[j], used=used[j])
        saved = self.round
        while self.round < ROUNDS:
            state = yield from self.exchange(state, setting_up=False)
            self.round += 1
            if self.want_checkpoint or self.round - saved >= CHECKPOINT:
                self.save(state)
                saved, self.want_checkpoint = self.round, False
                yield "saved"
        self.save(state)
        yield from self.flush([])
        assert state == ANSWERS[self.me]
        self.done = True

    def exchange(self, state: bytes, *, setting_up: bool) -> Iterator[str]:
        frames = []
        for j, link in self.channels.items():
            body = digest(state, bytes([j]))
            frame = link.put(body)
            if frame is not None:
                self.disk.write(lambda j=j, frame=frame: self.disk.outbox[j].update({frame.number: frame.body}))
                frames.append((j, frame))
            yield "drawn up"
        yield from self.flush(frames)
        heard = []
        for j, link in self.channels.items():
            while (body := link.take()) is None:
                yield None
            number = link.used - 1
            assert body == EXPECTED[j, self.me][number], f"{self.me} used a wrong message {number} of {j}"
            if setting_up and number >= len(self.disk.journal[j]):
                self.disk.write(lambda j=j, body=body: self.disk.journal[j].append(body))
            heard.append(body)
            yield "heard"
        return digest(state, *heard)

    def flush(self, frames: list[tuple[int, Frame]]) -> Iterator[str]:
        self.disk.commit()
        for link in self.channels.values():
            link.committed()
        yield "committed"
        if self.safe is not None:
            for j, used in self.safe.items():
                self.channels[j].safe = used
            self.safe = None
        for j, frame in frames:
            self.wires.write(self.me, j, frame.encode())
            yield "sent"

    def save(self, state: bytes) -> None:
        cursors = {j: link.cursor for j, link in self.channels.items()}
        used = {j: link.used for j, link in self.channels.items()}
        first = {j: link.outbox[0][0] if link.outbox else link.next_out for j, link in self.channels.items()}
        round_ = self.round

        def write() -> None:
            self.disk.checkpoint = (round_, state, cursors, used)
            for j, number in first.items():
                self.disk.outbox[j] = {k: body for k, body in self.disk.outbox[j].items() if k >= number}

        self.disk.write(write)
        self.safe = used


class Wires:
    """All links: bytes on their way, the connections at both ends, and what went over older connections."""

    def __init__(self) -> None:
        self.members: dict[int, Member] = {}
        self.ends: dict[tuple[int, int], Dialogue] = {}
        self.pipes: dict[tuple[int, int], bytearray] = {}
        self.spoken: dict[tuple[int, int], bytearray] = {}
        self.recorded: dict[tuple[int, int], bytes] = {}
        self.violations = 0

    def write(self, a: int, b: int, data: bytes) -> None:
        if (a, b) in self.ends and self.ends[a, b].phase is Phase.OPEN:
            self.lay(a, b, data)

    def lay(self, a: int, b: int, data: bytes) -> None:
        self.pipes[a, b] += data
        self.spoken[a, b] += data

    def connect(self, a: int, b: int) -> None:
        self.cut(a, b)
        for i, j in ((a, b), (b, a)):
            link = self.members[i].channels[j]
            self.ends[i, j] = Dialogue(link)
            self.pipes[i, j], self.spoken[i, j] = bytearray(), bytearray()
            self.lay(i, j, link.hello().encode())

    def cut(self, a: int, b: int) -> None:
        for i, j in ((a, b), (b, a)):
            self.ends.pop((i, j), None)
            self.pipes.pop((i, j), None)
            if (i, j) in self.spoken:
                self.recorded[i, j] = bytes(self.spoken.pop((i, j)))

    def deliver(self, a: int, b: int, size: int) -> None:
        """Let so many bytes from a arrive at b."""
        if (a, b) not in self.pipes:
            return
        data = bytes(self.pipes[a, b][:size])
        del self.pipes[a, b][:size]
        try:
            answers = self.ends[b, a].feed(data)
        except ProtocolError:
            self.violations += 1
            self.cut(a, b)
            return
        for frame in answers:
            self.lay(b, a, frame.encode())

    def burst(self, a: int, b: int, count: int) -> None:
        """Let so many whole frames from a arrive at b at once."""
        data, size = self.pipes.get((a, b), b""), 0
        for _ in range(count):
            if len(data) < size + 4:
                break
            size += 21 + int.from_bytes(data[size : size + 4])
        self.deliver(a, b, size or len(data))


ends = st.sampled_from([(i, j) for i in NEIGHBOURS for j in NEIGHBOURS[i]])
links = st.sampled_from(LINKS)
who = st.sampled_from(sorted(NEIGHBOURS))
garbage = st.one_of(
    st.builds(
        lambda kind, tail: bytes(4) + bytes([kind]) + tail, st.sampled_from([0, 5, 255]), st.binary(min_size=16)
    ),
    st.builds(lambda tail: b"\xff\xff" + tail, st.binary(min_size=19, max_size=60)),
    st.builds(lambda n: Frame(Kind.DATA, n, 0, b"forged!!").encode(), st.integers(1000, 2**64 - 1)),
    st.builds(lambda n: Frame(Kind.PING, 0, n).encode(), st.integers(1000, 2**64 - 1)),
)


class Federation(RuleBasedStateMachine):
    """Three agents on three bad links."""

    @initialize()
    def begin(self):
        self.wires = Wires()
        self.wires.members = {i: Member(i, self.wires) for i in NEIGHBOURS}
        for link in LINKS:
            self.wires.connect(*link)

    @rule(i=who, steps=st.integers(1, 20), checkpoint=st.booleans())
    def work(self, i, steps, checkpoint):
        self.wires.members[i].want_checkpoint |= checkpoint
        self.wires.members[i].work(steps)

    @rule(rounds=st.integers(1, 8))
    def go_on_undisturbed(self, rounds):
        for _ in range(rounds):
            self.turn()

    @rule(end=ends, count=st.integers(1, 20))
    def deliver_a_burst(self, end, count):
        self.wires.burst(*end, count)

    @rule(end=ends, size=st.integers(1, 300))
    def deliver_a_piece(self, end, size):
        self.wires.deliver(*end, size)

    @rule(link=links)
    def connect(self, link):
        self.wires.connect(*link)

    @rule(link=links, end=st.booleans(), size=st.integers(0, 100))
    def cut(self, link, end, size):
        self.wires.deliver(*(link if end else link[::-1]), size)
        self.wires.cut(*link)

    @precondition(lambda self: self.wires.recorded)
    @rule(data=st.data(), after_greeting=st.booleans())
    def replay_an_old_connection(self, data, after_greeting):
        a, b = data.draw(st.sampled_from(sorted(self.wires.recorded)))
        old = self.wires.recorded[a, b]
        self.wires.connect(a, b)
        self.wires.pipes[a, b] = bytearray(
            bytes(self.wires.pipes[a, b]) + old if after_greeting else old + bytes(self.wires.pipes[a, b])
        )

    @rule(end=ends)
    def say_again_what_was_said(self, end):
        a, b = end
        for number, body in list(self.wires.members[a].channels[b].outbox):
            if number in self.wires.members[a].disk.outbox[b]:  # only what was committed can be known
                self.wires.write(a, b, Frame(Kind.DATA, number, 0, body).encode())

    @rule(end=ends, junk=garbage)
    def inject_garbage(self, end, junk):
        if end in self.wires.pipes:
            self.wires.pipes[end] += junk

    @rule(i=who)
    def ping(self, i):
        for j, link in self.wires.members[i].channels.items():
            self.wires.write(i, j, Frame(Kind.PING, 0, link.safe).encode())

    @rule(i=who, steps=st.integers(0, 12), arrives=st.booleans())
    def crash(self, i, steps, arrives):
        if arrives:
            for j in NEIGHBOURS[i]:
                self.wires.burst(j, i, 20)
        self.wires.members[i].work(steps)
        for j in NEIGHBOURS[i]:
            if arrives:  # its last words reach the others before they notice
                self.wires.burst(i, j, 20)
            self.wires.cut(i, j)
        self.wires.members[i].crash()

    @invariant()
    def memory_is_bounded(self):
        if not hasattr(self, "wires"):
            return
        for member in self.wires.members.values():
            for j, link in member.channels.items():
                # after a restart: the journal, and what the neighbour has said since the last checkpoint
                assert len(link.inbox) <= SETTING_UP + CHECKPOINT + 2
                assert len(link.outbox) <= SETTING_UP + 2 * CHECKPOINT + 4
                assert len(member.disk.outbox[j]) <= SETTING_UP + 3 * CHECKPOINT + 4
        for connection in self.wires.ends.values():
            assert connection._parser.waiting <= 21 + 4096

    @invariant()
    def neighbours_are_within_a_round_and_numbers_agree(self):
        if not hasattr(self, "wires"):
            return
        for a, b in LINKS:
            for i, j in ((a, b), (b, a)):
                sender, receiver = self.wires.members[i].channels[j], self.wires.members[j].channels[i]
                assert receiver.expected <= sender.next_out
                assert receiver.safe <= receiver.expected
                if sender.outbox:
                    assert sender.outbox[0][0] <= receiver.expected

    def turn(self):
        """Let everything arrive, and everybody work."""
        for link in LINKS:
            if link not in self.wires.ends:
                self.wires.connect(*link)
        for end in list(self.wires.pipes):
            self.wires.burst(*end, 20)
        for member in self.wires.members.values():
            member.work(40)

    def teardown(self):
        if not hasattr(self, "wires"):
            return
        wires, members = self.wires, self.wires.members
        for _ in range(20 * ROUNDS):
            if all(member.done for member in members.values()):
                break
            self.turn()
        assert all(member.done for member in members.values()), "the faults are over, and somebody waits for ever"
        for link in LINKS:  # garbage may still lie in the old pipes
            wires.connect(*link)
        for end in list(wires.pipes):
            wires.burst(*end, 20)
        for i, member in members.items():
            for j, link in member.channels.items():
                wires.write(i, j, Frame(Kind.BYE, 0, link.used).encode())
                wires.burst(i, j, 20)
        for member in members.values():
            for link in member.channels.values():
                assert link.finished
                assert not link.outbox
                assert link.take() is None
                assert link.used == ROUNDS


STEADY = settings(max_examples=120, stateful_step_count=40)
HUNT = settings(
    max_examples=150, stateful_step_count=40, phases=[Stage.generate], report_multiple_bugs=False, database=None
)


def test_agents_on_bad_links_use_every_message_once_in_order_and_finish():
    run_machine(Federation, settings=STEADY)


def test_the_machine_notices_a_channel_that_keeps_messages_twice(monkeypatch):
    def arrived(self, frame):
        if frame.number <= self.expected:
            self.inbox.append(frame.body)
            self.expected = max(self.expected, frame.number + 1)

    monkeypatch.setattr(Channel, "arrived", arrived)
    with pytest.raises(AssertionError):
        run_machine(Federation, settings=HUNT)


def test_the_machine_notices_a_channel_that_forgets_one_message_too_many(monkeypatch):
    def acknowledged(self, number):
        while self.outbox and self.outbox[0][0] <= number:
            self.outbox.popleft()

    monkeypatch.setattr(Channel, "acknowledged", acknowledged)
    with pytest.raises(AssertionError):
        run_machine(Federation, settings=HUNT)


def test_the_machine_notices_a_restart_that_forgets_its_journal(monkeypatch):
    restore = Channel.restore
    monkeypatch.setattr(
        Channel, "restore", lambda self, outbox, journal, **where: restore(self, outbox, [], **where)
    )
    with pytest.raises(AssertionError):
        run_machine(Federation, settings=HUNT)


def test_the_machine_notices_an_acknowledgement_without_a_checkpoint(monkeypatch):
    take = Channel.take

    def hasty(self):
        body = take(self)
        self.safe = self.used
        return body

    monkeypatch.setattr(Channel, "take", hasty)
    with pytest.raises(AssertionError):
        run_machine(Federation, settings=HUNT)


def test_the_machine_notices_a_message_that_is_sent_before_it_is_committed(monkeypatch):
    def flush(self, frames):
        for j, frame in frames:
            self.wires.write(self.me, j, frame.encode())
            yield "sent"
        self.disk.commit()
        if self.safe is not None:
            for j, used in self.safe.items():
                self.channels[j].safe = used
            self.safe = None
        yield "committed"

    monkeypatch.setattr(Member, "flush", flush)
    with pytest.raises(AssertionError):
        run_machine(Federation, settings=HUNT)


def _greeted():
    """Return one side of a link after the greetings, and the other side's channel."""
    here, there = (
        Channel(me=a, neighbour=b, session="s", parts={}, limit=1000)
        for a, b in (("north", "south"), ("south", "north"))
    )
    link = Dialogue(here)
    link.feed(there.hello().encode())
    return link, there


def test_a_goodbye_says_why_and_nothing_else():
    link, _ = _greeted()
    link.feed(Frame(Kind.BYE, 0, 0, Parting.UNFIT.value).encode())
    assert (link.channel.unfit, link.channel.finished) == (True, False)
    link.feed(Frame(Kind.BYE, 0, 0).encode())
    link.feed(Frame(Kind.BYE, 0, 0, Parting.UNFIT.value).encode())
    assert link.channel.finished
    with pytest.raises(ProtocolError, match="in words that nobody knows"):
        link.feed(Frame(Kind.BYE, 0, 0, b"column age, line 7").encode())


def test_who_comes_back_is_fit_again():
    link, there = _greeted()
    link.feed(Frame(Kind.BYE, 0, 0, Parting.UNFIT.value).encode())
    again = Dialogue(link.channel)
    again.feed(there.hello().encode())
    assert not link.channel.unfit
