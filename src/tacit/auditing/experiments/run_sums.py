"""Every sum of a recorded run: what each honest agent put in must be uniform words, from the first sum to the last.

    w_i = k_i + a_i − known       uniform, and independent but for Σ w_i over a component of the honest graph
    s   = |w| / 2⁶³               max over k words of s: P(max ≤ t) = t^k

A number in clear is a word near 0, whatever it means: so are all numbers of a sum without masks, of one agent, and
the differences of two sums under the same masks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.auditing import statistics
from tacit.auditing.attacks.modular import minus, parts, plus
from tacit.auditing.judging.verdict import Verdict, judge_statistics, skipped
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange, View
from tacit.auditing.statistics import Statistic
from tacit.auditing.statistics.repeats import pairs_of
from tacit.auditing.statistics.statistic import worst_of
from tacit.typing import Array, Words

_ATTACK = "every sum of the run"
_ENOUGH = 200  # words whose bits are counted


def every_sum(view: View, public: Public) -> Verdict:
    """Look at the words of every sum of a run under secret sums, with known masks taken off."""
    published = [] if view.published is None else view.published.words
    if not published:
        return skipped(_ATTACK, "masked words are published where all agents are simulated at once")
    pieces = public.components(view.coalition)
    free = np.concatenate([piece[:-1] for piece in pieces])  # the last follows from the sum
    if not len(free):
        return skipped(_ATTACK, "no two honest agents are linked")
    sums, open_sums, numbers = [], 0, 0
    for place, masks in enumerate(_masks_by_sum(view)):
        if masks is None:
            numbers += 1
            continue
        if place - numbers >= len(published):
            break
        words = published[place - numbers]
        known = _known(masks, public, words.shape[1])
        open_sums += known is None
        sums.append(minus(words, known, public.words)[free] if known is not None else words[free])
    says = f"{open_sums} of {len(sums)} sums went without masks, and {numbers} as numbers"
    seen = [Statistic(0.0 if open_sums or numbers else 1.0, "beaten", says, certain=True)]
    high = [parts(each, public.words)[-1] for each in sums]
    seen += _near_zero(high, "words of the run")
    again: dict[int, Words] = {}
    apart = []
    for each in sums:
        if each.shape[1] in again:
            apart.append(parts(minus(each, again[each.shape[1]], public.words), public.words)[-1])
        again[each.shape[1]] = each
    seen += _near_zero(apart, "differences of two sums")
    every = np.concatenate([each.ravel() for each in sums]) if sums else np.empty(0, dtype=np.uint64)
    if every.size >= _ENOUGH:
        seen += statistics.uniform(every[None], "in the run")
    seen.append(statistics.repeats(every, pairs_of(every.size, 64), "words come twice"))
    return judge_statistics(_ATTACK, seen, says=f"{every.size} words of {len(sums)} sums are uniform")


def _near_zero(sums: Sequence[Words], what: str) -> list[Statistic]:
    """Look at the largest word of every sum, of every agent in a sum, and at the smallest of all."""
    if not sums:
        return []
    sizes = [_size(each) for each in sums]
    whole = min(float(each.max()) ** each.size for each in sizes)
    rows = [each.max(axis=1) ** each.shape[1] for each in sizes]
    least = min(float(each.min()) for each in sizes)
    return [
        Statistic(worst_of(whole, len(sizes)), "beaten", f"all {what} are near 0 in a sum"),
        Statistic(
            worst_of(min(float(each.min()) for each in rows), sum(map(len, rows))),
            "beaten",
            f"all {what} are near 0 at an agent",
        ),
        Statistic(worst_of(least, sum(each.size for each in sizes)), "beaten", f"one of the {what} is near 0"),
    ]


def _size(words: Words) -> Array:
    return np.asarray(np.minimum(words, ~words + np.uint64(1)) * 2.0**-63, dtype=np.float64)


def _masks_by_sum(view: View) -> list[list[Exchange] | None]:
    """Return where members came to know the masks of every sum; None for a sum of plain numbers."""
    masks: list[list[Exchange] | None] = []
    now: list[Exchange] = []
    for exchange in view.exchanges:
        if exchange.kind == "up":
            masks.append(now if exchange.values.dtype.kind == "u" else None)
            now = []
        elif exchange.kind in ("swap", "drawn", "more"):
            now.append(exchange)
    return masks


def _known(masks: Sequence[Exchange], public: Public, width: int) -> Words | None:
    """Return the masks of one sum that the coalition knows, for every agent; None where not every word has one."""
    if not masks or sum(each.values.shape[1] for each in masks) != width:
        return None
    known = np.zeros((public.agents, width), dtype=np.uint64)
    start = 0
    for each in masks:
        wide = slice(start, start + each.values.shape[1])
        for i, j, values in zip(each.senders, each.receivers, each.values, strict=True):
            known[j, wide] = plus(known[j, wide], values, public.words)
            known[i, wide] = minus(known[i, wide], values, public.words)
        start = wide.stop
    return known
