"""Costs taken apart into their arrays, which a compiled function takes as arguments, and put together again.

An array that several parts of a cost share, such as α of a smooth part and of the whole, moves once. What a cost
has worked out and kept, such as an eigendecomposition, moves with it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.costs import CostStack, Family, Rough
from tacit.costs.stack import Group
from tacit.runtimes.jax.arrays import DeviceArray


class _Place(NamedTuple):
    """Where an array was: its position among the arrays."""

    position: int


class Apart(NamedTuple):
    """A cost without its arrays."""

    shell: Any

    def together(self, arrays: Sequence[Any]) -> Any:
        """Return the cost with these arrays in their places."""
        return _rebuilt(self.shell, arrays)


def taken_apart(cost: Any) -> tuple[Apart, list[Any]]:
    """Return *cost* without its arrays, and the arrays."""
    arrays: list[Any] = []
    places: dict[int, _Place] = {}

    def shell(thing: Any) -> Any:
        if isinstance(thing, np.ndarray | DeviceArray):
            if id(thing) not in places:
                places[id(thing)] = _Place(len(arrays))
                arrays.append(thing)
            return places[id(thing)]
        return _mapped(shell, thing)

    return Apart(shell(cost)), arrays


def _rebuilt(thing: Any, arrays: Sequence[Any]) -> Any:
    if isinstance(thing, _Place):
        return arrays[thing.position]
    return _mapped(lambda part: _rebuilt(part, arrays), thing)


def _mapped(function: Any, thing: Any) -> Any:
    """Return the same kind of thing, with *function* of each of its parts."""
    if isinstance(thing, Family | Rough | CostStack | Group):
        like = copy.copy(thing)
        like.__dict__ = {name: function(part) for name, part in vars(thing).items()}
        return like
    if type(thing) in (list, tuple):
        return type(thing)(map(function, thing))
    return thing
