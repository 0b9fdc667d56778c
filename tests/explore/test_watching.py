"""A federation is shown as its members say it is."""

import time
from dataclasses import replace

import msgspec
import pytest

from tacit.errors import InputError
from tacit.explore.lookouts import Address, fetched, look, lookouts_in
from tacit.explore.watching import MemberNews, Vigil, summary
from tacit.runtimes.peers import Noticeboard, Report, serve_noticeboard
from tacit.runtimes.peers.bulletin import Bulletin, LinkNews
from tacit.runtimes.peers.monitoring import serve_monitoring
from tacit.runtimes.peers.spells import Spell


def bulletin(name, *, up=True, neighbour="other", **news):
    link = LinkNews(neighbour=neighbour, up=up, trouble="" if up else "silent", connections=1, violations=0, used=3,
                    waiting=0, sent=10, received=10, heard=0.5)  # fmt: skip
    known = {"phase": "rounds", "round": 7, "links": (link,), "at": 1.0, **news}
    return Bulletin(name=name, session="s", protocol=1, pid=1, since=0.0, **known)


def test_members_that_wait_run_and_are_gone_are_told_apart():
    said = {"a": bulletin("north"), "b": bulletin("south", round=9, awaited="north", waited=12.0)}

    def fetch(address):
        if address == "c":
            raise ConnectionRefusedError("refused")
        return msgspec.json.encode(said[address]) if address in said else b"hello"

    news = look([Address("a"), Address("b"), Address("c"), Address("d")], fetch)
    assert [each.state for each in news] == ["up", "waits", "away", "away"]
    assert news[1].row() == ("south", "waits", "rounds", "9", "north, for 12 s", "1 of 1")
    assert news[3].row()[1] == "away: what answers there is no agent"
    assert summary(news) == "2 of 4 members answer, in rounds 7 to 9; north is waited for."


def test_a_member_is_asked_at_the_port_of_its_metrics():
    with serve_monitoring(lambda: bulletin("north"), 0) as port:
        (news,) = look(lookouts_in(str(port)), fetched)
    assert news.row()[0] == "north"


def test_all_processes_of_one_command_are_asked_at_one_port():
    heard = []

    class Table:
        def __call__(self, progress):
            heard.append(progress)

        def report(self, report):
            heard.append(report)

    board = Noticeboard(Table())
    reports = [
        Report("south", "waiting", bulletin=bulletin("south", awaited="north", waited=3.0, at=50.0)),
        Report("north", "running", bulletin=bulletin("north", round=5, at=20.0)),
        Report("west", "done", bulletin=bulletin("west", phase="parted", at=20.0)),
    ]
    for report in reports:
        board.report(report)
    board("progress")
    assert heard == [*reports, "progress"]
    with serve_noticeboard(board, 0) as port:
        news = look(lookouts_in(f"127.0.0.1:{port}"))
    assert [each.row()[:2] for each in news] == [("west", "done"), ("north", "silent for 30 s"), ("south", "waits")]


def test_whoever_answered_before_is_still_named_when_nobody_does_any_more():
    watch = Vigil(start=0.0)
    watch.take([replace(MemberNews.of(bulletin(name)), place="p") for name in ("north", "south")], now=1.0)
    watch.take([MemberNews("127.0.0.1:9400", "away", trouble=": refused", place="p", named=False)], now=3.0)
    assert [each.row()[:4] for each in watch.news] == [
        ("north", "away: refused", "rounds", "7"),
        ("south", "away: refused", "rounds", "7"),
    ]
    assert summary(watch.news) == "Nobody answers."


def test_links_are_up_from_the_look_at_which_either_end_says_so():
    watch = Vigil(start=10.0)
    for now, one, other in ((11.0, False, False), (13.0, True, False), (15.0, True, True), (17.0, False, False)):
        ends = (("a", "b", one), ("b", "a", other))
        watch.take([MemberNews.of(bulletin(me, neighbour=to, up=up)) for me, to, up in ends], now)
    assert watch.times().spells == {("a", "b"): (Spell(3.0, 7.0, "silent"),)}
    assert watch.times().seconds == 7.0
    assert list(watch.graph().edges()) == [("a", "b")]


@pytest.mark.parametrize("text", ["nonsense", "ftp://x:1", "host:port", "file:///etc/passwd"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InputError, match="is no address"):
        lookouts_in(text)


def test_a_manifest_names_its_members_and_finds_what_they_have_left_in_their_folders(tmp_path):
    from tacit.federation import Manifest, Plan, draw_up
    from tacit.federation.cards import Card
    from tacit.federation.joining import seat_of
    from tacit.runtimes.peers.bulletin import post
    from tacit.runtimes.peers.identity import generate

    names = ("north", "south", "west")
    for name in names:
        (tmp_path / name).mkdir()
    cards = [Card(name, f"127.0.0.1:{7601 + k}", generate(name)[1].decode()) for k, name in enumerate(names)]
    manifest = draw_up(cards, Plan(unknowns=2))
    file = tmp_path / "north" / "federation.toml"
    file.write_bytes(manifest.to_toml())
    stem = {name: seat_of(Manifest.read(file), name).stem for name in names}
    post(bulletin("south", at=time.time()), tmp_path / "south" / f"{stem['south']}.status")
    (tmp_path / "west" / f"{stem['west']}.state").touch()
    for typed in (str(file), str(tmp_path / "north")):
        news = look(lookouts_in(typed))
        assert [each.row()[:2] for each in news] == [
            ("north", "away: not begun"),
            ("south", "up"),
            ("west", "away: stopped"),
        ]
    with pytest.raises(InputError, match="is no manifest"):
        lookouts_in(str(tmp_path))
