"""Bytes that nobody should send: whatever comes, a peer's mistake is a ProtocolError, and memory stays flat."""

from __future__ import annotations

import contextlib
import itertools
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import ProtocolError
from tacit.protocol import Channel, Dialogue, Frame, Kind, Parser, Phase, decode, encode

LIMIT = 200
HEADER = 21
MOST = HEADER + 4096  # of what is no frame yet: a greeting is the longest here
SEED = 20240507


def channel(me: str = "south", neighbour: str = "north") -> Channel:
    return Channel(me=me, neighbour=neighbour, session="s", parts={"title": "aa"}, limit=LIMIT)


HELLO = channel("north", "south").hello().encode()
VALID = [
    HELLO,
    Frame(Kind.DATA, 0, 0, encode(np.arange(3.0))).encode(),
    Frame(Kind.DATA, 1, 0, encode(np.arange(24, dtype=np.uint64))).encode(),
    Frame(Kind.DATA, 2, 0, b"").encode(),
    Frame(Kind.PING, 0, 0).encode(),
    Frame(Kind.BYE, 0, 0, b"finished").encode(),
]


class Bytes:
    """Random bytes and small numbers, drawn in blocks."""

    def __init__(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self._block = generator.bytes(1 << 20)
        self._numbers = itertools.cycle(generator.integers(0, 1 << 20, size=1 << 18).tolist())

    def number(self, below: int) -> int:
        return next(self._numbers) % below

    def take(self, size: int) -> bytes:
        start = self.number(len(self._block) - size)
        return self._block[start : start + size]


def random_bytes(source: Bytes) -> bytes:
    return source.take(source.number(120))


def truncated(source: Bytes) -> bytes:
    frame = VALID[source.number(len(VALID))]
    return frame[: source.number(len(frame))]


def mutated(source: Bytes) -> bytes:
    frame = bytearray(VALID[source.number(len(VALID))])
    for _ in range(1 + source.number(4)):
        place = source.number(len(frame))
        value = source.number(256)
        text = frame[4] == Kind.HELLO and place >= HEADER  # bytes that are no text have a test of their own
        frame[place] = value & 0x7F if text else value
    return bytes(frame)


def lying_about_its_length(source: Bytes) -> bytes:
    frame = bytearray(VALID[source.number(len(VALID))])
    length = int.from_bytes(frame[:4]) + source.number(64) - 32
    frame[:4] = max(length, 0).to_bytes(4)
    return bytes(frame) if source.number(2) else bytes(frame) + source.take(30)


def huge(source: Bytes) -> bytes:
    length = (2**32 - 1) >> source.number(20)
    return length.to_bytes(4) + bytes([1 + source.number(4)]) + source.take(16 + source.number(64))


def unknown(source: Bytes) -> bytes:
    return source.number(50).to_bytes(4) + bytes([5 + source.number(251)]) + source.take(16 + source.number(64))


def spliced(source: Bytes) -> bytes:
    one, two = truncated(source), VALID[source.number(len(VALID))]
    return one + two


def wrong_numbers(source: Bytes) -> bytes:
    kind = Kind(2 + source.number(3))
    number, acknowledged = (int.from_bytes(source.take(8)) >> source.number(64) for _ in range(2))
    return Frame(kind, number, acknowledged, b"" if kind is Kind.PING else source.take(source.number(40))).encode()


WAYS = [random_bytes, truncated, mutated, lying_about_its_length, huge, unknown, spliced, wrong_numbers]
PER_WAY = 8_000


def inputs(way, count: int) -> Iterator[tuple[bytes, Bytes]]:
    source = Bytes(SEED + WAYS.index(way))
    for _ in range(count):
        yield way(source), source


def in_pieces(data: bytes, source: Bytes) -> Iterator[bytes]:
    if source.number(2):
        yield data
        return
    cut = source.number(len(data) + 1)
    yield data[:cut]
    yield data[cut:]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_parser_gives_frames_or_refuses(way):
    parser, refused, given_ = Parser(LIMIT), 0, 0
    for data, source in inputs(way, PER_WAY):
        try:
            for piece in in_pieces(data, source):
                for frame in parser.feed(piece):
                    given_ += 1
                    assert isinstance(frame.kind, Kind)
                    assert len(frame.body) <= (LIMIT if frame.kind is Kind.DATA else 4096)
            assert parser.waiting <= MOST
        except ProtocolError:
            refused += 1
            assert parser.waiting <= MOST + len(data)
            parser = Parser(LIMIT)
    assert refused + given_ > PER_WAY // 100


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("greeted", [False, True])
def test_a_connection_answers_or_refuses(way, greeted):
    north, refused, fed = channel(), 0, 0
    for k in range(5):
        north.put(bytes([k]))
    connection = None
    for data, source in inputs(way, PER_WAY):
        if connection is None:
            connection = Dialogue(north)
            if greeted:
                connection.feed(
                    HELLO.replace(
                        b'"wanted":0', b'"wanted":%d' % north.outbox[0][0] if north.outbox else b'"wanted":5'
                    )
                )
                assert connection.phase is Phase.OPEN
        before = north.expected, north.next_out
        try:
            for piece in in_pieces(data, source):
                assert len(connection.feed(piece)) <= 5
            fed += 1
        except ProtocolError:
            refused += 1
            connection = None
        assert north.next_out == before[1] == 5
        assert before[0] <= north.expected <= before[0] + 2
        assert len(north.outbox) <= 5
        if len(north.inbox) > 100:
            north.inbox.clear()
        if connection is not None:
            assert connection._parser.waiting <= MOST
    assert refused + fed == PER_WAY
    assert refused > PER_WAY // 100


def test_a_greeting_of_any_bytes_is_read_or_refused():
    source, body = Bytes(SEED), HELLO[HEADER:]
    for _ in range(20_000):
        told = bytearray(body)
        for _ in range(1 + source.number(3)):
            told[source.number(len(told))] = source.number(256)
        with contextlib.suppress(ProtocolError):
            Dialogue(channel()).feed(Frame(Kind.HELLO, 0, 0, bytes(told)).encode())


def test_greetings_of_strange_json_are_read_or_refused():
    strange = [
        b"", b"null", b"[]", b"{}", b"0", b'"s"', b"[" * 4096, b'{"parts":' * 400, b'{"a":1}', b"NaN",
        b'{"session":"s","parts":{},"name":"north","to":"south","wanted":' + b"9" * 4000 + b"}",
        b'{"session":"s","parts":{},"name":"north","to":"south","wanted":-1}',
        b'{"session":"s","parts":{},"name":"north","to":"south","wanted":0.5}',
        b'{"session":"s","parts":{},"name":"north","to":"south","wanted":true}',
        b'{"session":"s","parts":{},"name":"north","to":"south","wanted":0,"more":1}',
        b'{"session":"s","parts":[],"name":"north","to":"south","wanted":0}',
        b'{"session":"s","parts":{"a":1},"name":"north","to":"south","wanted":0}',
        b'{"session":"\\ud800","parts":{},"name":"north","to":"south","wanted":0}',
        b'{"session":null,"parts":{},"name":"north","to":"south","wanted":0}',
        b'{"session":"s","session":"t","parts":{},"name":"north","to":"south","wanted":0}',
    ]  # fmt: skip
    for body in strange:
        connection = Dialogue(channel())
        with pytest.raises(ProtocolError):
            connection.feed(Frame(Kind.HELLO, 0, 0, body).encode())
        assert connection.phase is Phase.NEW


def test_memory_stays_flat_over_a_long_stream():
    source, parser, data = Bytes(SEED), Parser(LIMIT), b"".join(VALID) * 20
    parser.feed(data)
    tracemalloc.start()
    try:
        base = tracemalloc.get_traced_memory()[0]
        for _ in range(300):
            cut = source.number(len(data))
            parser.feed(data[:cut])
            parser.feed(data[cut:])
            assert parser.waiting <= MOST
        assert tracemalloc.get_traced_memory()[0] - base < 100_000
        assert tracemalloc.get_traced_memory()[1] - base < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_promise_of_four_gigabytes_costs_nothing():
    tracemalloc.start()
    try:
        for kind in Kind:
            with pytest.raises(ProtocolError):
                Parser(LIMIT).feed(b"\xff\xff\xff\xff" + bytes([kind]) + bytes(16))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=80), max_size=10))
def test_any_bytes_in_any_pieces_are_parsed_or_refused(pieces):
    parser = Parser(LIMIT)
    try:
        for piece in pieces:
            parser.feed(piece)
            assert parser.waiting <= MOST
    except ProtocolError:
        pass


@settings(max_examples=300)
@given(
    st.sampled_from(VALID), st.integers(0, 2**32 - 1), st.integers(0, 255), st.binary(max_size=40), st.booleans()
)
def test_any_header_on_any_frame_is_taken_or_refused(frame, length, kind, tail, opened):
    connection = Dialogue(channel())
    if opened:
        connection.feed(HELLO)
    with contextlib.suppress(ProtocolError):
        connection.feed(length.to_bytes(4) + bytes([kind]) + frame[5:] + tail)
    assert connection._parser.waiting <= MOST + len(tail)


@settings(max_examples=300)
@given(st.binary(max_size=100))
def test_any_bytes_are_a_vector_or_refused(body):
    try:
        array = decode(body)
    except ProtocolError:
        return
    assert array.ndim == 1
    assert array.dtype.itemsize == 8
    assert np.isfinite(array).all()
    assert encode(array) == body


@settings(max_examples=300)
@given(st.lists(st.floats(width=64), max_size=20))
def test_any_floats_are_taken_where_all_are_of_this_world_and_refused_where_not(numbers):
    body = b"f" + np.array(numbers, dtype="<f8").tobytes()
    if (np.abs(numbers) <= 1e100).all():
        assert decode(body).tobytes() == body[1:]
    else:
        with pytest.raises(ProtocolError, match="NaN or infinity|a number beyond"):
            decode(body)


def test_many_payloads_are_vectors_or_refused():
    source, kept, refused = Bytes(SEED), 0, 0
    for _ in range(30_000):
        size = source.number(12) * 8 + source.number(2) * source.number(8)
        body = bytes([(b"fui" + bytes(range(256)))[source.number(6)]]) + source.take(size)
        if body[:1] == b"f" and not source.number(3):
            body = b"f" + np.array([np.nan, np.inf, -np.inf, 1.0])[source.number(4) : 4].tobytes() + body[1:]
        try:
            array = decode(body)
        except ProtocolError:
            refused += 1
        else:
            kept += 1
            assert encode(array) == body
            assert np.isfinite(array).all()
    assert min(kept, refused) > 1_000
