"""What a coalition recovers of the others: every attack of the audit, and three numbers that compare.

    recovered   agents whose gradient the best belief hits to 1 % of the spread
    error       of the best beliefs, in units of the spread: 0 is read, 1 is no better than guessing the mean
    guess       pairs of agents that are told apart: which of two gradients is whose?

The spread is how far the honest agents' gradients at the public point lie from their mean. The pairs are the worlds
of the paper's Definition 1: two agents trade their gradients, and the sum stays. Blind guesses are right for half
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np

from tacit.auditing import ATTACKS, Estimate
from tacit.auditing.attacks.rehearsal import Opaque
from tacit.baselines import Overhearing
from tacit.typing import Array

_HIT = 0.01  # of the spread


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """What one coalition has, over all runs that it listened to."""

    coalition: list[str]
    honest: int
    """How many agents there are to be recovered."""
    recovered: int | None
    """Of them, in the first run; None where there is nobody to attack."""
    error: float | None
    """Median over the agents of whom there is a belief; None where there is none."""
    guess: float | None
    """The share of pairs told apart, over all runs; None where there is no pair."""
    pairs: int
    """How many."""
    attack: str | None
    """The one that believes most, in the first run."""
    besides: list[str]
    """What other attacks read, beside gradients."""
    promise: str = ""
    """What is guaranteed against this coalition, in words."""


def recover(overheard: Sequence[Overhearing], names: Sequence[str], promise: str = "") -> Recovery:
    """Attack every run, and add up."""
    first = overheard[0]
    honest = first.public.honest(first.view.coalition)
    right = pairs = 0.0
    errors: list[float] = []
    hits = None
    attack: str | None = None
    for k, each in enumerate(overheard):
        beliefs, by = _beliefs(each)
        spread = _spread(each.gradients[honest])
        away = {i: float(np.linalg.norm(value - each.gradients[i])) / spread for i, value in beliefs.items()}
        errors += [min(value, 1e30) for value in away.values()]
        if k == 0:
            hits, attack = sum(value <= _HIT for value in away.values()), by
        told_apart, tried = _told_apart(beliefs, each.gradients, honest.tolist())
        right, pairs = right + told_apart, pairs + tried
    return Recovery(
        coalition=[names[i] for i in first.view.coalition.tolist()],
        honest=len(honest),
        recovered=hits,
        error=float(np.median(errors)) if errors else None,
        guess=right / pairs if pairs else None,
        pairs=int(pairs),
        attack=attack,
        besides=_besides(first),
        promise=promise,
    )


def _beliefs(heard: Overhearing) -> tuple[dict[int, Array], str | None]:
    """Return the surest belief about every agent's gradient, and which attack has most of them."""
    m = heard.public.unknowns
    surest: dict[int, tuple[float, Array, str]] = {}
    for name, estimate in _estimates(heard):
        if estimate.about != "gradients":
            continue
        for agent, value, deviation in zip(estimate.agents, estimate.values, estimate.deviations, strict=True):
            known = surest.get(int(agent))
            if np.isfinite(value).all() and (known is None or deviation < known[0]):
                surest[int(agent)] = (float(deviation), value[-m:], name)
    by = [name for _, _, name in surest.values()]
    return {i: value for i, (_, value, _) in surest.items()}, max(set(by), key=by.count, default=None)


def _estimates(heard: Overhearing) -> list[tuple[str, Estimate]]:
    estimates = []
    for attack in ATTACKS:
        if attack.misses(heard.view, heard.public) is None:
            try:
                estimates.append((attack.name, attack(heard.view, heard.public)))
            except Opaque:  # messages that the algorithm without its noise cannot have sent
                continue
    return estimates


def _besides(heard: Overhearing) -> list[str]:
    """Return what was read beside gradients, in words."""
    read = []
    for _, estimate in _estimates(heard):
        if estimate.about not in ("gradients", "constants") and len(estimate.agents):
            read.append(f"{estimate.about} of {len(estimate.agents)}")
    return list(dict.fromkeys(read))


def _spread(gradients: Array) -> float:
    away = np.linalg.norm(gradients - gradients.mean(axis=0), axis=1)
    return float(np.sqrt(np.mean(away**2))) or 1.0


def _told_apart(beliefs: dict[int, Array], gradients: Array, honest: Sequence[int]) -> tuple[float, int]:
    """Return how many pairs of different gradients are told apart, and how many there are; no belief is a coin."""
    right, pairs = 0.0, 0
    for i, j in combinations(honest, 2):
        if np.array_equal(gradients[i], gradients[j]):
            continue
        pairs += 1
        if i not in beliefs or j not in beliefs:
            right += 0.5
            continue
        score = float((beliefs[i] - beliefs[j]) @ (gradients[i] - gradients[j]))
        right += 0.5 if score == 0 else float(score > 0)
    return right, pairs
