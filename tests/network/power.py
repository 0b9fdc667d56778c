"""Agents in memory on machines whose power is cut: what the disk was not told to keep is lost, or half lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lockstep import Lockstep

from tacit.runtimes.peers import filed
from tacit.runtimes.peers import sent as log
from tacit.runtimes.peers.store import Store


class PowerCuts(Lockstep):
    """A member that dies keeps what it had synced; of what it has written since, pages in any order, or zeros.

    *blackouts* are turns after which everybody's power is cut at once.
    """

    def __init__(self, *, seed: int = 0, tick: float = 0.02, blackouts: tuple[int, ...] = ()) -> None:
        super().__init__(seed=seed, tick=tick)
        self._synced: dict[Path, bytes] = {}
        self._blackouts = set(blackouts)
        self.lost = 0
        """Bytes that were written, and lost."""

    def run(self, *given: Any, **settings: Any) -> Any:
        """Play all parts on such machines."""
        fdatasync, folder, begun = os.fdatasync, filed.sync_folder, Store.__init__

        def synced(descriptor: int) -> None:
            self.act()
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            self._synced[path] = path.read_bytes()
            self.act()

        def opened(store: Store, *given: Any, **settings: Any) -> None:
            begun(store, *given, **settings)
            for each in (store._sent, store._shelf, store._slots):  # the database is: only files are played with
                each._durable = True

        os.fdatasync, Store.__init__ = synced, opened
        filed.sync_folder = log.sync_folder = lambda path: None
        try:
            return super().run(*given, **settings)
        finally:
            os.fdatasync, Store.__init__ = fdatasync, begun
            filed.sync_folder = log.sync_folder = folder

    def turned(self, turn: int, players: list[Any]) -> None:
        """Cut everybody's power."""
        if turn in self._blackouts:
            for player in players:
                player.dies_at = player.acts + 1

    def died(self, name: str) -> None:
        """Lose what was not synced."""
        for ending in ("sent-*", "came", "arrays-*"):
            for path in self.folder.glob(f"{name}-*.state-{ending}"):
                data, synced = path.read_bytes(), self._synced.get(path.resolve(), b"")
                same = next(
                    (k for k, (a, b) in enumerate(zip(data, synced, strict=False)) if a != b),
                    min(len(data), len(synced)),
                )
                self.lost += len(data) - same
                before, tail = synced[same:], bytearray(data[same:])
                match self._order.randrange(3):
                    case 0:
                        tail[:] = before
                    case 1:  # its length only
                        tail[:] = before + bytes(max(len(tail) - len(before), 0))
                    case 2:  # a later page, and not an earlier one
                        half = len(tail) // 2
                        tail[:half] = (before + bytes(half))[:half]
                path.write_bytes(data[:same] + tail)
