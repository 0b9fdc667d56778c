"""Statistics of all terms together, Gaussian ones and words alike: uniform numbers u above, uniform words below.

    pairs    every two rows, by waves of u and of their low bits; beside every secret; a few places apart, and at
             all distances where an agent draws or learns both
    bits     all bits of all terms that an agent draws or learns, beside its secret; one bit of all terms; a bit
             along rows

In a large network some are of the terms of agents taken at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing import statistics
from tacit.auditing.experiments.terms import TermNumbers
from tacit.auditing.statistics import Statistic
from tacit.auditing.statistics.ranks import bits_of
from tacit.typing import Array, Words

_ROWS, _COLUMNS, _NUMBERS = 160, 2000, 1_500_000  # of terms with all their waves, and of those with the first alone
_DISTANCES = (1, 2, 3)
_HARMONICS = tuple(range(4, 17))  # beyond those that all pairs are looked at in
_THREE = 12  # agents whose terms are looked at three by three, and four by four
_ACROSS, _FEW = 60, 256  # terms of all agents that are, and in how many places
_PAIRS, _LONG = 1500, 1024  # pairs of rows at all distances
_AGENTS, _TERMS = 60, 10  # whose bits are taken all together
_BLOCK = 256  # places along a row
_FEWEST = 100  # products in a sum that is taken for normal


def pairs(terms: TermNumbers, rng: np.random.Generator) -> list[Statistic]:
    """Look at every two rows, at rows and secrets, and at rows some places apart."""
    rows = _some(terms, _ROWS, rng)
    n = min(terms.u.shape[1], _COLUMNS)
    u, words = terms.u[rows, :n], terms.words[rows, :n]
    whole = np.concatenate([statistics.waves(u, (1, 2, 3)), _low_waves(words, terms.bits)])
    seen = statistics.correlations(whole, rows=len(rows), says="two terms go together")
    if len(rows) < len(terms.u):
        every = statistics.waves(terms.u[:, : max(200, min(n, _NUMBERS // len(terms.u)))], (1,))
        seen += statistics.correlations(every, rows=len(terms.u), says="two terms go together")
    first = statistics.waves(u, (1,))
    many = statistics.waves(u, _HARMONICS)
    seen += statistics.correlations(many, first, says="a term and a multiple of another go together")
    seen += statistics.correlations(
        many[:, :-1], first[:, 1:], says="a term and a multiple of the one before go together"
    )
    secret = np.concatenate([_standard(terms.plain[:, :n]), _low_waves(terms.plain_words[:, :n], terms.bits)])
    seen += statistics.correlations(whole, secret, says="a term and a secret go together")
    near = np.concatenate([first, _low_waves(words, 8)])
    for apart in _DISTANCES:
        says = f"terms {apart} place(s) apart go together"
        seen += statistics.correlations(near[:, apart:], near[:, :-apart], says=says)
    some = terms.u[:, : shown(terms.u)]
    long = statistics.waves(some, (1,))
    plain = _standard(terms.plain[:, : some.shape[1]])
    seen += statistics.correlations(long, plain, says="a term and a secret go together")
    seen += [*beside_secrets(long.reshape(2, *some.shape), terms), *statistics.means("in waves", long)]
    for waves in long.reshape(2, *some.shape):
        seen += [*statistics.along(waves, "places go together"), *statistics.shared(waves, "all terms go together")]
    for agent in rng.permutation(np.unique(terms.senders))[:_THREE]:
        seen += statistics.triples(u_of(terms, int(agent), n, rng), "three terms of one agent go together")
        own = rng.permutation(terms.of(int(agent)))[:_TERMS]
        signs = np.concatenate([terms.u[own, :n] >= 0.5, terms.plain[agent : agent + 1, :n] >= 0.0])
        seen += statistics.fours(signs, "the signs of four terms of one agent go together")
    across = rng.permutation(len(terms.u))[:_ACROSS]
    seen += statistics.triples(terms.u[across, :_FEW], "three terms of any agents go together")
    return [*seen, *statistics.shifts(terms.u[:, :_LONG], _near(terms, rng), "terms some places apart go together")]


def beside_secrets(values: NDArray[Any], terms: TermNumbers) -> list[Statistic]:
    """Look at terms, (kinds, rows, columns) of variance 1, beside the secrets of both ends, all links together."""
    secrets = _standard(terms.plain[:, : values.shape[2]]).reshape(3, len(terms.plain), -1)
    tests = []
    for ends in (terms.senders, terms.receivers):
        beside = secrets[:, ends % len(terms.plain)]
        size = np.sqrt(np.square(beside).sum(axis=(1, 2)))
        tests.append(np.einsum("krc,src->ks", values, beside, dtype=np.float64) / size)
    return [statistics.normal(np.concatenate(tests), "terms and the secrets at their ends go together")]


def u_of(terms: TermNumbers, agent: int, columns: int, rng: np.random.Generator) -> Array:
    """Return the terms that an agent draws or learns, some of them where they are many, and its secret."""
    own = rng.permutation(terms.of(agent))[:_TERMS]
    secret = terms.plain[agent : agent + 1, :columns]
    return np.concatenate([terms.u[own, :columns], np.mod(secret / max(float(secret.std()), 1e-300), 1.0)])


def shown(values: Array) -> int:
    """Return how many columns to look at, of very many rows."""
    return max(_COLUMNS // 2, _NUMBERS // len(values))


def between(u: Array, what: str) -> list[Statistic]:
    """Look at what must be independent row by row, such as releases, (rows, n)."""
    if len(u) < 2:
        return []
    whole = statistics.waves(u, (1, 2))
    says = f"{what} go together"
    seen = statistics.correlations(whole, rows=len(u), says=f"two {says}") if u.shape[1] >= _FEWEST else []
    return [*seen, *(each for wave in np.split(whole, 4) for each in statistics.along(wave.T, says))]


def bits(terms: TermNumbers, rng: np.random.Generator) -> list[Statistic]:
    """Look for bits that follow from others."""
    seen, n = [], terms.u.shape[1]
    agents = np.unique(terms.senders)
    for agent in rng.permutation(agents)[:_AGENTS]:
        own = rng.permutation(terms.of(int(agent)))[:_TERMS]
        room = min(n, (len(own) + 2) * 64 + 72)
        secret = bits_of(terms.plain_words[agent :: terms.agents, :room], terms.bits)
        seen += statistics.relations(terms.bits_from(own, room), secret, says="of one agent")
    rows = _some(terms, min(1000, max(2, n - 128 - len(terms.plain_words))), rng)
    few = (0, 1, terms.bits // 2, terms.bits - 1)
    room = min(n, len(rows) + len(terms.plain_words) + 72)
    for place in range(terms.bits) if len(rows) <= 2 * _ROWS else few:
        tested, secret = (_bit(each[:, :room], place) for each in (terms.words[rows], terms.plain_words))
        seen += statistics.relations(tested, secret, says=f"in place {place} of all terms")
    above = terms.u >= 0.5
    seen += statistics.relations(above[rows, :room], terms.plain[:, :room] >= 0.0, says="in the signs of all terms")
    seen += statistics.blocks(above[rows], length=_BLOCK, says="in the signs, along a row")
    for place in few:
        seen += statistics.blocks(
            _bit(terms.words[rows], place), length=_BLOCK, says=f"in place {place}, along a row"
        )
    return seen


def _some(terms: TermNumbers, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return all rows, or those of agents taken at random, at most so many."""
    if len(terms.u) <= most:
        return np.arange(len(terms.u))
    order = [terms.of(int(agent)) for agent in rng.permutation(np.unique(terms.senders))]
    _, first = np.unique(np.concatenate(order), return_index=True)
    return np.sort(np.concatenate(order)[np.sort(first)][:most])


def _near(terms: TermNumbers, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return pairs of rows: half of them of one agent, where there are so many, and others."""
    agents = rng.permutation(np.unique(terms.senders))
    kept: list[NDArray[np.intp]] = []
    for agent in agents:
        own = terms.of(int(agent))
        a, b = np.triu_indices(len(own), 1)
        kept.append(np.stack([own[a], own[b]], axis=1))
        if sum(map(len, kept)) > _PAIRS // 2:
            break
    others = rng.integers(0, len(terms.u), (_PAIRS, 2))
    nearby = np.sort(
        np.concatenate([np.concatenate(kept)[: _PAIRS // 2], others[others[:, 0] != others[:, 1]]]), axis=1
    )
    return np.unique(nearby, axis=0)[:_PAIRS]


def _low_waves(words: Words, bits: int) -> NDArray[np.float32]:
    """Return the first waves of the lowest bits: of all but eight, of half of them, and so on to two."""
    widths = sorted({width for width in (bits - 8, bits // 2, bits // 4, 16, 8, 4, 2) if 2 <= width <= bits})
    masks = [np.uint64((1 << width) - 1) for width in widths]
    return np.concatenate(
        [statistics.waves(_share(words & mask, width), (1,)) for mask, width in zip(masks, widths, strict=True)]
    )


def _share(words: Words, bits: int) -> Array:
    return np.asarray(words * 2.0**-bits, dtype=np.float64)


def _standard(plain: Array) -> NDArray[np.float32]:
    """Return functions of the secrets, odd and even."""
    size = plain / max(float(plain.std()), 1e-300)
    return np.concatenate([size, np.sign(size), np.abs(size) - np.abs(size).mean()]).astype(np.float32)


def _bit(words: Words, place: int) -> NDArray[np.bool_]:
    return (words >> np.uint64(place)) & np.uint64(1) == 1
