"""What an attack believes.

The secret of an agent is its gradient at a public point, which is all that affine masks hide (with known curved
parts that is the affine coefficient itself); where masks hide whole quadratic costs, the curvature is behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array

About = Literal[
    "gradients",  # at the public point; behind the curvature there, where masks hide whole quadratic costs
    "curvatures",  # row by row
    "constants",  # gᵀP⁻¹g, which a cost's constant tells
    "values",  # labels as real numbers; not a number where one does not follow
    "records",  # of all honest agents together, one a row: nobody can tell who holds which
    "labels",  # of an agent's records, one after the other; not a number behind the last, where others have more
]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Beliefs about agents: one row each, and how sure the attacker is of it."""

    agents: NDArray[Any]
    values: Array
    """(k, p)."""
    deviations: Array
    """The standard deviation of a belief, as the attacker itself computes it; 0 for what is certain, (k,)."""
    says: str = ""
    """How it was found, in a few words."""
    about: About = "gradients"
    """What the values are."""

    def of(self, agent: int) -> tuple[Array, float] | None:
        """Return the belief about one agent, and its deviation."""
        rows = np.flatnonzero(self.agents == agent)
        return (self.values[rows[0]], float(self.deviations[rows[0]])) if len(rows) else None


class Attack(Protocol):
    """Frozen settings, and a pure function of a view and public knowledge."""

    @property
    def name(self) -> str:
        """Return what the attack is called in reports."""

    def misses(self, view: View, public: Public) -> str | None:
        """Return why there is nothing to attack here, in a few words; None if there is."""

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return what the attacker believes."""


def nothing(width: int, *, about: About = "gradients") -> Estimate:
    """Return an estimate of nobody."""
    nobody = np.empty(0, dtype=np.intp)
    return Estimate(agents=nobody, values=np.empty((0, width)), deviations=np.empty(0), about=about)


def of_each(values: Mapping[int, Array], *, about: About, says: str = "") -> Estimate:
    """Return what is certain about some agents, of whom some have more numbers than others."""
    width = max((len(each) for each in values.values()), default=0)
    if not values:
        return nothing(width, about=about)
    rows = [np.pad(each, (0, width - len(each)), constant_values=np.nan) for each in values.values()]
    return Estimate(
        agents=np.array(list(values), dtype=np.intp), values=np.stack(rows), deviations=np.zeros(len(rows)),
        says=says, about=about,
    )  # fmt: skip
