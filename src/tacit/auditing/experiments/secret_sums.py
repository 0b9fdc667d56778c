"""Attacks on secret sums: words modulo 2⁶⁴ or 2¹²⁸, of which nothing but sums over components may be left.

k_i + a_i − k_i      uniform at every agent, and in sums over any part of a component
r_ji − r_ij          uniform on every link by itself, to everybody but its two ends
two sums             of one run or of two: their masks have nothing to do with each other
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tacit.auditing import statistics
from tacit.auditing.attacks.modular import minus, parts, total
from tacit.auditing.attacks.unmask_words import unmasked_words
from tacit.auditing.experiments.single_words import attack_single_words, draw_words
from tacit.auditing.experiments.terms import Uniform, both_ways
from tacit.auditing.judging.verdict import Verdict, judge_statistics
from tacit.auditing.recording.release import Keys, Released, release_sums
from tacit.auditing.statistics import Statistic
from tacit.auditing.statistics.repeats import pairs_of
from tacit.masks import Afresh
from tacit.network import Network
from tacit.typing import Words

_COLUMNS, _CUTS = 2000, 24
_WORDS = 4_000_000  # drawn at once, in a network with many links


def attack_words(
    masks: Afresh, network: Network, coalition: Sequence[int], *, keys: Keys, rng: np.random.Generator
) -> list[Verdict]:
    """Return the verdicts on sums over components and over cuts, on single words and links, and on two sums."""
    columns = min(_COLUMNS, max(200, _WORDS // (2 * len(network.links))))
    numbers = [0.5 * masks.bound * rng.uniform(-1.0, 1.0, (len(network), columns)) for _ in range(2)]
    first, second = (release_sums(masks, network, numbers, coalition, keys=keys) for _ in range(2))
    honest = first.public.honest(first.views[0].coalition)
    plain = [masks.fixed_point(agents=len(network)).encode(each.copy())[honest] for each in numbers]
    one, later = (_masks(first, k, plain[k]) for k in range(2))
    other = _masks(second, 0, plain[0])
    pieces = [np.isin(honest, piece) for piece in first.public.components(first.views[0].coalition)]
    left = sum(int((total(one[piece], masks.words) != 0).sum()) for piece in pieces)
    exact = Verdict(
        attack="component sums",
        status="weak" if left else "open",
        says="masks do not cancel" if left else f"{len(pieces)} sum(s), as the certificate says",
        measured=float(left),
        predicted=0.0,
    )
    free = np.concatenate([np.flatnonzero(piece)[:-1] for piece in pieces])  # the last follows from the sum
    drawn = draw_words(masks, network, keys=keys, rng=rng)
    alone = [_links(each, masks.words) for each in drawn]
    every = np.concatenate([each.ravel() for each in alone])
    by_itself = judge_statistics(
        "every link by itself",
        [statistic for each in alone for statistic in statistics.uniform(each, "on a link")]
        + [statistics.repeats(every, pairs_of(every.size, 64), "masks come twice")],
        says=f"{every.size} masks of {len(network.links)} link(s) are uniform, and none comes twice",
    )
    single = attack_single_words(drawn, rng)
    if not len(free):
        return [exact, by_itself, *single]
    cuts = _cuts(network, honest, rng)
    return [
        exact,
        judge_statistics(
            "uniform words",
            [*_uniform(one[free], masks.words, "at an agent"), *_neighbours(one[free], masks.words)],
            says=f"{one[free].size} words are uniform, above and below, and so are their differences",
        ),
        judge_statistics(
            "cuts",
            _uniform(np.stack([total(one[cut], masks.words) for cut in cuts]), masks.words, "over a cut"),
            says=f"sums over {len(cuts)} parts of components are uniform",
        ),
        judge_statistics(
            "two sums",
            [
                *_uniform(minus(one[free], later[free], masks.words), masks.words, "in the difference of two sums"),
                *_uniform(minus(one[free], other[free], masks.words), masks.words, "in the difference of two runs"),
            ],
            says="of one run, and of two: their differences are uniform",
        ),
        by_itself,
        *single,
    ]  # fmt: skip


def _masks(done: Released, later: int, plain: Words) -> Words:
    """Return what masks the honest agents' words, once those that members know are off."""
    _, masked = unmasked_words(done.views[0], done.public, place=later)
    return minus(masked[:, : plain.shape[1]], plain, done.public.words)


def _links(drawn: Uniform, words: int) -> Words:
    """Return r_ji − r_ij of every link: what is left to everybody but the two ends; two words in two rows."""
    pieces = np.split(drawn.terms.words, words)
    senders, receivers = (np.split(ends, words)[0] for ends in (drawn.terms.senders, drawn.terms.receivers))
    out, back = both_ways(senders, receivers)
    if back is None:
        return drawn.terms.words
    mixed = np.stack(pieces, axis=2).reshape(len(senders), -1)  # the words of a number beside each other again
    return np.concatenate(parts(minus(mixed[back], mixed[out], words), words))


def _cuts(network: Network, honest: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Return parts of components: every branch of a tree, which one link holds at most, and some at random."""
    cuts = []
    whole = network.graph.subgraph([network.agents[i] for i in honest])
    for piece in nx.connected_components(whole):
        agents = sorted(network.index[name] for name in piece)
        tree = nx.bfs_tree(whole, network.agents[agents[0]])
        branches = [[name, *nx.descendants(tree, name)] for name in tree if name != network.agents[agents[0]]]
        chosen = [[i for i in agents if rng.random() < 0.5] for _ in range(_CUTS if len(agents) > 1 else 0)]
        parts_of = [[network.index[name] for name in branch] for branch in branches] + chosen
        cuts += [np.isin(honest, part) for part in parts_of if 0 < len(part) < len(agents)]
    return cuts


def _uniform(masks: Words, words: int, where: str) -> list[Statistic]:
    return [statistic for part in parts(masks, words) for statistic in statistics.uniform(part, where)]


def _neighbours(masks: Words, words: int) -> list[Statistic]:
    """Look at the differences of numbers that lie beside each other, or two places apart."""
    apart = [minus(masks[:, : -k * words], masks[:, k * words :], words) for k in (1, 2)]
    return [statistic for each in apart for statistic in _uniform(each, words, "beside each other")]
