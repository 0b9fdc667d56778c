"""A federation is shown as its members say it is."""

import msgspec
import pytest

from tacit.errors import InputError
from tacit.explore.watching import addresses_in, ask, fetched, summary
from tacit.runtimes.peers.bulletin import Bulletin, LinkNews
from tacit.runtimes.peers.monitoring import serve_monitoring


def bulletin(name, **news):
    link = LinkNews(neighbour="other", up=True, trouble="", connections=1, violations=0, used=3, waiting=0,
                    sent=10, received=10, heard=0.5)  # fmt: skip
    known = {"phase": "agreeing", "round": 7, "links": (link,), **news}
    return Bulletin(name=name, session="s", protocol=1, pid=1, since=0.0, at=1.0, **known)


def test_members_that_wait_run_and_are_gone_are_told_apart():
    said = {"a": bulletin("north"), "b": bulletin("south", round=9, awaited="north", waited=12.0)}

    def fetch(address):
        if address == "c":
            raise ConnectionRefusedError("refused")
        return msgspec.json.encode(said[address]) if address in said else b"hello"

    news = ask(["a", "b", "c", "d"], fetch)
    assert [each.state for each in news] == ["up", "waits", "gone", "gone"]
    assert news[1].row() == ("south", "waits", "agreeing", "9", "north, for 12 s", "1 of 1")
    assert news[3].row()[1] == "no answer: what answers there is no agent"
    assert summary(news) == "2 of 4 members answer, in rounds 7 to 9; north is waited for."


def test_a_member_is_asked_at_the_port_of_its_metrics():
    with serve_monitoring(lambda: bulletin("north"), 0) as port:
        (news,) = ask(addresses_in(str(port)), fetched)
    assert news.row()[0] == "north"


@pytest.mark.parametrize("text", ["nonsense", "ftp://x:1", "host:port", "file:///etc/passwd"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InputError, match="is no address"):
        addresses_in(text)
