"""Everything that can be checked before a run, without anything private: what `tacit federation check` shows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from tacit.certificates import Certificate
from tacit.differential import AnswerGuarantee
from tacit.errors import InputError
from tacit.federation.declared import telling_of
from tacit.federation.expiry import last_days, refuse_ended
from tacit.federation.guarantees import certified
from tacit.federation.identity import fingerprint
from tacit.federation.manifest import Manifest, refuse_strangers
from tacit.federation.sections import address_of, host_and_port
from tacit.protocol.versions import unspoken
from tacit.runtimes.peers.dialling import dialled
from tacit.runtimes.peers.proxies import Proxy
from tacit.showing import Readable
from tacit.solving.declared import Declared
from tacit.solving.stamping import NO_MASKS, of_network

_REACHABLE = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class Assessment(Readable):
    """What is known of a run before it begins."""

    manifest: Manifest
    certificate: Certificate | None
    """None where nothing is hidden, or nothing can be."""
    telling: Declared | None
    """What the answer will tell; None where the manifest declares too little to count it."""
    reached: Mapping[str, bool]
    """Whether a member's neighbours answer, where that was tried; those who only dial out cannot be tried."""
    relay_reached: bool | None = None
    """Whether the relay answers, where this member needs it and that was tried."""

    def __str__(self) -> str:
        hidden = "" if self.certificate is None else self.certificate.statement()
        clear = [] if self.problems else ["Nothing is wrong with it."]
        title = f"{self.manifest.title or 'A run'}: {len(self.manifest.members)} members, run {self.manifest.run}."
        return "\n".join(filter(None, [title, *self.problems, *clear, *self.warnings, hidden]))

    @property
    def guarantee(self) -> AnswerGuarantee | None:
        """What will hold of the answer itself; None where it will be exact."""
        promised = self.manifest.promised()
        return None if promised is None else promised.guarantee

    @property
    def is_exposed(self) -> bool:
        """Whether a coalition would learn something exactly."""
        return self.certificate is not None and not self.certificate.is_private

    @property
    def all_answer(self) -> bool:
        """Whether everybody answers who was tried."""
        return all(self.reached.values()) and self.relay_reached is not False

    @property
    def problems(self) -> list[str]:
        """All that is not as it should be, a sentence each."""
        return [*self._exposures(), *self.manifest.privacy.misfits(), *self._silences()]

    @property
    def warnings(self) -> list[str]:
        """What will not be as it should, if nobody does anything: a sentence each."""
        return last_days(self.manifest)

    def _exposures(self) -> Iterator[str]:
        stamps = [NO_MASKS] if self.manifest.privacy.level == "none" else [*of_network(self.manifest.network())]
        stamps += [] if self.certificate is None else [stamp for stamp in self.certificate.stamps if stamp.voids]
        yield from map(str, stamps)
        if self.is_exposed and not stamps:
            yield (
                "A coalition would learn something exactly: make a manifest with more links, or against "
                "fewer members."
            )

    def _silences(self) -> Iterator[str]:
        for name, answers in self.reached.items():
            if not answers:
                address = self.manifest.members[name].address
                yield f"{name} does not answer at {address}: it may not be running yet."
        if self.relay_reached is False:
            yield f"the relay does not answer at {self.manifest.relay}: it may not be running yet."

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        manifest, neighbours = self.manifest, self.manifest.neighbours()
        members = [
            {
                "name": name,
                "address": member.address,
                "neighbours": neighbours[name],
                "fingerprint": fingerprint(member.certificate),
                "reached": self.reached.get(name),
            }
            for name, member in manifest.members.items()
        ]
        return {
            "title": manifest.title,
            "run": manifest.run,
            "session": manifest.session(),
            "unknowns": manifest.unknowns,
            "algorithm": manifest.algorithm["name"],
            "level": manifest.privacy.level,
            "pairing": manifest.privacy.pairing,
            "dropout": manifest.dropout,
            "epoch": manifest.epoch,
            "repeat": msgspec.to_builtins(manifest.repeat),
            "protocol": manifest.protocol,
            "members": members,
            "relay": {"address": manifest.relay, "reached": self.relay_reached} if manifest.relay else None,
            "private": self.certificate is not None and self.certificate.is_private,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "answer": None if self.guarantee is None else msgspec.to_builtins(self.guarantee),
            "problems": self.problems,
            "warnings": self.warnings,
        }


def check(
    manifest: Manifest, *, any: int | None = None, me: str | None = None, proxy: str | None = None
) -> Assessment:
    """Return what holds against so many members, *any*; and with *me* try to reach that member's neighbours.

    They are dialled through the *proxy*, and so is the relay, where this member meets somebody there.
    """
    if me is not None:
        refuse_strangers(manifest, [me])
    refuse_unspoken(manifest)
    refuse_ended(manifest)
    telling = telling_of(manifest)
    certificate = certified(manifest, any=any, telling=telling)
    if me is None:
        return Assessment(manifest, certificate, telling, {})
    through = None if proxy is None else Proxy.read(proxy)
    there = [name for name in manifest.neighbours()[me] if manifest.members[name].address]
    answers = reach([address_of(manifest.members[name]) for name in there], proxy=through)
    relay = (
        reach([host_and_port(manifest.relay, "relay")], proxy=through)[0] if meets_somebody(manifest, me) else None
    )
    return Assessment(manifest, certificate, telling, dict(zip(there, answers, strict=True)), relay)


def meets_somebody(manifest: Manifest, me: str) -> bool:
    """Tell whether a member meets somebody at the relay."""
    return any(me in link for link in manifest.met_at_a_relay())


def refuse_unspoken(manifest: Manifest) -> None:
    """Refuse a run that is pinned to a protocol which this tacit does not speak."""
    why = unspoken(manifest.protocol)
    if why:
        raise InputError(why)


def reach(places: Iterable[tuple[str, int]], *, proxy: Proxy | None = None) -> list[bool]:
    """Return whether somebody answers at each of these places, tried all at once. Nothing is said there."""
    places = list(places)

    async def all_at_once() -> list[bool]:
        return await asyncio.gather(*(_answers(host, port, proxy) for host, port in places))

    return asyncio.run(all_at_once())


async def _answers(host: str, port: int, proxy: Proxy | None) -> bool:
    try:
        raw = await dialled(host, port, proxy=proxy, seconds=_REACHABLE)
    except OSError:  # of time, too
        return False
    raw.close()
    return True
