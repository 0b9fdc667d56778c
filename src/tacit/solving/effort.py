"""What a run by sums will take, and how many numbers it will tell: before it starts, from public numbers alone.

    a sum       2·depth hops of so many numbers, 20 ms and 100 Mbit/s each
    Newton      about 15 sums of 1 + m + m(m + 1)/2 numbers, and a few eigenvalue problems of size m in between
    L-BFGS      up to 1 000 sums of 1 + m numbers
    FISTA       up to 5 000 sums of m numbers

Rounds are those of badly conditioned data: nobody knows the condition of a sum beforehand. Over a real network
Newton is the faster one up to some thousand unknowns, although each of its sums is hundreds of times as long.
"""

from __future__ import annotations

from typing import NamedTuple

from tacit.costs import packed_size

_HOP, _RATE = 0.02, 12.5e6  # seconds, and bytes a second
_SOLVE, _ROUGH_SOLVE = 3e-9, 1e-7  # seconds times m³, for a quadratic model of m unknowns; with kinks
_WORD = 8  # bytes of a number
NEWTON, LBFGS, FISTA = 15, 1_000, 5_000
"""Rounds to expect."""
ONCE = 1500
"""Unknowns up to which Hessians are worth adding up once."""
USUAL = 3
"""The depth of a spanning tree of some tens of agents."""


class Effort(NamedTuple):
    """A whole run."""

    seconds: float
    """Over a network of organisations; in one process it is far less."""
    numbers: int
    """Told, in all rounds together."""


def with_hessians(dim: int, *, depth: int = USUAL, rough: bool = False) -> Effort:
    """Return what Newton's method will take."""
    numbers = 1 + dim + packed_size(dim)
    solve = (_ROUGH_SOLVE if rough else _SOLVE) * dim**3
    return Effort(NEWTON * (_seconds(numbers, depth) + solve), NEWTON * numbers)


def with_gradients(dim: int, *, depth: int = USUAL, rough: bool = False) -> Effort:
    """Return what L-BFGS will take, or FISTA where there are rough terms."""
    rounds = FISTA if rough else LBFGS
    return Effort(rounds * _seconds(1 + dim, depth), rounds * (1 + dim))


def worth_hessians(dim: int, *, depth: int = USUAL, rough: bool = False) -> bool:
    """Tell whether a run with Hessians is over sooner than one with gradients alone."""
    newton, gradients = with_hessians(dim, depth=depth, rough=rough), with_gradients(dim, depth=depth, rough=rough)
    return newton.seconds <= gradients.seconds


def _seconds(numbers: int, depth: int) -> float:
    return 2 * depth * (_HOP + _WORD * numbers / _RATE)
