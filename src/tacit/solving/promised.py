"""A run whose answer is differentially private: clipped costs, an algorithm that fits, and what it guarantees.

| masks             | costs                    | algorithm           | what is protected, against t who collude |
|-------------------|--------------------------|---------------------|------------------------------------------|
| `SumMasks`        | least squares            | direct, one sum     | records                                  |
| `SumMasks`        | logistic                 | newton, 2 + K sums  | records                                  |
| `QuadraticMasks`  | least squares            | direct, one sum     | records                                  |
| `AffineMasks`     | least squares, logistic  | any that gossips    | labels; features are open                |

Everything else is refused, with the reason. Nothing here, and nothing after it, looks at the value of a record but
to clip it: no refusal, no warning, no count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from tacit.algorithms import AnyAlgorithm, NoisyDirect, NoisyNewton
from tacit.costs.sensitivity import RecordLimits, Sensitivity
from tacit.differential import DifferentialPrivacy, Sharing, share_out
from tacit.differential.certifying import guarantee_of
from tacit.differential.guarantee import AnswerGuarantee, Unit
from tacit.errors import InputError, ProtectionError
from tacit.masks import Mechanism, drawn_afresh, drawn_once, is_computational, limits_of
from tacit.network import Network
from tacit.solving.choice import Choice, choose
from tacit.solving.problem import Problem
from tacit.solving.public import for_public


class Arranged(NamedTuple):
    """How a run keeps a promise, by public numbers alone: the same at every agent."""

    choice: Choice
    guarantee: AnswerGuarantee
    sharing: Sharing


class Promised(NamedTuple):
    """The clipped problem, how it is solved, and what holds of the answer."""

    problem: Problem
    choice: Choice
    guarantee: AnswerGuarantee


def promised(
    problem: Problem,
    privacy: Mechanism,
    promise: DifferentialPrivacy,
    algorithm: str | AnyAlgorithm,
    *,
    weights: str | None,
    tree: bool,
) -> Promised:
    """Return the run that keeps *promise*; refuse what no theorem covers."""
    promise.refuse_few(len(problem.network))
    limits = limits_of(promise)
    sensitivity = _of_all(problem, limits)
    clipped = Problem(problem.network, [cost.clipped(limits) for cost in problem.costs], x0=problem.x0)

    def gossip() -> Choice:
        return choose(clipped, algorithm, weights=weights, privacy=privacy, tree=tree)

    choice, guarantee, sharing = arranged(
        problem.network, privacy, promise, sensitivity, algorithm, tree=tree, gossip=gossip
    )
    if privacy.kind == "affine":
        try:
            public = for_public(clipped, sensitivity, sharing, promise)
        except ProtectionError as error:
            return Promised(clipped, choice, msgspec.structs.replace(guarantee, not_public=str(error)))
        guarantee = msgspec.structs.replace(guarantee, public=public)
    return Promised(clipped, choice, guarantee)


def arranged(
    network: Network,
    privacy: Mechanism,
    promise: DifferentialPrivacy,
    sensitivity: Sensitivity,
    algorithm: str | AnyAlgorithm,
    *,
    tree: bool,
    gossip: Callable[[], Choice],
) -> Arranged:
    """Return the algorithm that keeps *promise*, and what holds then; *gossip* chooses one for affine masks."""
    promise.refuse_few(len(network))
    if drawn_afresh(privacy):
        sharing = share_out(network, promise)
        choice = _by_noisy_sums(algorithm, sensitivity, sharing, promise, tree=tree)
        return Arranged(choice, guaranteed(promise, sharing, "record", privacy), sharing)
    if not drawn_once(privacy) or privacy.kind not in ("affine", "quadratic"):
        raise ProtectionError(
            "answer goes with secret sums, affine masks and quadratic masks: no others have shares."
        )
    moved = sensitivity.label if privacy.kind == "affine" else sensitivity.whole
    sharing = share_out(network, promise, sigma=privacy.sigma / moved)
    if privacy.kind == "affine":
        return Arranged(gossip(), guaranteed(promise, sharing, "label", privacy), sharing)
    if not (sensitivity.quadratic and tree and algorithm in ("auto", "direct")):
        raise ProtectionError(
            "quadratic masks with answer take least squares, a spanning tree and 'direct', which mends a curvature "
            "that noise has bent; other algorithms may run away on it."
        )
    half = sensitivity.whole / 2.0**0.5  # the noise is as wide in slopes as in bends
    return Arranged(
        Choice(NoisyDirect(slope=half, bend=half, noise=sharing.noise), "metropolis", _ONE_SUM),
        guaranteed(promise, sharing, "record", privacy),
        sharing,
    )


_ONE_SUM = "least squares: one noisy sum of statistics says all"


def _of_all(problem: Problem, limits: RecordLimits) -> Sensitivity:
    """Return the sensitivity that all costs have; refuse costs of different families."""
    bounds = {cost.sensitivity(limits) for cost in problem.costs}
    if len(bounds) > 1:
        raise InputError("agents have costs of different families; a promise about the answer is made for one.")
    return bounds.pop()


def _by_noisy_sums(
    algorithm: str | AnyAlgorithm,
    sensitivity: Sensitivity,
    sharing: Sharing,
    promise: DifferentialPrivacy,
    *,
    tree: bool,
) -> Choice:
    fits = "direct" if sensitivity.quadratic else "newton"
    if algorithm not in ("auto", fits) or not tree:
        raise ProtectionError(
            f"secret sums with answer solve these costs by {fits!r}, over a spanning tree: its sums are counted "
            "beforehand, and what one record does to each is bounded."
        )
    slope, bend, noise = sensitivity.slope, sensitivity.bend, sharing.noise
    if sensitivity.quadratic:
        return Choice(NoisyDirect(slope=slope, bend=bend, noise=noise), "metropolis", _ONE_SUM)
    newton = NoisyNewton(slope=slope, bend=bend, noise=noise, gradients=promise.sums)
    return Choice(newton, "metropolis", f"two noisy sums of Hessians, and {promise.sums} of gradients")


def guaranteed(promise: DifferentialPrivacy, sharing: Sharing, unit: Unit, privacy: Mechanism) -> AnswerGuarantee:
    """Return what *sharing* keeps of *promise*."""
    return guarantee_of(promise, sharing, unit, computational=is_computational(privacy.pairing))
