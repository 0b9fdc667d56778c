"""What a run leaves open although it is over: directions that no sum can tell, and how much may be left to gain.

An algorithm that knows it has three numbers among its findings: `loose`, how much every unknown has to do with it,
`bound`, by how much the sum of the costs could still fall at most, and `fell`, by how much it has fallen. Only the
ratio of the last two leaves: it says as much, and no sum of costs.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tacit.listing import conjoined
from tacit.typing import Array, Findings

_LISTED = 12
_INVOLVED = 1e-3  # of the unknown most involved: below this it only shares in the rounding of the others


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Unknowns, by position, that what was added up does not determine."""

    unknowns: tuple[int, ...]
    share: float | None
    """The most by which the sum of the costs could still fall, over what it has fallen; None: nothing bounds it."""

    @classmethod
    def of(cls, findings: Findings) -> Doubt | None:
        """Return what a run leaves open; None where nothing is, or where the algorithm does not know."""
        if findings.loose is None or not findings.loose.any():
            return None
        return cls.among(findings.loose, float(findings.bound), float(findings.fell))

    @classmethod
    def among(cls, loose: Array, bound: float, fell: float) -> Doubt:
        """Return the doubt about the unknowns that are *loose*."""
        share = bound / fell if fell > 0 else np.inf
        involved = np.flatnonzero(loose > _INVOLVED * loose.max())
        return cls(unknowns=tuple(involved.tolist()), share=share if np.isfinite(share) else None)

    def sentence(self, names: tuple[str, ...] = ()) -> str:
        """Say which unknowns, and how far; *names* stand in for positions."""
        called = list(dict.fromkeys(names[k] if names else str(k + 1) for k in self.unknowns))  # a class each
        if len(called) > _LISTED:
            called = [*called[: _LISTED - 1], f"{len(called) - _LISTED + 1} more"]
        what = "column(s)" if names else "unknown(s)"
        left = "nothing bounds what is left to gain"
        if self.share is not None:
            left = f"at most {self.share:.2g} times what the fit has gained is left to gain"
        return (
            f"{what} {conjoined(called)} are not told apart by what was added up, to the digits that it has: this "
            f"is about the shortest of the answers that fit as well, and {left}."
        )
