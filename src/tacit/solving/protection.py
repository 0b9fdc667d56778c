"""What is to be protected, and whether the mechanism does it.

    protect="affine"   the affine parts of the costs, as in the paper; for regressions, the labels
    protect="whole"    everything but the sum of all costs

Without a mechanism the strongest one is taken: secret sums, which need no σ. A mechanism that leaves in the open
what was asked to be protected is refused.
"""

from __future__ import annotations

from typing import Literal, get_args

from tacit.costs import CostStack, Family
from tacit.coverage import MASKS, Coverage
from tacit.errors import InputError, ProtectionError
from tacit.masks import Linear, Mechanism, Quadratics, SumMasks, drawn_afresh, refuse_other
from tacit.solving.problem import Problem
from tacit.spelling import did_you_mean

Protection = Literal["affine", "whole"]


def mechanism_for(
    problem: Problem, privacy: Mechanism | None, protect: Protection | None, *, tree: bool
) -> Mechanism | None:
    """Return the mechanism to use: the one given if it protects what is asked for, else secret sums."""
    refuse_other(privacy)
    if protect is not None and protect not in get_args(Protection):
        raise InputError(
            f"protect = {protect!r} is neither {' nor '.join(map(repr, get_args(Protection)))}."
            f"{did_you_mean(protect, get_args(Protection))}"
        )
    if drawn_afresh(privacy) and not tree:
        raise ProtectionError(
            "secret sums add up over a spanning tree, and none is allowed; use affine masks, or quadratic "
            "masks for quadratic costs, which agree by gossip."
        )
    if privacy is None:
        if protect is None:
            return None
        if not tree:
            masks = "affine masks" if protect == "affine" else "quadratic masks, for quadratic costs"
            raise ProtectionError(f"protect = {protect!r} without a tree needs masks with a sigma: {masks}.")
        return SumMasks()
    if problem.stack.outside and not drawn_afresh(privacy):
        raise ProtectionError(
            f"{MASKS[privacy.kind]} are for records in memory; those that stay in a file or a database are added "
            "up by secret sums."
        )
    coverage = privacy.coverage(problem.stack)
    if protect is not None and not coverage.hides(protect):
        asked = "whole costs" if protect == "whole" else "affine parts"
        raise ProtectionError(
            f"{MASKS[privacy.kind]} hide {coverage}; {asked} were asked for: use "
            f"{_remedy(problem, coverage, protect)}."
        )
    return privacy


SMOOTHER = "a smooth cost in its place, such as Huber's, and secret sums"


def fits_sums(cost: Family | CostStack) -> bool:
    """Tell whether secret sums can carry *cost*: by its penalties, or unknown by unknown by its slopes."""
    return cost.adds_up or (cost.separable and cost.has_slopes)


def _remedy(problem: Problem, coverage: Coverage, protect: Protection) -> str:
    """Return masks that do hide what was asked for."""
    if not fits_sums(problem.stack):
        return SMOOTHER
    others: dict[str, Coverage] = {}
    if coverage.kind != "affine":
        others[MASKS["affine"]] = Linear().coverage(problem.stack)
    if coverage.kind != "quadratic" and Quadratics().covers(problem.stack):
        others[MASKS["quadratic"]] = Quadratics().coverage(problem.stack)
    return ", or ".join([MASKS["sums"], *(name for name, other in others.items() if other.hides(protect))])
