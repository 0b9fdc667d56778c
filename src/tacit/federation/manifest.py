"""`federation.toml`: what all members of a run agree on beforehand. Public, and the same bytes at every member.

Its hash names the session. Two members whose manifests differ find out at their first greeting, and which part
differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
import numpy as np

from tacit.coverage import MASKS
from tacit.errors import FileError, InputError, TacitError
from tacit.federation.foreign import refuse_acting
from tacit.federation.promising import promised_in
from tacit.federation.sections import Earlier, Masks, Member, Model, Repeat, Stop, address_of, host_and_port
from tacit.fields import read_fields
from tacit.later import later
from tacit.listing import conjoined, listed
from tacit.network import Network
from tacit.protocol.versions import unspoken
from tacit.runtimes.job import Job
from tacit.runtimes.peers.identity import der
from tacit.runtimes.peers.seat import neighbours_of
from tacit.solving.algorithm_section import Agreed, agreed
from tacit.solving.promised import Arranged
from tacit.spelling import did_you_mean
from tacit.tables import Dictionary
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

Dropout = Literal["wait", "exclude"]
DROPOUTS: tuple[Dropout, ...] = get_args(Dropout)
"""What members may agree on for the case that somebody stays away for good."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    title: str
    run: int
    unknowns: int
    links: list[tuple[str, str]]
    members: dict[str, Member]
    privacy: Masks
    algorithm: dict[str, Any]
    x0: list[float] = []
    model: Model | None = None
    data: Dictionary | None = None
    """What the columns of the members' files mean, where these are CSV files."""
    stop: Stop = Stop()
    dropout: Dropout = "wait"
    """What happens if a member stays away: all wait, or those who stay may agree to go on without it."""
    epoch: int = 0
    """How often members or links have been left out of this run."""
    previous: str = ""
    """The session of the epoch before this one."""
    left: list[str] = []
    """Who took part in an earlier epoch of this run, and was left out since: sums can be subtracted."""
    protocol: int = 1
    """What all members' agents speak in this run; files that do not say are of the first."""
    relay: str = ""
    """Where neighbours meet who both only dial out: host:port of a `tacit relay`."""
    follows: str = ""
    """The session of the run before this one, where newcomers take part now."""
    earlier: list[Earlier] = []
    """The runs before this one, where newcomers take part now: sums can be subtracted."""
    repeat: Repeat = Repeat()

    @classmethod
    def read(cls, path: str | Path) -> Manifest:
        """Return the manifest in a file, checked as far as that is possible without a network.

        All that is wrong is said at once.
        """
        try:
            manifest = read_fields(path, cls)
        except FileError:
            _refuse_later(path)
            raise
        wrong = manifest.problems()
        if wrong:
            raise FileError(f"{path}: {' '.join(wrong)}")
        return manifest

    def to_toml(self) -> bytes:
        """Return the file's bytes; fields that say nothing are left out, since TOML has no null."""
        fields = msgspec.to_builtins(self)
        written = {name: value for name, value in fields.items() if name not in _SELDOM or _ADDED[name] != value}
        return msgspec.toml.encode(_without_none(written))

    def problems(self) -> list[str]:
        """Return what is wrong with it, a sentence each; nothing, if it can be run."""
        try:  # first, and alone: other sentences repeat names
            addresses = {name: member.address for name, member in self.members.items()}
            refuse_acting(msgspec.to_builtins(self) | {"members": addresses})  # certificates are never shown
        except InputError as error:
            return [str(error)]
        wrong = []
        places = (self._certificates, self._addresses, self.network)
        for part in (
            *places,
            self._start,
            self._meaning,
            self._algorithm,
            self.stop.rule,
            self._history,
            self.repeat.checked,
        ):
            try:
                part()
            except TacitError as error:
                wrong.append(str(error))
        try:
            self.privacy.mechanism()
            if not wrong:
                self.job()  # the parts together
        except TacitError as error:
            wrong.append(str(error))
        return wrong

    def session(self) -> str:
        """Return the hash that names the run; the order of the members counts, since it numbers the agents.

        It is that of every version of tacit: a field that was added later counts where it says something.
        """
        fields = msgspec.to_builtins(self)
        agreed = {name: value for name, value in fields.items() if _ADDED.get(name, ...) != value}
        return hashlib.sha256(msgspec.json.encode(agreed)).hexdigest()

    def parts(self) -> dict[str, str]:
        """Return a short hash of every part, so that a difference can be named."""
        encode = msgspec.json.Encoder().encode
        return {
            name: hashlib.sha256(encode(getattr(self, name))).hexdigest()[:16] for name in self.__struct_fields__
        }

    def network(self) -> Network:
        """Return the links; agents in the order of the members."""
        for a, b in self.links:
            if a not in self.members or b not in self.members:
                raise InputError(f"a link joins {a} and {b}, and one of them is no member.")
        return Network.of_links(tuple(self.members), self.links)

    def neighbours(self) -> dict[str, list[str]]:
        """Return the names of every member's neighbours, in the order of the members."""
        names, network = tuple(self.members), self.network()
        return {name: neighbours_of(network, names, name) for name in names}

    def job(self) -> Job:
        """Return both phases as every member runs them; the costs stay where they are."""
        if (self.epoch > 0) != bool(self.previous) or self.epoch < 0:
            raise InputError(f"epoch = {self.epoch} and previous = {self.previous!r} do not go together.")
        if self.left and (not self.epoch or not self.members.keys().isdisjoint(self.left)):
            raise InputError(f"left = {self.left} are those who were left out of an earlier epoch, and no members.")
        if self.model is not None and self.model.records is not None and self.model.records < 1:
            raise InputError(f"[model] records = {self.model.records} must be at least 1.")
        if self.model is not None and self.model.shares is not None and self.model.shares < len(self.members):
            raise InputError(f"[model] shares = {self.model.shares}, and there are {len(self.members)} members.")
        self._certificates()
        algorithm, weights = self._algorithm()
        privacy, promised = self.privacy.mechanism(), self.promised()
        if promised is not None:
            algorithm, weights = promised.choice.algorithm, promised.choice.weights
        why = None if privacy is None else privacy.refuses(algorithm)
        if privacy is not None and why is not None:
            raise InputError(f"{self.algorithm['name']!r} with {MASKS[privacy.kind]} is refused: {why}")
        return Job(
            network=self.network(),
            costs=(),
            stack=None,
            x0=self._start(),
            algorithm=algorithm,
            exact=algorithm.exact,
            weights=weights,
            privacy=privacy,
            rule=self.stop.rule(),
            floor=self.stop.floor,
        )

    def promised(self) -> Arranged | None:
        """Return how the run keeps what [privacy.answer] promises, and what holds then; None without a promise."""
        if self.privacy.promise is None:
            return None
        algorithm, weights = self._algorithm()
        return promised_in(
            self.privacy,
            self.network(),
            self.model,
            unknowns=self.unknowns,
            section=self.algorithm,
            agreed=algorithm,
            weights=weights,
            dropout=self.dropout,
        )

    def _certificates(self) -> None:
        owners: dict[bytes, str] = {}
        wrong = []
        for name, member in self.members.items():
            try:
                other = owners.setdefault(der(member.certificate), name)
            except InputError as error:
                wrong.append(f"member {name}: {error}")
                continue
            if other != name:
                wrong.append(f"{other} and {name} have the same certificate: a key belongs to one member.")
        if wrong:
            raise InputError(" ".join(wrong))

    def _addresses(self) -> None:
        wrong = []
        for name, member in self.members.items():
            try:
                if member.address:  # who has none only dials out
                    address_of(member)
            except InputError as error:
                wrong.append(f"member {name}: {error}")
        if self.relay:
            host_and_port(self.relay, "relay")
        elif met := self.met_at_a_relay():
            wrong.append(
                f"{conjoined(met[0])} are linked and both only dial out: they need a relay to meet at, such as "
                'relay = "relay.example:7400".'
            )
        if wrong:
            raise InputError(" ".join(wrong))

    def met_at_a_relay(self) -> list[tuple[str, str]]:
        """Return the links whose ends both only dial out."""
        inward = {name for name, member in self.members.items() if not member.address}
        return [link for link in self.links if inward.issuperset(link)]

    def _start(self) -> Array:
        if self.unknowns < 1 or (self.x0 and len(self.x0) != self.unknowns):
            raise InputError(f"unknowns = {self.unknowns} and x0 has {len(self.x0)} entries.")
        return np.array(self.x0 or [0.0] * self.unknowns)

    def _meaning(self) -> None:
        """Refuse a dictionary that cannot be used, or does not go with the model."""
        if self.data is None:
            return
        self.data.checked()
        if self.model is None:
            raise InputError("[data] says what columns mean, and there is no [model] to fit on them.")
        counted = len(self.data.names) + self.model.intercept
        if counted != self.unknowns:
            raise InputError(f"[data] brings {counted} unknown(s) with [model], and unknowns = {self.unknowns}.")
        if self.model.target not in (None, self.data.target):
            raise InputError(f"[model] target = {self.model.target!r}, and [data] has {self.data.target!r}.")

    def _history(self) -> None:
        if bool(self.follows) != bool(self.earlier):
            raise InputError("follows and earlier go together: the run before this one, and all before it.")
        for run in self.earlier:
            run.checked()

    def _algorithm(self) -> tuple[Agreed, str]:
        return agreed(self.algorithm)


_SELDOM = ("left", "follows", "earlier", "repeat")
_ADDED = {
    "left": [],
    "protocol": 1,
    "relay": "",
    "follows": "",
    "earlier": [],
    "repeat": msgspec.to_builtins(Repeat()),
}
"""Fields that the first manifests did not have, and what they say where they say nothing."""


class _Pinned(msgspec.Struct):
    protocol: int = 1


def _refuse_later(path: str | Path) -> None:
    """Refuse a file of a protocol that this tacit does not speak: its other words may be later ones, too."""
    try:
        why = unspoken(read_fields(path, _Pinned).protocol)
    except FileError:
        return
    if why:
        raise FileError(f"{path}: {why}") from None


def refuse_strangers(manifest: Manifest, names: Iterable[str], *, who: str = "{!r}") -> None:
    """Refuse a name that no member has; *who* takes it, and may say more of it."""
    for name in names:
        if name not in manifest.members:
            meant = did_you_mean(name, manifest.members)
            raise InputError(
                f"{who.format(name)} is no member; the manifest has {listed(manifest.members)}.{meant}"
            )


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(entry) for key, entry in value.items() if entry is not None}
    return [_without_none(entry) for entry in value] if isinstance(value, list | tuple) else value
