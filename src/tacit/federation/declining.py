"""Taking no part in a run of a series: the neighbours hear that it is so, and nothing of the reason."""

from __future__ import annotations

import logging
from pathlib import Path

from tacit.federation.joining import seat_of
from tacit.federation.manifest import Manifest
from tacit.listing import conjoined
from tacit.runtimes.peers.proxies import Proxy
from tacit.runtimes.peers.refusing import tell_declined

log = logging.getLogger("tacit.series")


def decline(
    manifest: Manifest,
    *,
    me: str,
    key: Path,
    folder: Path | None = None,
    listen: tuple[str, int] | None = None,
    proxy: str | None = None,
) -> list[str]:
    """Tell the neighbours that this member takes no part in the run of a manifest; return who has heard it.

    Nobody is told where the run has begun here before: then others count on what was said, and wait for it.
    """
    seat = seat_of(manifest, me)
    if list((folder or key.parent).glob(f"{seat.stem}.*")):
        return []
    through = None if proxy is None else Proxy.read(proxy)
    heard = tell_declined(manifest.job(), seat, key, listen=listen, proxy=through)
    log.info("%s been told that this member takes no part", f"{conjoined(heard)} have" if heard else "nobody has")
    return heard
