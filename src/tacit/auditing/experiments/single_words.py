"""Every single mask of secret sums: its law, its bits, and what it has to do with all others and with secrets.

Nothing is assumed about the coalition: all terms of all links, in two runs of two long sums, one of them made piece
by piece, in one of many short sums and one of very many, are looked at as they were exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.auditing import statistics
from tacit.auditing.experiments import jointly
from tacit.auditing.experiments.terms import TermNumbers, Uniform, uniform
from tacit.auditing.judging.verdict import Verdict, judge_statistics
from tacit.auditing.recording.release import Keys
from tacit.auditing.statistics import Statistic
from tacit.auditing.statistics.repeats import multiples, pairs_of, ratios, turned
from tacit.masks import Afresh
from tacit.network import Network
from tacit.typing import Array, Words

_COLUMNS, _NUMBERS = 2000, 3_000_000
_SUMS, _SHORT = 96, 4
_VERY_MANY, _SHORTEST = 600, 2
_PLACES = 400  # of all links, looked at from sum to sum
_KEYS = 100_000
_RATIOS, _FARTHEST = 16, 64


class Drawn(NamedTuple):
    """The terms of four runs."""

    first: Uniform
    """Two sums."""
    second: Uniform
    """The same two sums, in another run, made piece by piece."""
    many: Uniform
    """Many sums of a few numbers."""
    long: Uniform
    """Very many sums of two numbers."""


def draw_words(masks: Afresh, network: Network, *, keys: Keys, rng: np.random.Generator) -> Drawn:
    """Run four times."""
    columns = min(_COLUMNS, max(300, _NUMBERS // (8 * len(network.links) * masks.words)))
    shapes = (2, columns), (_SUMS, _SHORT), (_VERY_MANY, _SHORTEST)
    two, many, very_many = (_numbers(masks, network, *shape, rng) for shape in shapes)
    return Drawn(
        uniform(masks, network, two, keys=keys),
        uniform(masks, network, two, keys=keys, pieces=True),
        uniform(masks, network, many, keys=keys),
        uniform(masks, network, very_many, keys=keys),
    )


def attack_single_words(drawn: Drawn, rng: np.random.Generator) -> list[Verdict]:
    """Return the verdicts."""
    return [attack(drawn, rng) for attack in SINGLE_WORDS.values()]


def folded(drawn: Drawn, rng: np.random.Generator) -> Verdict:
    """Masked words are words and terms, to the last bit."""
    wrong = sum(each.misfit for each in drawn)
    return Verdict(
        attack="masks folded in", status="beaten" if wrong else "within", measured=float(wrong), predicted=0.0,
        says=f"{wrong} words are not number and masks" if wrong else "to the last bit",
    )  # fmt: skip


def bits(drawn: Drawn, rng: np.random.Generator) -> Verdict:
    """No bit of a mask follows from bits of others, or of secrets, by exclusive or."""
    seen = [*jointly.bits(drawn.first.terms, rng), *_along_sums(drawn.many), *_across_places(drawn.long, rng)]
    return judge_statistics("bits of masks", seen, says=f"{len(seen)} sets of bits, each independent over GF(2)")


def repeated(drawn: Drawn, rng: np.random.Generator) -> Verdict:
    """No mask comes twice, in any sum or run, turned or times an odd number."""
    says = "as they are, turned, or times an odd number: none"
    return judge_statistics("masks that come twice", _repeats(drawn, rng), says=says)


def _numbers(masks: Afresh, network: Network, sums: int, columns: int, rng: np.random.Generator) -> list[Array]:
    return [0.5 * masks.bound * rng.uniform(-1.0, 1.0, (len(network), columns)) for _ in range(sums)]


def single(drawn: Drawn, rng: np.random.Generator) -> Verdict:
    """Every mask is uniform."""
    words = drawn.first.terms.words
    seen = [*statistics.uniform(words, "on a link, one way"), *statistics.cells(words, 64, "on all links")]
    return judge_statistics("every mask by itself", seen, says=f"{words.size} words are uniform, above and below")


def pairs(drawn: Drawn, rng: np.random.Generator) -> Verdict:
    """No two masks, and no mask and secret, have anything to do with each other."""
    first, second, many, _ = (each.terms for each in drawn)
    n = first.u.shape[1] // 2
    seen = jointly.pairs(_columns(first, slice(0, n)), rng)
    sums = np.stack([first.u[:, :n], first.u[:, n:], second.u[:, :n], second.u[:, n:]])
    seen += jointly.between(sums.reshape(4, -1), "sums")
    by_sum = many.u.reshape(len(many.u), _SUMS, -1).transpose(1, 0, 2).reshape(_SUMS, -1)
    seen += jointly.between(by_sum, "sums")
    says = f"{len(first.u)} terms, {n} numbers, {_SUMS} sums: no two go together, nor with a secret"
    return judge_statistics("masks in pairs", seen, says=says)


def _along_sums(many: Uniform) -> list[Statistic]:
    """Look at the lowest bit, and at the highest, of every place from sum to sum."""
    places = many.terms.words.reshape(len(many.terms.words), _SUMS, -1).transpose(0, 2, 1).reshape(-1, _SUMS)
    return [
        statistic
        for bit in (0, 63)
        for statistic in statistics.blocks(
            (places >> np.uint64(bit)) & np.uint64(1) == 1, length=_SUMS, says="from sum to sum"
        )
    ]


def _across_places(long: Uniform, rng: np.random.Generator) -> list[Statistic]:
    """Look at the lowest bits of all places of all links, over sums: by whatever order within a sum they follow."""
    words = long.terms.words.reshape(len(long.terms.words), _VERY_MANY, -1).transpose(0, 2, 1)
    places = words.reshape(-1, _VERY_MANY)
    some = places[rng.permutation(len(places))[:_PLACES]]
    return [
        statistic
        for bit in (0, 1, 63)
        for statistic in statistics.relations(
            (some >> np.uint64(bit)) & np.uint64(1) == 1, says="in another place of a sum"
        )
    ]


def _repeats(drawn: Drawn, rng: np.random.Generator) -> list[Statistic]:
    every = [each.terms.words for each in drawn[:3]]
    late = drawn.long.terms.words
    all_words = np.concatenate([*(each.ravel() for each in every), late.ravel()])
    words = np.concatenate([each.ravel() for each in every])
    some = np.concatenate([each[:, : max(2, _KEYS // (2 * len(each)))].ravel() for each in (*every[:2], every[2])])
    low, high = np.uint64(0xFFFF_FFFF), np.uint64(32)
    halves = np.concatenate([some & low, some >> high])
    sums = every[2].reshape(len(every[2]), _SUMS, -1)
    apart = np.concatenate([np.diff(every[0][:, :_RATIOS], axis=1).ravel(), np.diff(sums, axis=1).ravel()])
    over = np.concatenate([*_ratios(every[0], drawn.first.terms, rng), ratios(sums[:, 1:], sums[:, :-1])])
    factors = multiples(some)
    return [
        statistics.repeats(all_words, pairs_of(all_words.size, 64), "words come twice"),
        statistics.repeats(words >> np.uint64(12), pairs_of(words.size, 52), "words come twice but for low bits"),
        statistics.repeats(words << np.uint64(12), pairs_of(words.size, 52), "words come twice but for high bits"),
        statistics.repeats(factors, pairs_of(factors.size, 63), "words are odd multiples of others"),
        statistics.repeats(turned(some), pairs_of(128 * some.size, 64), "words are others, turned"),
        statistics.repeats(halves, pairs_of(halves.size, 32), "halves of words come twice"),
        statistics.repeats(
            np.minimum(apart, ~apart + np.uint64(1)), pairs_of(apart.size, 63), "differences come twice"
        ),
        statistics.repeats(over, pairs_of(over.size, 63), "ratios of words come twice"),
    ]


def _ratios(words: Words, terms: TermNumbers, rng: np.random.Generator) -> list[Words]:
    """Return ratios of words at all distances along a row, and of two terms of one agent."""
    n = min(_RATIOS, words.shape[1] // 2)
    rows = rng.permutation(len(words))[:400]
    along = [
        ratios(words[rows, apart : apart + n], words[rows, :n])
        for apart in range(1, min(_FARTHEST, words.shape[1] - n))
    ]
    own = [terms.of(int(agent))[:12] for agent in np.unique(terms.senders)[:60]]
    two = sorted({(int(a), int(b)) for rows in own for k, a in enumerate(rows) for b in rows[:k]})
    return [*along, *(ratios(words[a, :n], words[b, :n]) for a, b in two)]


def _columns(terms: TermNumbers, columns: slice) -> TermNumbers:
    return terms._replace(
        u=terms.u[:, columns], words=terms.words[:, columns],
        plain=terms.plain[:, columns], plain_words=terms.plain_words[:, columns],
    )  # fmt: skip


SINGLE_WORDS: dict[str, Callable[[Drawn, np.random.Generator], Verdict]] = {
    "masks folded in": folded,
    "every mask by itself": single,
    "masks in pairs": pairs,
    "bits of masks": bits,
    "masks that come twice": repeated,
}
"""Every attack on single masks of secret sums."""
