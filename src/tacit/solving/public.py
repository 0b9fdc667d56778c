"""An answer for the public: private for records against whoever sees it and nothing else.

| run                                        | colluding agents | a public who sees the answer only             |
|--------------------------------------------|------------------|-----------------------------------------------|
| affine masks with shares, logistic, ridge  | labels           | records, by `answer.for_public()`; labels     |
| quadratic masks with shares                | records          | records: the answer as it is                  |
| secret sums with shares                    | records          | records: the answer as it is                  |
| one noise, and exact sums of gradients     | nothing          | refused: agents on the way take the noise off |
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.costs.sensitivity import Sensitivity
from tacit.differential import DifferentialPrivacy, PublicGuarantee, Sharing
from tacit.differential.objective import PerturbedObjective
from tacit.differential.public import public_guarantee
from tacit.errors import InputError, ProtectionError
from tacit.masks import Keystream, agent_keys
from tacit.masks.shares import discrete_gaussian
from tacit.showing import Readable
from tacit.solving.problem import Problem
from tacit.solving.record import vector
from tacit.typing import Array

WITHIN = 1e-7
_STEPS = 24  # bits of the noise on what is published


class PublicAnswer(NamedTuple):
    """What may be published, and what holds of it."""

    x: Array
    guarantee: PublicGuarantee

    def __str__(self) -> str:
        return f"x = {vector(self.x.tolist())}.\n{self.guarantee.headline()}"

    def _repr_html_(self) -> str:
        return Readable._repr_html_(self)  # type: ignore[arg-type]


def for_public(
    problem: Problem, sensitivity: Sensitivity, sharing: Sharing, promise: DifferentialPrivacy
) -> PublicGuarantee:
    """Return what affine masks with shares promise a public who sees the answer only; refuse with the reason."""
    if sensitivity.response is None:
        raise ProtectionError(
            "slopes of these costs grow with their scores, so that no noise in the objective bounds what one "
            "record does to the answer; use secret sums or quadratic masks, whose answer is private for records "
            "as it is."
        )
    ridge = len(problem.network) * problem.least_curvature
    if not ridge > 0.0:
        raise ProtectionError(
            "there is no public ridge on every unknown, an intercept included: without one a single record can "
            "bend the answer as far as it likes; give every agent an l2, and a column of ones for an intercept."
        )
    reach = 1.0 / (sharing.share * math.sqrt(sharing.agents - sharing.any))
    profile = PerturbedObjective(reach, sensitivity.bend / ridge, sensitivity.response)
    return public_guarantee(profile, delta=promise.delta, ridge=ridge, any=sharing.any)


def published(x: Array, guarantee: PublicGuarantee, *, within: float, error: float, lattice: float) -> PublicAnswer:
    """Return *x* with the noise that hides its last digits.

    *within* is a public limit on its distance from the minimiser, *error* the distance that the run estimates, and
    *lattice* how far the rounding of shares can move it.
    """
    if not (math.isfinite(within) and within > 0.0):
        raise InputError(f"within = {within} must be a positive number: how near to the minimiser the run comes.")
    if not error + lattice <= within:
        raise ProtectionError(
            f"the run may be farther than within = {within:g} from the minimiser, and its last digits would tell "
            "more than is promised; solve with a smaller tolerance, or publish with a larger within."
        )
    step = math.ldexp(1.0, math.floor(math.log2(guarantee.smoothing * within)) - _STEPS)
    deviation = math.ceil(guarantee.smoothing * (within / step + math.sqrt(len(x))))
    noise = discrete_gaussian(Keystream(agent_keys(1)[0]), len(x), deviation)
    return PublicAnswer(np.asarray((np.rint(x / step) + noise) * step), guarantee)
