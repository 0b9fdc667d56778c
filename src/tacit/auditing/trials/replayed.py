"""Phase 2 is a function of the effective costs: every message of it follows from them.

The theorem concedes all effective costs, so phase 2 may say whatever can be worked out from those, and nothing
else. The shipped algorithm runs once more on the effective costs that were recorded, as if they were anybody's
costs, and must send the same messages, number by number, in every exchange. That holds for every family of costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.auditing.judging.verdict import Verdict
from tacit.auditing.knowledge.view import Exchange, View
from tacit.auditing.recording.watch import watch_again
from tacit.runtimes import Job

_KINDS = ("mix", "gather", "up", "down")
_APART = 1e-7  # agents apart add up in another order


def replay(job: Job, view: View, effective: Any, coalition: Sequence[int], *, exactly: bool) -> Verdict:
    """Judge whether all that members heard in phase 2 follows from the effective costs; *exactly*: bit for bit."""
    again = watch_again(job, coalition, effective)
    sent, must = view.only(*_KINDS), again.only(*_KINDS)
    if len(sent) != len(must):
        says = f"{len(sent)} exchanges were heard, and the effective costs explain {len(must)}"
        return Verdict(attack="phase 2 replayed", status="weak", says=says)
    differences = [_distance(one, other) for one, other in zip(sent, must, strict=True)]
    worst = max(differences, default=0.0)
    if worst > (0.0 if exactly else _APART):
        first = next(k for k, each in enumerate(differences) if each > (0.0 if exactly else _APART))
        says = f"exchange {first + 1} says what does not follow from the effective costs"
        return Verdict(attack="phase 2 replayed", status="beaten", says=says, measured=worst, predicted=0.0)
    says = f"all that was heard in {len(sent)} exchanges follows from the effective costs"
    return Verdict(attack="phase 2 replayed", status="within", says=says, measured=worst, predicted=0.0)


def _distance(one: Exchange, other: Exchange) -> float:
    """Return the largest difference between two exchanges, as a share of the largest number; ∞ for other rows."""
    if one.kind != other.kind or one.values.shape != other.values.shape:
        return np.inf
    order, again = (np.lexsort((each.receivers, each.senders)) for each in (one, other))
    if not np.array_equal(one.senders[order], other.senders[again]):
        return np.inf
    a, b = one.values[order], other.values[again]
    return (
        0.0
        if np.array_equal(a, b, equal_nan=True)
        else float(np.abs(a - b).max() / max(float(np.abs(b).max()), 1e-300))
    )
