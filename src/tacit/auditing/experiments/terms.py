"""All random terms of a release, with the eyes of the simulation: what any coalition could know of them, and more.

    α̃_i = α_i + Σ_j (r_ji − r_ij)      to the last bit, with the terms that were exchanged
    r_ij                                independent of each other, of every α, and of all other releases

Together that is the mechanism, whoever is in the coalition. Where one end of a link draws for both, its term is
r_ij − r_ji, of √2 times the deviation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtr

from tacit.auditing.attacks.modular import minus, parts
from tacit.auditing.attacks.unmask_words import words_in
from tacit.auditing.knowledge.view import Exchange, View, masks_of
from tacit.auditing.recording.release import Keys, release, release_sums
from tacit.auditing.recording.scales import scales_of_links
from tacit.auditing.statistics.ranks import bits_of
from tacit.masks import Afresh, Once
from tacit.network import Network
from tacit.typing import Array, Words

_HIGH = 8  # bits of the normal distribution function
_GUARD = 4  # bits that both the low word and the distribution function know something of


class TermNumbers(NamedTuple):
    """Terms as uniform numbers, (rows, columns), and as words whose low bits are uniform."""

    senders: NDArray[np.intp]
    receivers: NDArray[np.intp]
    u: Array
    """The distribution function of the law that they must have, at each of them."""
    words: Words
    bits: int
    """How many of the lowest bits of the words are uniform."""
    plain: Array
    """Made-up secrets, as numbers, (n, columns); once more for a second word."""
    plain_words: Words
    """The same, in the words' units."""

    @property
    def agents(self) -> int:
        """How many there are."""
        return int(max(self.senders.max(), self.receivers.max())) + 1

    def of(self, agent: int) -> NDArray[np.intp]:
        """Return the rows of terms that an agent draws or learns."""
        return np.flatnonzero((self.senders == agent) | (self.receivers == agent))

    def bits_from(self, rows: NDArray[np.intp], columns: int) -> NDArray[np.bool_]:
        """Return bits that must be independent, (rows·bits, columns): low ones, and those of u above them."""
        count = self.bits if self.bits == 64 else self.bits - _GUARD
        low = bits_of(self.words[rows, :columns], count)
        if self.bits == 64:
            return low
        high = np.minimum(self.u[rows, :columns] * 2.0**_HIGH, 2.0**_HIGH - 1).astype(np.uint64)
        return np.concatenate([low, bits_of(high, _HIGH)])


class Gaussian(NamedTuple):
    """The terms of Gaussian masks."""

    terms: TermNumbers
    y: Array
    """In their deviations, (rows, columns)."""
    steps: NDArray[np.int64]
    """In steps of the lattice."""
    sizes: tuple[Array, Array]
    """Their deviations in steps are the products of these, (rows,) and (columns,)."""
    misfit: Array
    """What the effective coefficients have beyond coefficient and terms, in steps: nothing, (n, columns)."""
    width: int
    """Columns of one release."""


class Uniform(NamedTuple):
    """The terms of secret sums."""

    terms: TermNumbers
    misfit: int
    """Words that are not what was to be added up and its terms."""
    width: int
    """Columns of one sum."""


def gaussian(masks: Once, network: Network, secrets: Array, *, keys: Keys) -> Gaussian:
    """Run phase 1 on secrets, (n, columns), and return all its terms."""
    done = release(masks, network, secrets, tuple(range(len(network))), keys=keys)
    exchange = masks_of(done.views[0])[0]
    values = np.concatenate([masks_of(view)[0].values for view in done.views], axis=1)
    effective = np.concatenate([_effective(view) for view in done.views], axis=1)
    step = done.public.step
    plain = np.rint(done.secrets / step) * step
    misfit = effective - plain
    misfit -= _flow(exchange, len(network)) @ values
    misfit /= step
    scales = scales_of_links(masks, network)
    senders, receivers = exchange.senders.astype(np.intp), exchange.receivers.astype(np.intp)
    size = masks.sigma / step
    if masks.pairing == "one-sided":
        rows, back = both_ways(senders, receivers)
        values, size = values[rows] - values[back], np.sqrt(2.0) * size
        senders, receivers = senders[rows], receivers[rows]
    sizes = (size * _scales_of(senders, receivers, network, scales), done.scales)
    steps = np.rint(values / step).astype(np.int64)
    y = values / (step * sizes[0][:, None] * sizes[1])
    bits = int(np.floor(np.log2(float(sizes[0].min() * sizes[1].min()))))
    terms = TermNumbers(
        senders, receivers, ndtr(y), steps.view(np.uint64), bits, done.secrets / done.scales,
        np.rint(plain / step).astype(np.int64).view(np.uint64),
    )  # fmt: skip
    return Gaussian(terms, y, steps, sizes, misfit, _effective(done.views[0]).shape[1])


def _scales_of(
    senders: NDArray[np.intp], receivers: NDArray[np.intp], network: Network, scales: Array | None
) -> Array:
    """Return the scale of the link that each message went over, (messages,)."""
    if scales is None:
        return np.ones(len(senders))
    of_link = dict(zip(map(tuple, network.links.tolist()), scales, strict=True))
    ends = zip(senders.tolist(), receivers.tolist(), strict=True)
    return np.array([of_link[min(i, j), max(i, j)] for i, j in ends])


def uniform(masks: Afresh, network: Network, sums: list[Array], *, keys: Keys, pieces: bool = False) -> Uniform:
    """Add up several times in one run, and return all terms; two words of a number count as two.

    The last number of every sum is the one that says that somebody's number is beyond the bound: nobody's is.
    """
    done = release_sums(masks, network, sums, tuple(range(len(network))), keys=keys, pieces=pieces)
    sums = [np.concatenate([each, np.zeros((len(each), 1))], axis=1) for each in sums]
    view, fixed = done.views[0], masks.fixed_point(agents=len(network))
    exchanges = _one_per_sum(masks_of(view), network, len(sums), sums[0].shape[1] * masks.words)
    published = view.published
    width, misfits, drawn, secret = sums[0].shape[1], 0, [], []
    senders, receivers = (ends.astype(np.intp) for ends in (exchanges[0].senders, exchanges[0].receivers))
    for place, each in enumerate(sums):
        plain = fixed.encode(each.copy())
        wide = plain.shape[1]
        shown = np.zeros_like(plain) if published is None else published.words[place][:, :wide]
        known = words_in(exchanges[place], done.public)[:, :wide]
        misfits += int((minus(minus(shown, plain, masks.words), known, masks.words) != 0).sum())
        drawn.append(exchanges[place].values[:, :wide])
        secret.append(plain)
    words, plain_words = np.concatenate(drawn, axis=1), np.concatenate(secret, axis=1)
    if masks.pairing == "one-sided":
        rows, back = both_ways(senders, receivers)
        words, senders, receivers = minus(words[rows], words[back], masks.words), senders[rows], receivers[rows]
    words, plain_words = (np.concatenate(parts(each, masks.words)) for each in (words, plain_words))
    senders, receivers = np.tile(senders, masks.words), np.tile(receivers, masks.words)
    shares = np.asarray(words * 2.0**-64, dtype=np.float64)
    numbers = np.tile(np.concatenate(sums, axis=1), (masks.words, 1)) / masks.bound
    terms = TermNumbers(senders, receivers, shares, words, 64, numbers, plain_words)
    return Uniform(terms, misfits, width)


def _one_per_sum(exchanges: list[Exchange], network: Network, count: int, width: int) -> list[Exchange]:
    """Return the terms of every sum: zeros where none were exchanged."""
    senders = np.repeat(np.arange(len(network)), network.degrees)
    receivers = np.concatenate([network.neighbours(i) for i in range(len(network))])
    values = np.zeros((len(senders), width), dtype=np.uint64)
    none = Exchange(kind="swap", senders=senders, receivers=receivers, values=values)
    return [*exchanges[:count], *[none] * (count - len(exchanges))]


def both_ways(
    senders: NDArray[np.intp], receivers: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
    """Return the rows of terms from the lower to the higher end, and of those that go back, where there are any."""
    row = {pair: k for k, pair in enumerate(zip(senders.tolist(), receivers.tolist(), strict=True))}
    there = [pair for pair in row if pair[0] < pair[1]]
    back = [row[pair[::-1]] for pair in there if pair[::-1] in row]
    return np.array([row[pair] for pair in there]), np.array(back) if back else None


def _flow(exchange: Exchange, agents: int) -> sp.csr_array:
    """Return what adds up the terms that came to an agent, less those that went from it, (n, terms)."""
    terms = np.arange(len(exchange.senders))
    ends = np.concatenate([exchange.receivers, exchange.senders])
    signs = np.repeat([1.0, -1.0], len(terms))
    return sp.csr_array((signs, (ends, np.tile(terms, 2))), shape=(agents, len(terms)))


def _effective(view: View) -> Array:
    published = view.published
    return np.empty((0, 0)) if published is None or published.gradients is None else published.gradients
