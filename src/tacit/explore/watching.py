"""A federation as it goes: who is up, in which round, waiting for whom and for how long.

Members are asked at their metrics' address, which has their bulletin; nothing in it depends on a cost. Fetching is
an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import msgspec

from tacit.errors import InputError
from tacit.runtimes.peers.bulletin import Bulletin

PATIENCE = 2.0
"""Seconds for one answer."""
_MOST = 1 << 20  # bytes of one answer
_TOGETHER = 16  # addresses that are asked at the same time

Doings = Literal["up", "waits", "gone"]
Fetch = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class MemberNews:
    """What one address says."""

    address: str
    bulletin: Bulletin | None
    trouble: str = ""
    """Why there is no bulletin."""

    @property
    def state(self) -> Doings:
        """Whether it is up, waits for somebody, or gives no answer."""
        if self.bulletin is None or self.bulletin.failed:
            return "gone"
        return "waits" if self.bulletin.awaited else "up"

    def row(self) -> tuple[str, ...]:
        """Return it as cells: member, state, phase, round, waiting for, links."""
        b = self.bulletin
        if b is None:
            return (urlsplit(self.address).netloc, f"no answer: {self.trouble}", "–", "–", "–", "–")
        waiting = f"{b.awaited}, for {b.waited:.0f} s" if b.awaited else "nobody"
        state = "its links have failed" if b.failed else "waits" if b.awaited else "up"
        return (b.name, state, b.phase, str(b.round), waiting, f"{sum(n.up for n in b.links)} of {len(b.links)}")


HEAD_OF_NEWS = ("member", "state", "phase", "round", "waiting for", "links up")


def addresses_in(text: str) -> list[str]:
    """Return the addresses that somebody has typed, with blanks or commas between them, as pages to ask.

    >>> addresses_in("9401, 127.0.0.1:9402")
    ['http://127.0.0.1:9401/status', 'http://127.0.0.1:9402/status']
    """
    return [_address(word) for word in text.replace(",", " ").split()]


def _address(word: str) -> str:
    full = f"127.0.0.1:{word}" if word.isdigit() else word
    full = full if "://" in full else f"http://{full}"
    parts = urlsplit(full)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("http", "https") or not parts.hostname or port is None:
        raise InputError(f"{word} is no address: give a port, or a host and a port, as in 127.0.0.1:9401.")
    return f"{parts.scheme}://{parts.netloc}/status"


def fetched(address: str) -> bytes:
    """Return what stands at an address; no proxy is asked."""
    with build_opener(ProxyHandler({})).open(address, timeout=PATIENCE) as reply:
        return bytes(reply.read(_MOST))


def ask(addresses: Iterable[str], fetch: Fetch = fetched) -> list[MemberNews]:
    """Return what every address says of its member, all asked at the same time."""
    with ThreadPoolExecutor(_TOGETHER) as pool:
        return list(pool.map(lambda address: _news(address, fetch), addresses))


def _news(address: str, fetch: Fetch) -> MemberNews:
    try:
        return MemberNews(address, msgspec.json.decode(fetch(address), type=Bulletin))
    except msgspec.MsgspecError:
        return MemberNews(address, None, "what answers there is no agent")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)  # what a URL could not be opened for
        return MemberNews(address, None, str(getattr(reason, "strerror", None) or reason))


def summary(news: list[MemberNews]) -> str:
    """Return the whole federation in a sentence."""
    there = [each.bulletin for each in news if each.bulletin is not None]
    if not there:
        return "Nobody answers."
    rounds = [b.round for b in there]
    awaited = sorted({b.awaited for b in there if b.awaited})
    where = f"round {rounds[0]}" if min(rounds) == max(rounds) else f"rounds {min(rounds)} to {max(rounds)}"
    waiting = f"; {', '.join(awaited)} is waited for" if awaited else ""
    return f"{len(there)} of {len(news)} members answer, in {where}{waiting}."
