"""Attacks on secret sums: words modulo 2⁶⁴, of which nothing but sums over components may be left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import kstest

from tacit.audit.attacks.tree_sums import TreeSums
from tacit.audit.release import Keys, release
from tacit.audit.verdict import RISK, Verdict
from tacit.masks import SumMasks
from tacit.network import Network
from tacit.typing import Words

_COLUMNS = 2000


def attack_words(
    masks: SumMasks, network: Network, coalition: Sequence[int], *, keys: Keys, rng: np.random.Generator
) -> list[Verdict]:
    """Return the verdicts on sums over components, on single words, and on two sums of the same numbers."""
    if masks.words > 1:
        return []
    numbers = 0.5 * masks.bound * rng.uniform(-1.0, 1.0, (len(network), _COLUMNS))
    first, second = (release(masks, network, numbers, coalition, keys=keys) for _ in range(2))
    honest, z = TreeSums().contributions(first.views[0], first.public)
    _, other = TreeSums().contributions(second.views[0], second.public)
    words, again = np.asarray(z, dtype=np.uint64), np.asarray(other, dtype=np.uint64)
    whole = np.rint(numbers[honest] / first.public.step).astype(np.int64).view(np.uint64)
    pieces = [np.isin(honest, piece) for piece in first.public.components(first.views[0].coalition)]
    off = [int((words[piece].sum(axis=0) != whole[piece].sum(axis=0)).sum()) for piece in pieces]
    exact = Verdict(
        attack="component sums",
        status="weak" if any(off) else "open",
        says=f"{len(pieces)} sum(s), as the certificate says" if not any(off) else "masks do not cancel",
        measured=float(sum(off)),
        predicted=0.0,
    )
    # of n words with a known sum all but one are independent
    free = np.concatenate([np.flatnonzero(piece)[:-1] for piece in pieces])
    if not len(free):
        return [exact]
    return [
        exact,
        _uniform("uniform words", words[free] - whole[free]),
        _uniform("two sums", words[free] - again[free]),
    ]


def _uniform(attack: str, words: Words) -> Verdict:
    chance = float(kstest(words.ravel() * 2.0**-64, "uniform").pvalue)
    low = float(kstest((words.ravel() & np.uint64(0xFFFF)) * 2.0**-16, "uniform").pvalue)
    status = "beaten" if min(chance, low) < RISK / 2 else "within"
    says = (
        f"{words.size} words are {'' if status == 'within' else 'not '}uniform, above (p = {chance:.2g}) and below"
    )
    return Verdict(
        attack=attack, status=status, measured=min(chance, low), low=RISK / 2, says=f"{says} ({low:.2g})"
    )
