"""Taking part in a federation: from its manifest to an agent.

agent = join("federation.toml", cost, me="north", key="north.key")
agent.run().x
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tacit.costs import Family
from tacit.federation.checking import refuse_unspoken
from tacit.federation.epochs import Epochs
from tacit.federation.expiry import refuse_ended
from tacit.federation.manifest import Manifest
from tacit.federation.numbering import following, meeting_session
from tacit.federation.sections import Member, address_of, host_and_port
from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.proxies import Proxy
from tacit.runtimes.peers.seat import Endpoint, Seat


def seat_of(manifest: Manifest, me: str) -> Seat:
    """Return what the run of a manifest is to one of its members."""
    return Seat(
        me=me,
        members={name: endpoint_of(member) for name, member in manifest.members.items()},
        session=manifest.session(),
        parts=manifest.parts(),
        patience=manifest.stop.patience,
        silence=manifest.stop.idle,
        agreement=msgspec.json.encode(manifest),
        epoch=manifest.epoch,
        previous=manifest.previous,
        lineage=Epochs(manifest),
        protocol=manifest.protocol,
        relay=host_and_port(manifest.relay, "relay") if manifest.relay else None,
        meets_as=meeting_session(manifest),
        following=following(manifest),
    )


def endpoint_of(member: Member) -> Endpoint:
    """Return where a member is, to its neighbours."""
    return Endpoint(*(address_of(member) if member.address else ("", 0)), member.certificate)


def join(
    manifest: Manifest | str | Path,
    cost: Family,
    *,
    me: str,
    key: str | Path,
    folder: str | Path = ".",
    listen: tuple[str, int] | None = None,
    durable: bool = True,
    columns: Sequence[str] = (),
    proxy: str | None = None,
) -> Agent:
    """Return an agent that takes part as the member *me*, with its own cost; `run` waits for the others.

    *folder* keeps its private state; *key* is its private key, with the certificate beside it. *columns* are the
    names of the unknowns, where the data have any: neighbours who have others are refused. *proxy* is the URL of
    one to dial through: socks5://host:port or http://host:port. A key with a passphrase is unlocked with that in
    the file which TACIT_KEY_PASSPHRASE_FILE names.
    """
    agreed = manifest if isinstance(manifest, Manifest) else Manifest.read(manifest)
    refuse_unspoken(agreed)
    refuse_ended(agreed)
    return Agent(
        agreed.job(),
        seat_of(agreed, me),
        cost,
        key=key,
        folder=folder,
        listen=listen,
        durable=durable,
        columns=columns,
        proxy=None if proxy is None else Proxy.read(proxy),
    )
