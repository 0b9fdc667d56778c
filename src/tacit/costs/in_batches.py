"""Costs of records that do not fit in memory: every evaluation is one pass over them.

    h(x) = Σ_b h_b(x) + ½ Σ_k l2_k x_k²        b: some thousand records at a time, in memory one after the other

A pass finds φ, ∇φ and ∇²φ at x together, and is kept: Newton's method asks for all three, and reads the records
once a round. The first pass is that at zero, and finds α, the number of records and the columns that are not zero.
Least squares need one pass in all: what is left of it is a triangular factor, and an ordinary cost.

Algorithms that gossip would read all records in every one of thousands of rounds, and are refused.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from tacit.costs.columns import Units
from tacit.costs.family import Curvature, Family
from tacit.costs.passes import Passes, RowBatch
from tacit.costs.secrets import Secrets
from tacit.typing import Array

_KEPT = 3  # evaluations at different points that are kept
_FIRST = 64  # records of a batch that nearly always show that a column is not zero


class InBatches(Family):
    """The cost *kind*, whose own records do not matter, of all records of *passes*, and its penalty."""

    outside = True
    factored = True

    def __init__(self, kind: Family, passes: Passes) -> None:
        self.kind, self.passes = kind, passes
        self.l2: Array = kind.l2  # type: ignore[attr-defined]  # every cost of rows has one
        self.units: tuple[Units, ...] = ()
        self.affine_part = kind.affine_part
        self._many = False
        self._known: dict[bytes, Array] = {}
        self._open()

    def _open(self) -> None:
        """Go through all records once, at zero."""
        m = self.kind.dim

        def part(rows: RowBatch) -> Array:
            cost = self._part(rows)
            A, first = rows.A, np.asarray(rows.A[:_FIRST].any(axis=0))
            if not first.all():
                here = A if rows.weight is None else A[rows.weight > 0]
                first[~first] = here[:, ~first].any(axis=0)
            count = len(A) if rows.weight is None else np.count_nonzero(rows.weight)
            return np.concatenate([cost.look(np.zeros(m)), cost.affine, [float(cost.lowest), count], first])

        total = self.passes.added_up(part)
        size = 1 + m + m * m
        look, affine, (lowest, records), held = np.split(total, [size, size + m, size + m + 2])
        self._known[np.zeros(m).tobytes()] = look
        self.affine, self._lowest, self.records = affine, np.asarray(lowest), round(float(records))
        self._held = np.asarray(held > 0)

    def _part(self, rows: RowBatch) -> Family:
        return self.kind.of_rows(self._turned(rows.A), rows.y, rows.weight, rows.offset)

    def _turned(self, A: Array) -> Array:
        for units in self.units:
            A = _in_units(A, units)
        return A

    def _look(self, x: Array) -> tuple[Array, Array, Array]:
        """Return φ, ∇φ and ∇²φ at x with the penalty, by a pass unless it is known."""
        m = self.kind.dim
        x = np.asarray(x, dtype=np.float64).reshape(-1, m)
        if len(x) > 1:
            raise ValueError("records in batches are evaluated at one point at a time.")
        point = x[0]
        key = point.tobytes()
        if key not in self._known:
            summed = self.passes.added_up(lambda rows: self._part(rows).look(point, last=True))
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = summed
        look = self._known[key]
        value, grad, hess = look[0], look[1 : m + 1], look[m + 1 :].reshape(m, m)
        value = np.asarray(value + 0.5 * (self.l2 * point**2).sum())
        return value, grad + self.l2 * point, hess + np.diag(self.l2)

    def _shaped(self, array: Array) -> Array:
        """Return an agent's array with the agent axis, where this is a stack of one."""
        return array[None] if self._many else array

    def curved_value(self, x: Array) -> Array:
        """Return φ(x)."""
        return self._shaped(self._look(x)[0])

    def curved_grad(self, x: Array) -> Array:
        """Return ∇φ(x)."""
        return self._shaped(self._look(x)[1])

    def curved_hess(self, x: Array) -> Array:
        """Return ∇²φ(x)."""
        return self._shaped(self._look(x)[2])

    def _along(self, x: Array, B: Array) -> tuple[Array, Array]:
        """Return Bᵀ∇h and Bᵀ∇²hB, with the rows along B multiplied out before they are squared."""
        point, q = np.asarray(x).reshape(-1), B.shape[1]
        key = point.tobytes() + B.tobytes()
        if key not in self._known:

            def part(rows: RowBatch) -> Array:
                cost = self._part(rows)
                slope = cost.grad_along(point, B) - cost.affine @ B
                return np.concatenate([slope, cost.hess_along(point, B).ravel()])

            summed = self.passes.added_up(part)
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = summed
        both = self._known[key]
        affine = self.affine.reshape(-1)
        grad = both[:q] + (self.l2 * point + affine) @ B
        return grad, both[q:].reshape(q, q) + B.T @ (self.l2[:, None] * B)

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ(∇φ(x) + α)."""
        return self._shaped(self._along(x, B)[0])

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇²φ(x)B."""
        return self._shaped(self._along(x, B)[1])

    @property
    def smoothness(self) -> Array:
        """Infinite: to know it would take all records, and nobody who adds up asks for it."""
        return self._shaped(np.asarray(np.inf))

    @property
    def strong_convexity(self) -> Array:
        """The smallest penalty: the rows alone promise nothing."""
        return self._shaped(np.asarray(self.l2.min()))

    def total_curvature(self) -> Curvature:
        """Between the penalty alone and what nobody has asked."""
        below = np.diag(self.l2)
        return Curvature(below=below, above=below + np.inf)

    @property
    def held(self) -> Array | None:
        """Tell of every column whether a record here is not zero in it."""
        return np.asarray(self._held)

    def column_sums(self) -> Array:
        """Return Σ a_k of every column but the last, which is an intercept: a pass."""
        return self._shaped(self.passes.added_up(lambda rows: (A := self._turned(rows.A))[:, :-1].T @ A[:, -1]))

    def columns_held(self, columns: int) -> Array:
        """Return 1 for each of so many columns that is not zero in all records here, and 0 for the others."""
        return self._shaped(self._held[:columns].astype(np.float64))

    def column_squares(self, centre: Array) -> Array:
        """Return Σ (a_k − c_k)² of as many columns as there are centres: a pass."""
        p = len(centre)

        def part(rows: RowBatch) -> Array:
            A = self._turned(rows.A)
            about = A[:, :p] - np.multiply.outer(A[:, -1], centre) if p < A.shape[1] else A
            return np.asarray((about**2).sum(axis=0))

        return self._shaped(self.passes.added_up(part))

    def in_units(self, units: Units) -> Self:
        """Return the same cost as a function of u: every batch is turned as it is read."""
        centre, scale = units
        p, turned = len(scale), copy.copy(self)
        affine, l2 = self.affine.copy(), self.l2.copy()
        if p < len(l2):
            affine[..., :p] -= centre * affine[..., -1:]
        affine[..., :p] /= scale
        l2[:p] /= scale**2
        turned.units, turned.affine, turned.l2, turned._known = (*self.units, units), affine, l2, {}
        return turned

    @property
    def secrets(self) -> Secrets | None:
        """Those of the kind, of as many records as there are."""
        secrets = self.kind.secrets
        return None if secrets is None else replace(secrets, records=self.records, penalty=self.l2)

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return a stack of one: records outside of memory are gone through agent by agent."""
        (member,) = members
        together = copy.copy(member)
        together._many = True
        together.affine, together._lowest = member.affine[None], member.lowest[None]
        if member.facts.size:
            together.facts = member.facts[None]
        return together

    def stacking_key(self) -> tuple[Any, ...]:
        """Return a key of its own."""
        return (*super().stacking_key(), id(self))


def _in_units(A: Array, units: Units) -> Array:
    """Return the columns in other units; those after the last scale, an intercept, stay."""
    columns, p = np.array(A.T), len(units.scale)
    if p < len(columns):
        columns[:p] -= units.centre[:, None] * columns[-1]
    columns[:p] /= units.scale[:, None]
    return columns.T
