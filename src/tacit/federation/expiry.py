"""Keys that have a last day: said ahead, and refused after it, in the same words by checks and agents.

Most keys have none (`tacit keygen` without `--days`). The day is in the certificate, so that everybody who has the
manifest knows it. Links look at no clock; agents look before they take part, and at every start again.
"""

from __future__ import annotations

import datetime

from cryptography.x509 import load_pem_x509_certificate

from tacit.errors import InputError
from tacit.federation.manifest import Manifest
from tacit.runtimes.peers.identity import NEVER

WARNED = datetime.timedelta(days=30)
"""How long before its end a key is spoken of."""


def end_of(certificate: str) -> datetime.datetime | None:
    """Return when a certificate ends; None if it has no last day."""
    end = load_pem_x509_certificate(certificate.encode()).not_valid_after_utc
    return None if end >= NEVER else end


def last_days(manifest: Manifest, now: datetime.datetime | None = None) -> list[str]:
    """Return a sentence for every member whose key ends soon, at the time *now*."""
    now, sentences = now or datetime.datetime.now(datetime.UTC), []
    for name, member in manifest.members.items():
        end = end_of(member.certificate)
        if end is not None and now < end <= now + WARNED:
            days = (end - now).days
            left = "today" if not days else "tomorrow" if days == 1 else f"in {days} days"
            sentences.append(f"the key of {name} ends {left}, on {end:%Y-%m-%d}: {name} makes the next one before.")
    return sentences


def refuse_ended(manifest: Manifest, now: datetime.datetime | None = None) -> None:
    """Refuse a manifest with a key whose last day is over."""
    now = now or datetime.datetime.now(datetime.UTC)
    wrong = [
        f"the key of {name} ended on {end:%Y-%m-%d}: {name} makes a new one, and all agree on a manifest with it."
        for name, member in manifest.members.items()
        if (end := end_of(member.certificate)) is not None and end <= now
    ]
    if wrong:
        raise InputError(" ".join(wrong), command="See `tacit keygen` and `tacit federation rekey`.")
