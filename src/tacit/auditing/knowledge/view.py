"""What a coalition saw: its own costs, and every message that one of its members sent or received.

The randomness of its members is what they sent in phase 1. With the paper's worst case, all effective costs are in
it too: `Published`. A view holds numbers and nothing else, and there is no place in it for an honest agent's cost,
its masks on links to other honest agents, or its key: an attack that is given a view cannot look any further.

Views of all runtimes have this one format, and survive a file.
"""

from __future__ import annotations

from itertools import dropwhile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileError
from tacit.typing import Array

Block = NDArray[Any]


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """What went over the coalition's links at one time, message by message."""

    kind: str
    """What it was for.

    swap: masks, or keys (more: the next piece); drawn: masks from shared keys, which no message carries;
    mix, gather: gossip; up, down: sums over a tree; look: maxima that tell when to stop.
    """
    senders: Block
    receivers: Block
    values: Block
    """One row per message, of floats, or of words modulo 2⁶⁴."""


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of the coalition's own members, at the public point."""

    gradients: Block
    curvatures: Block
    sums: list[Block] = []
    """What all members together put into each sum of the run."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """All effective costs, as the paper's proof concedes them; or all masked words of secret sums."""

    gradients: Block | None = None
    """∇h̃ at the public point, (n, m)."""
    curvatures: Block | None = None
    """∇²h̃ there, as upper triangles, (n, m(m + 1)/2)."""
    values: Block | None = None
    """h̃(0): zero for every cost that keeps its constant to itself, (n,)."""
    words: list[Block] = []
    """What every agent put into each secret sum, (n, w) each."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a coalition saw, and nothing else."""

    coalition: Block
    """The members, by position."""
    own: Own
    exchanges: list[Exchange]
    published: Published | None = None

    def to_bytes(self) -> bytes:
        """Return the view in its one format."""
        return msgspec.msgpack.encode(self, enc_hook=_encode)

    @classmethod
    def from_bytes(cls, data: bytes) -> View:
        """Return the view that `to_bytes` wrote."""
        try:
            return msgspec.msgpack.decode(data, type=cls, dec_hook=_decode)
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError) as error:
            raise FileError("this is no recorded view, or it is damaged.") from error

    def save(self, path: str | Path) -> None:
        """Write the view to a file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> View:
        """Read the view from a file."""
        return cls.from_bytes(Path(path).read_bytes())

    def only(self, *kinds: str) -> list[Exchange]:
        """Return the exchanges of these kinds, in their order."""
        return [exchange for exchange in self.exchanges if exchange.kind in kinds]


def masks_of(view: View) -> list[Exchange]:
    """Return the exchanges in which members came to know masks, one per release or sum, in whole rows."""
    kinds = [exchange.kind for exchange in view.exchanges]
    head = "drawn" if "drawn" in kinds else "swap"
    masks: list[list[Exchange]] = []
    for exchange in view.exchanges:
        if exchange.kind == head:
            masks.append([exchange])
        elif exchange.kind == "more" and masks:
            masks[-1].append(exchange)
    return [_joined(pieces) for pieces in masks]


def gossip(view: View, *, masked: bool) -> list[Exchange]:
    """Return what agents said to neighbours in phase 2; where it was *masked*, the first swap was of masks."""
    exchanges = [exchange for exchange in view.exchanges if exchange.kind not in ("up", "down", "look")]
    if masked:
        exchanges = list(dropwhile(lambda exchange: exchange.kind in ("drawn", "more"), exchanges[1:]))
    return exchanges


def _joined(pieces: list[Exchange]) -> Exchange:
    if len(pieces) == 1:
        return pieces[0]
    return msgspec.structs.replace(pieces[0], values=np.concatenate([piece.values for piece in pieces], axis=1))


def received(exchange: Exchange) -> dict[int, Array]:
    """Return what each agent said in one exchange of gossip, to whichever member it said it."""
    return {int(agent): row for agent, row in zip(exchange.senders, exchange.values, strict=True)}


_KINDS = ("<f8", "<u8", "<i8")


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        plain = np.ascontiguousarray(value, dtype=f"<{value.dtype.kind}8")
        return {"dtype": plain.dtype.str, "shape": list(plain.shape), "data": plain.tobytes()}
    raise NotImplementedError(f"a view holds numbers, and no {type(value).__name__}.")


def _decode(kind: Any, value: Any) -> Any:
    if value["dtype"] not in _KINDS:
        raise ValueError("numbers of an unknown kind.")
    return np.frombuffer(value["data"], dtype=value["dtype"]).reshape(value["shape"])
