"""Where a federation is looked at: addresses that serve a status, and manifests whose members live in folders here.

    9400, 127.0.0.1:9401    `/status` of an agent, or of all agents of one command
    clinics/north           the manifest in that folder: its members' folders are this one, or beside it, or in it

Fetching is an argument.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import msgspec

from tacit.errors import InputError, TacitError
from tacit.explore.sources import is_manifest
from tacit.explore.watching import MemberNews
from tacit.federation import Condition, Manifest, Standing, standing_of
from tacit.runtimes.peers.bulletin import Bulletin

PATIENCE = 2.0
"""Seconds for one answer."""
_MOST = 1 << 24  # bytes of one answer
_TOGETHER = 16  # places that are asked at the same time
_MANIFEST = "federation.toml"

Fetch = Callable[[str], bytes]


def fetched(address: str) -> bytes:
    """Return what stands at an address; no proxy is asked."""
    with build_opener(ProxyHandler({})).open(address, timeout=PATIENCE) as reply:
        return bytes(reply.read(_MOST))


@dataclass(frozen=True, slots=True)
class Address:
    """A status that somebody serves: of one agent, or of several."""

    url: str

    def look(self, fetch: Fetch = fetched) -> list[MemberNews]:
        """Return what stands there."""
        where = urlsplit(self.url).netloc
        try:
            status = msgspec.json.decode(fetch(self.url), type=Bulletin | list[Bulletin])
        except msgspec.MsgspecError:
            return [MemberNews(where, "away", trouble=": what answers there is no agent", named=False)]
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)  # what a URL could not be opened for
            words = str(getattr(reason, "strerror", None) or reason)
            return [MemberNews(where, "away", trouble=f": {words}", named=False)]
        if isinstance(status, Bulletin):
            return [MemberNews.of(status)]
        newest = max((b.at for b in status), default=0.0)
        return [MemberNews.of(b, age=newest - b.at) for b in status]


@dataclass(frozen=True, slots=True)
class Folders:
    """A manifest on this machine, and the folders of its members."""

    manifest: Path

    def look(self, fetch: Fetch = fetched) -> list[MemberNews]:
        """Return what members have left beside their state."""
        try:
            manifest = Manifest.read(self.manifest)
            return [self._news(manifest, name) for name in manifest.members]
        except TacitError as error:
            return [MemberNews(self.manifest.name, "away", trouble=f": {error}", named=False)]

    def _news(self, manifest: Manifest, name: str) -> MemberNews:
        here = self.manifest.resolve().parent
        folders = [place for place in (here, here / name, here.parent / name) if place.is_dir()]
        all_found = [standing_of(manifest, me=name, folder=folder) for folder in folders]
        begun = [each for each in all_found if each.condition is not Condition.NOT_BEGUN]
        return _of_standing(begun[0] if begun else all_found[0])


def _of_standing(standing: Standing) -> MemberNews:
    if standing.bulletin is not None:
        return MemberNews.of(standing.bulletin, age=standing.age)
    if standing.condition is Condition.DONE:
        return MemberNews(standing.member, "done")
    return MemberNews(standing.member, "away", trouble=f": {standing.condition}")


Lookout = Address | Folders


def lookouts_in(text: str) -> list[Lookout]:
    """Return what somebody has typed, with blanks or commas between: ports, addresses, manifests and their folders.

    >>> lookouts_in("9401, 127.0.0.1:9402")
    [Address(url='http://127.0.0.1:9401/status'), Address(url='http://127.0.0.1:9402/status')]
    """
    try:
        return [_lookout(word) for word in shlex.split(text.replace(",", " "))]
    except ValueError as error:
        raise InputError(f"{text} has a quotation mark that is not closed.") from error


def _lookout(word: str) -> Lookout:
    path = Path(word).expanduser()
    if path.is_dir():
        path = path / _MANIFEST
    if path.suffix == ".toml":
        if not is_manifest(path):
            raise InputError(f"{path} is no manifest of a federation.")
        return Folders(path)
    return Address(_address(word))


def _address(word: str) -> str:
    full = f"127.0.0.1:{word}" if word.isdigit() else word
    full = full if "://" in full else f"http://{full}"
    parts = urlsplit(full)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("http", "https") or not parts.hostname or port is None:
        raise InputError(
            f"{word} is no address: give a port, a host and a port, as in 127.0.0.1:9401, or a manifest here."
        )
    return f"{parts.scheme}://{parts.netloc}/status"


def look(lookouts: Iterable[Lookout], fetch: Fetch = fetched) -> list[MemberNews]:
    """Return what is known of every member, all places asked at the same time."""
    with ThreadPoolExecutor(_TOGETHER) as pool:
        asked = pool.map(lambda place: (str(place), place.look(fetch)), lookouts)
        return [replace(news, place=place) for place, status in asked for news in status]
