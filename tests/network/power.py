"""Agents in memory on machines whose power is cut: what the disk was not told to keep is lost, or half lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lockstep import Lockstep

from tacit.runtimes.peers import sent as log
from tacit.runtimes.peers.store import Store


class PowerCuts(Lockstep):
    """A member that dies keeps what it had synced; of what it has written since, pages in any order, or zeros.

    *blackouts* are turns after which everybody's power is cut at once.
    """

    def __init__(self, *, seed: int = 0, tick: float = 0.02, blackouts: tuple[int, ...] = ()) -> None:
        super().__init__(seed=seed, tick=tick)
        self._synced: dict[Path, int] = {}
        self._blackouts = set(blackouts)
        self.lost = 0
        """Bytes that were written, and lost."""

    def run(self, *given: Any, **settings: Any) -> Any:
        """Play all parts on such machines."""
        fdatasync, folder, begun = os.fdatasync, log._sync_folder, Store.__init__

        def synced(descriptor: int) -> None:
            self.act()
            self._synced[Path(os.readlink(f"/proc/self/fd/{descriptor}"))] = os.fstat(descriptor).st_size
            self.act()

        def opened(store: Store, *given: Any, **settings: Any) -> None:
            begun(store, *given, **settings)
            store._sent._durable = True  # the database is: only the log is played with here

        os.fdatasync, log._sync_folder, Store.__init__ = synced, lambda path: None, opened
        try:
            return super().run(*given, **settings)
        finally:
            os.fdatasync, log._sync_folder, Store.__init__ = fdatasync, folder, begun

    def turned(self, turn: int, players: list[Any]) -> None:
        """Cut everybody's power."""
        if turn in self._blackouts:
            for player in players:
                player.dies_at = player.acts + 1

    def died(self, name: str) -> None:
        """Lose what was not synced."""
        for path in self.folder.glob(f"{name}-*.state-sent-*"):
            data, kept = path.read_bytes(), self._synced.get(path.resolve(), 0)
            self.lost += len(data) - kept
            tail = bytearray(data[kept:])
            match self._order.randrange(3):
                case 0:
                    tail.clear()
                case 1:  # its length only
                    tail[:] = bytes(len(tail))
                case 2:  # a later page, and not an earlier one
                    tail[: len(tail) // 2] = bytes(len(tail) // 2)
            path.write_bytes(data[:kept] + tail)
