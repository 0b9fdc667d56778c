"""Rows that have come for a block, and wait to be taken.

Messages of one kind from one block are numbered, because Ray may deliver them in another order. An epoch begins
where the workers start, and again where one of them was lost: what was sent before belongs to nobody any more.
"""

from __future__ import annotations

from threading import Condition
from typing import Any


class Interrupted(Exception):  # noqa: N818  # not an error: another worker was lost
    """Nobody will send what is waited for."""


Letter = tuple[int, str, int, int]
"""Which message it is: its epoch, its kind, who sends it, and its number. Plain, as Ray packs that sooner."""


class Mailbox:
    """What has come, for the one thread that computes; others put it in."""

    def __init__(self) -> None:
        self.epoch = 0
        self._given_up = -1
        self._letters: dict[Letter, Any] = {}
        self._changed = Condition()
        self._taken: dict[tuple[str, int], int] = {}

    def put(self, letter: Letter, rows: Any) -> None:
        """Keep something until it is taken; of an earlier epoch, drop it."""
        with self._changed:
            if letter[0] >= self.epoch:
                self._letters[letter] = rows
                self._changed.notify_all()

    def take(self, kind: str, sender: int) -> Any:
        """Wait for the next message of that kind from that block."""
        number = self._taken.get((kind, sender), 0)
        letter = (self.epoch, kind, sender, number)
        with self._changed:
            while letter not in self._letters:
                if self._given_up >= self.epoch:
                    raise Interrupted
                self._changed.wait()
            self._taken[kind, sender] = number + 1
            return self._letters.pop(letter)

    def give_up(self, epoch: int) -> None:
        """Let whoever waits in that epoch wait no longer."""
        with self._changed:
            self._given_up = max(self._given_up, epoch)
            self._changed.notify_all()

    def begin(self, epoch: int) -> None:
        """Begin an epoch: numbers start again, and what was sent before is dropped."""
        with self._changed:
            self.epoch, self._taken = epoch, {}
            self._letters = {letter: rows for letter, rows in self._letters.items() if letter[0] >= epoch}
