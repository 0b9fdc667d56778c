"""What a relay is told that serves certain runs only: the tokens of their links, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.federation.manifest import Manifest
from tacit.federation.numbering import meeting_session
from tacit.protocol.meeting import token_of


def tokens_of(manifest: Manifest) -> Iterator[bytes]:
    """Yield what names each link whose ends both only dial out, at a relay."""
    session = meeting_session(manifest)
    yield from (token_of(session, one, other) for one, other in manifest.met_at_a_relay())
