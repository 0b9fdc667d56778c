"""How an agent is: as a value, as a file beside its state, and over HTTP; from links that are made up."""

import json
import logging
import os
import socket
import stat
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import urlopen

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tacit.errors import FileError, NetworkError
from tacit.protocol.record import Stage
from tacit.protocol.versions import SOFTWARE
from tacit.runtimes.peers import Bulletin, Diary, serve_monitoring
from tacit.runtimes.peers.bulletin import LinkNews, post, read_bulletin, withdraw


def link(neighbour, **more):
    facts = {"up": False, "trouble": "dialling", "connections": 0, "violations": 0, "used": 0, "waiting": 0}
    return LinkNews(neighbour=neighbour, **facts | {"sent": 0, "received": 0, "heard": None} | more)


EAST = link(
    "east", up=True, trouble="", connections=2, violations=1, used=40, waiting=3, sent=700, received=900, heard=0.5
)
ROUNDS = Bulletin(
    name="north",
    session="0123456789ab" * 5,
    protocol=1,
    pid=7,
    since=1000.0,
    at=1060.0,
    phase="rounds",
    round=12,
    awaited="west",
    waited=31.0,
    links=(EAST, link("west")),
)


@pytest.fixture
def diary(tmp_path):
    """Return the diary of an agent with one link, at a time that can be set."""
    channel = SimpleNamespace(finished=False, unfit=False, outdated=False, used=5, inbox=[b"one"])
    east = SimpleNamespace(
        name="east", channel=channel, dials=False, connected=1, open=True, trouble="", turned_away=0, violations=0,
        last_seen=98.0, bytes_in=10, bytes_out=20,
    )  # fmt: skip
    agent = SimpleNamespace(
        me="north",
        file=tmp_path / "north-abc.state",
        seat=SimpleNamespace(session="abc" * 20, protocol=1),
        stage=Stage.MASKED,
        connections=SimpleNamespace(neighbours={"east": east}, failure=None),
    )
    times = [100.0]
    made = Diary(agent, clock=lambda: times[0], now=lambda: 4900.0 + times[0])
    made.times = times
    return made


def test_a_bulletin_says_how_an_agent_is(diary):
    diary.on_wait("east", 4.0)
    diary.on_progress(SimpleNamespace(check=SimpleNamespace(round=3, disagreement=0.1)))
    diary.on_wait("east", 6.0)
    diary.times[0] = 102.0
    b = diary.bulletin()
    assert (b.name, b.session, b.protocol, b.software) == ("north", "abc" * 20, 1, SOFTWARE)
    assert (b.pid, b.since, b.at) == (os.getpid(), 5000.0, 5002.0)
    assert (b.phase, b.round, b.awaited, b.waited, b.failed) == ("masked", 3, "east", 6.0, False)
    assert b.links == (
        link("east", up=True, trouble="", connections=1, used=5, waiting=1, sent=20, received=10, heard=4.0),
    )
    diary.agent.connections.failure = OSError("no more descriptors")
    assert diary.bulletin().failed


def test_it_is_written_every_two_seconds_for_the_owner_alone(diary):
    diary.post()
    assert stat.S_IMODE(diary.file.stat().st_mode) == 0o600
    assert read_bulletin(diary.file).at == 5000.0
    diary.times[0] = 101.9
    diary.post()
    assert read_bulletin(diary.file).at == 5000.0
    diary.times[0] = 102.0
    diary.post()
    assert read_bulletin(diary.file).at == 5002.0
    assert [path.name for path in diary.file.parent.iterdir()] == ["north-abc.status"]


def test_before_there_are_links_nothing_is_written_and_nothing_removed(diary):
    """Another agent of the same member may be running in this folder, and this one is about to be refused."""
    diary.agent.connections = None
    post(ROUNDS, diary.file)
    with diary.watching():
        diary.post()
    assert read_bulletin(diary.file) == ROUNDS


def test_it_is_gone_when_the_run_is_over(diary):
    with diary.watching():
        diary.post()
        assert diary.file.exists()
    assert list(diary.file.parent.iterdir()) == []


def test_what_a_killed_agent_has_left_is_gone_after_a_run_too_short_to_write_one(diary):
    post(ROUNDS, diary.file)
    with diary.watching():
        pass
    assert list(diary.file.parent.iterdir()) == []


def test_a_disk_without_room_is_said_once_and_does_not_end_a_run(diary, caplog):
    diary.file = diary.file.parent / "not there" / "north.status"
    for seconds in (100.0, 103.0, 106.0):
        diary.times[0] = seconds
        diary.post()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "cannot be written (No such file or directory); the run goes on" in record.getMessage()
    withdraw(diary.file)


def test_a_link_that_somebody_laid_in_the_way_is_not_followed(tmp_path):
    target, path = tmp_path / "elsewhere", tmp_path / "north.status"
    target.write_text("mine")
    (tmp_path / "north.status-draft").symlink_to(target)
    with pytest.raises(OSError, match="symbolic|loop"):
        post(ROUNDS, path)
    assert target.read_text() == "mine"


def test_what_is_read_is_what_was_written_and_later_fields_are_ignored(tmp_path):
    path = tmp_path / "north.status"
    assert read_bulletin(path) is None
    post(ROUNDS, path)
    assert read_bulletin(path) == ROUNDS
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mood": "good"}))
    assert read_bulletin(path) == ROUNDS
    for text in ("", "{}", "[1]", '{"name": 3}'):
        path.write_text(text)
        with pytest.raises(FileError, match="is no status of an agent"):
            read_bulletin(path)


def page(port, path):
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def samples(text):
    """Return every sample by its name and labels, and the type of every family."""
    families = list(text_string_to_metric_families(text))
    kinds = {family.name: (family.type, bool(family.documentation)) for family in families}
    return {(s.name, tuple(s.labels.values())): s.value for f in families for s in f.samples}, kinds


def test_prometheus_reads_round_phase_waiting_process_and_build():
    with serve_monitoring(lambda: ROUNDS, 0) as port:
        kind, text = page(port, "/metrics")
    assert kind.startswith("text/plain; version=")
    values, kinds = samples(text)
    assert values["tacit_build_info", ("1", SOFTWARE)] == 1
    assert values["tacit_run_info", ("north", "0123456789ab")] == 1
    assert values["tacit_round", ()] == 12
    assert {labels[0]: value for (name, labels), value in values.items() if name == "tacit_phase"} == {
        stage.value: float(stage is Stage.ROUNDS) for stage in Stage
    }
    assert values["tacit_waiting_seconds", ("west",)] == 31
    assert values["tacit_waiting_seconds", ("east",)] == 0
    assert values["tacit_failed", ()] == 0
    assert values["tacit_link_up", ("east",)] == 1
    assert values["tacit_link_up", ("west",)] == 0
    assert values["tacit_link_connections_total", ("east",)] == 2
    assert values["tacit_link_violations_total", ("east",)] == 1
    assert values["tacit_link_messages_used_total", ("east",)] == 40
    assert values["tacit_link_messages_waiting", ("east",)] == 3
    assert values["tacit_link_sent_bytes_total", ("east",)] == 700
    assert values["tacit_link_received_bytes_total", ("east",)] == 900
    assert values["tacit_link_last_heard_seconds", ("east",)] == 0.5
    assert values["tacit_link_last_heard_seconds", ("west",)] == -1
    assert kinds["tacit_link_sent_bytes"] == ("counter", True)
    assert kinds["tacit_round"] == ("gauge", True)
    assert all(kind != "unknown" and told for kind, told in kinds.values())
    if os.path.exists("/proc/self/stat"):
        assert values["process_resident_memory_bytes", ()] > 1e6
        assert values["process_open_fds", ()] > 2


def test_an_agent_is_healthy_while_it_waits_and_not_when_its_own_links_have_failed():
    now = [ROUNDS]
    with serve_monitoring(lambda: now[0], 0) as port:
        assert page(port, "/health") == ("text/plain", "ok\n")
        now[0] = msgspec.structs.replace(ROUNDS, failed=True)
        with pytest.raises(HTTPError) as refused:
            page(port, "/health")
        assert refused.value.code == 503
        assert refused.value.read() == b"the links of this agent have failed\n"


def test_the_status_is_the_bulletin_and_other_pages_are_not_there():
    with serve_monitoring(lambda: ROUNDS, 0) as port:
        kind, text = page(port, "/status")
        assert (kind, msgspec.json.decode(text, type=Bulletin)) == ("application/json", ROUNDS)
        with pytest.raises(HTTPError) as refused:
            page(port, "/")
        assert refused.value.code == 404
        assert b"/metrics, /health and /status" in refused.value.read()


def test_it_is_served_on_the_loopback_alone_and_only_where_it_was_asked_for():
    with serve_monitoring(lambda: ROUNDS, None) as port:
        assert port is None
    with serve_monitoring(lambda: ROUNDS, 0) as port:
        with socket.socket() as other:
            other.bind(("127.0.0.2", port))  # nobody listens there
        second = serve_monitoring(lambda: ROUNDS, port)
        with pytest.raises(NetworkError, match=f"cannot serve metrics on port {port} of the loopback"):
            second.__enter__()
