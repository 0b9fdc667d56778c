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

from tacit.auditing import looks
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.auditing.attacks.words import minus, parts, plus, total
from tacit.auditing.looks import Look
from tacit.auditing.release import Keys, Release, release_sums
from tacit.auditing.verdict import Verdict, judge_looks
from tacit.auditing.view import masks_of
from tacit.masks import SumMasks
from tacit.network import Network
from tacit.typing import Array, Words

_COLUMNS, _CUTS = 2000, 24
_WORDS = 4_000_000  # drawn at once, in a network with many links


def attack_words(
    masks: SumMasks, network: Network, coalition: Sequence[int], *, keys: Keys, rng: np.random.Generator
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
    alone = [_links(masks, network, numbers, keys) for _ in range(2)]
    by_itself = judge_looks(
        "every link by itself",
        [look for sums in alone for each in sums for look in _uniform(each, masks.words, "on a link")]
        + [_repeated([each for sums in alone for each in sums], masks.words)],
        says=f"{len(network.links)} link(s), {4 * columns} masks each, are uniform, and none comes twice",
    )
    if not len(free):
        return [exact, by_itself]
    cuts = _cuts(network, honest, rng)
    return [
        exact,
        judge_looks(
            "uniform words",
            [*_uniform(one[free], masks.words, "at an agent"), *_neighbours(one[free], masks.words)],
            says=f"{one[free].size} words are uniform, above and below, and so are their differences",
        ),
        judge_looks(
            "cuts",
            _uniform(np.stack([total(one[cut], masks.words) for cut in cuts]), masks.words, "over a cut"),
            says=f"sums over {len(cuts)} parts of components are uniform",
        ),
        judge_looks(
            "two sums",
            [
                *_uniform(minus(one[free], later[free], masks.words), masks.words, "in the difference of two sums"),
                *_uniform(minus(one[free], other[free], masks.words), masks.words, "in the difference of two runs"),
            ],
            says="of one run, and of two: their differences are uniform",
        ),
        by_itself,
    ]  # fmt: skip


def _masks(done: Release, later: int, plain: Words) -> Words:
    """Return what masks the honest agents' words, once those that members know are off."""
    _, told = TreeSums().contributions(done.views[0], done.public, later=later)
    return minus(np.asarray(told, dtype=np.uint64), plain, done.public.words)


def _links(masks: SumMasks, network: Network, numbers: list[Array], keys: Keys) -> list[Words]:
    """Return r_ji − r_ij of every link in each sum of one run: what is left to everybody but the two ends."""
    everybody = tuple(range(len(network)))
    done = release_sums(masks, network, numbers, everybody, keys=keys)
    published = done.views[0].published
    plain = [masks.fixed_point(agents=len(network)).encode(each.copy()) for each in numbers]
    found = []
    for place, exchange in enumerate(masks_of(done.views[0])):
        width = plain[place].shape[1]
        ends = zip(exchange.senders.tolist(), exchange.receivers.tolist(), strict=True)
        rows = dict(zip(ends, exchange.values[:, :width], strict=True))
        words = np.zeros_like(plain[place]) if published is None else published.words[place][:, :width]
        rest = minus(words, plain[place], masks.words)
        for (i, j), term in rows.items():
            rest[j] = minus(rest[j], term, masks.words)
            rest[i] = plus(rest[i], term, masks.words)
        pairs = [(rows[j, i], rows[i, j], rest[i]) for i, j in network.links.tolist()]
        kept = [minus(plus(left, back, masks.words), out, masks.words) for back, out, left in pairs]
        found.append(np.stack(kept))
    return found


def _cuts(network: Network, honest: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Return parts of components: every branch of a tree, which one link holds at most, and some at random."""
    found = []
    whole = network.graph.subgraph([network.agents[i] for i in honest])
    for piece in nx.connected_components(whole):
        agents = sorted(network.index[name] for name in piece)
        tree = nx.bfs_tree(whole, network.agents[agents[0]])
        branches = [[name, *nx.descendants(tree, name)] for name in tree if name != network.agents[agents[0]]]
        chosen = [[i for i in agents if rng.random() < 0.5] for _ in range(_CUTS if len(agents) > 1 else 0)]
        parts_of = [[network.index[name] for name in branch] for branch in branches] + chosen
        found += [np.isin(honest, part) for part in parts_of if 0 < len(part) < len(agents)]
    return found


def _uniform(found: Words, words: int, where: str) -> list[Look]:
    return [look for part in parts(found, words) for look in looks.uniform(part, where)]


def _neighbours(found: Words, words: int) -> list[Look]:
    """Look at the differences of numbers that lie beside each other, or two places apart."""
    apart = [minus(found[:, : -k * words], found[:, k * words :], words) for k in (1, 2)]
    return [look for each in apart for look in _uniform(each, words, "beside each other")]


def _repeated(found: list[Words], words: int) -> Look:
    """Look for a mask that comes twice, on any link, in any place of any sum: of 2⁶⁴ it hardly ever does."""
    low = np.concatenate([parts(each, words)[0].ravel() for each in found])
    repeats = low.size - len(np.unique(low))
    by_chance = low.size**2 / 2.0**65
    return Look(1.0 if not repeats else min(by_chance, 1.0) ** repeats, "beaten", f"{repeats} masks come twice")
