"""What a run leaves open although it is over: directions that no sum can tell, and how much may be left to gain.

An algorithm that knows it keeps three numbers in its state: `loose`, how much every unknown has to do with it,
`bound`, by how much the sum of the costs could still fall at most, and `fell`, by how much it has fallen.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

_INVOLVED = 1e-3  # of the unknown most involved: below this it only shares in the rounding of the others


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Unknowns, by position, that what was added up does not determine."""

    unknowns: tuple[int, ...]
    bound: float | None
    """The most by which the sum of the costs could still fall; None where nothing bounds it."""
    gained: float
    """By how much it has fallen since the start."""

    @classmethod
    def of(cls, state: Any) -> Doubt | None:
        """Return what a last state leaves open; None where nothing is, or where the algorithm does not know."""
        loose = getattr(state, "loose", None)
        if loose is None or not loose.any():
            return None
        bound = float(state.bound)
        return cls(
            unknowns=tuple(int(k) for k in np.flatnonzero(loose > _INVOLVED * loose.max())),
            bound=bound if np.isfinite(bound) else None,
            gained=float(state.fell),
        )

    def sentence(self, names: tuple[str, ...] = ()) -> str:
        """Say which unknowns, and how far; *names* stand in for positions."""
        called = [names[k] if k < len(names) else f"number {k + 1}" for k in self.unknowns]
        several = f"{', '.join(called[:-1])} and {called[-1]}" if len(called) > 1 else called[0]
        if len(called) > 12:
            several = f"{', '.join(called[:11])} and {len(called) - 11} more"
        left = "and nothing bounds what is left to gain"
        if self.bound is not None:
            left = f"the sum of the costs fell by {self.gained:.3g} and could fall by at most {self.bound:.2g} more"
        what = "column(s)" if names else "unknown(s)"
        return (
            f"{what} {several} cannot be told apart to the digits that the numbers have: of all answers that fit as "
            f"well, this is about the shortest; {left}."
        )
