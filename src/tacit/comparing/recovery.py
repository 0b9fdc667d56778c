"""What a coalition recovers of the others: every attack of the audit, and three numbers that compare.

    recovered   agents whose gradient the best belief hits to 1 % of the spread
    error       of the best beliefs, in units of the spread: 0 is read, 1 is no better than guessing the mean
    guess       pairs of agents that are told apart, of those with a belief: which of two gradients is whose?

The spread is how far the honest agents' gradients at the public point lie from their mean. The pairs are the worlds
of the paper's Definition 1: two agents trade their gradients, and the sum stays. Blind guesses are right for half
of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec
import numpy as np

from tacit.auditing import Attack, Estimate
from tacit.auditing.attacks.likelihood import MaximumLikelihood
from tacit.auditing.attacks.observability import Observability
from tacit.auditing.attacks.rehearsal import Opaque
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.auditing.trials.runs import AttackResult, attack_run
from tacit.baselines import Overhearing, Pledge
from tacit.typing import Array

_GRADIENTS: tuple[Attack, ...] = (Replay(), Observability(), MaximumLikelihood(), TreeSums())
_HIT = 0.01  # of the spread
_ABSURD = 1e30
NOTHING = Pledge("none", "")


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
    doubt: float | None
    """The standard error of that share, from run to run; None of a single run."""
    attack: str | None
    """The one that believes most, in the first run."""
    besides: list[str]
    """What other attacks read, beside gradients."""
    guarantee: str = "none"
    """What is guaranteed against this coalition, in short."""
    promise: str = ""
    """The same in a sentence; empty where nothing is."""


def recover(overheard: Sequence[Overhearing], names: Sequence[str], pledge: Pledge = NOTHING) -> Recovery:
    """Attack every run, and add up."""
    first = overheard[0]
    honest = first.public.honest(first.view.coalition)
    spread = _spread(first.truth.gradients[honest])
    believed = [_beliefs(each) for each in overheard]
    away = [
        [float(np.linalg.norm(value - each.truth.gradients[i])) / spread for i, value in beliefs.items()]
        for each, (beliefs, _) in zip(overheard, believed, strict=True)
    ]
    shares = [
        share
        for each, (beliefs, _) in zip(overheard, believed, strict=True)
        if (share := _told_apart(beliefs, each.truth.gradients, honest.tolist())) is not None
    ]
    errors = [min(error, _ABSURD) for each in away for error in each]
    return Recovery(
        coalition=[names[i] for i in first.view.coalition.tolist()],
        honest=len(honest),
        recovered=sum(error <= _HIT for error in away[0]),
        error=float(np.median(errors)) if errors else None,
        guess=float(np.mean(shares)) if shares else None,
        doubt=float(np.std(shares, ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else None,
        attack=believed[0][1],
        besides=_besides(first),
        guarantee=pledge.short,
        promise=pledge.sentence,
    )


def _beliefs(heard: Overhearing) -> tuple[dict[int, Array], str | None]:
    """Return the surest belief about every agent's gradient, and which attack has most of them."""
    m = heard.public.unknowns
    surest: dict[int, tuple[float, Array, str]] = {}
    for name, estimate in _estimates(heard):
        for agent, value, deviation in zip(estimate.agents, estimate.values, estimate.deviations, strict=True):
            known = surest.get(int(agent))
            if np.isfinite(value).all() and (known is None or deviation < known[0]):
                surest[int(agent)] = (float(deviation), value[-m:], name)
    by = [name for _, _, name in surest.values()]
    return {i: value for i, (_, value, _) in surest.items()}, max(set(by), key=by.count, default=None)


def _estimates(heard: Overhearing) -> Iterator[tuple[str, Estimate]]:
    for attack in _GRADIENTS:
        if attack.misses(heard.view, heard.public) is None:
            try:
                yield attack.name, attack(heard.view, heard.public)
            except Opaque:  # messages that the algorithm without its noise cannot have sent
                continue


def _besides(heard: Overhearing) -> list[str]:
    """Return what was read beside gradients, and is true."""
    try:
        findings = attack_run(heard.view, heard.public, heard.truth)
    except Opaque:
        return []
    return [
        _in_words(each)
        for each in findings
        if each.estimate is not None
        and each.estimate.about not in ("gradients", "constants")
        and each.verdict.status in ("open", "beaten")
        and len(each.estimate.agents)
    ]


def _in_words(finding: AttackResult) -> str:
    estimate, share = finding.estimate, finding.verdict.measured
    about = "" if estimate is None else f"{estimate.about} of {len(estimate.agents)}"
    right = estimate is not None and estimate.about == "labels" and share is not None
    return f"{about}, {100 * (share or 0.0):.0f} % right" if right else about


def _spread(gradients: Array) -> float:
    away = np.linalg.norm(gradients - gradients.mean(axis=0), axis=1)
    return float(np.sqrt(np.mean(away**2))) or 1.0


def _told_apart(beliefs: dict[int, Array], gradients: Array, honest: Sequence[int]) -> float | None:
    """Return the share of pairs that are told apart, of those with a belief about one of them at least.

    A coin decides where beliefs say nothing; None where there is no pair to tell apart.
    """
    right, pairs = [], 0
    for i, j in combinations(honest, 2):
        if np.array_equal(gradients[i], gradients[j]):
            continue
        pairs += 1
        score = sum(
            float((beliefs[k] - (gradients[i] + gradients[j]) / 2.0) @ (gradients[k] - gradients[other]))
            for k, other in ((i, j), (j, i))
            if k in beliefs
        )
        if i in beliefs or j in beliefs:
            right.append(0.5 if score == 0 else float(score > 0))
    return float(np.mean(right)) if right else 0.5 if pairs else None
