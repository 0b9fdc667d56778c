"""Masks of secret sums whose words look right one by one, and follow from others, come again, or are left out."""

from dataclasses import dataclass

import numpy as np
from dependent import by_agent
from mutants import BrokenSums

from tacit.masks import Hidden, Keystreams, SumMasks
from tacit.masks.mechanism import EVERY_ROW
from tacit.masks.pairing import pair
from tacit.masks.sums import SecretSums

BIG = np.uint64(0x9E37_79B9_7F4A_7C15)


class EachAgents:
    """Words of every agent that follow from those to its first neighbour."""

    def spoilt(self, words, network):
        for rows in by_agent(network):
            for k, row in enumerate(rows[1:], 1):
                words[row] = self.follows(words[rows[0]], k, words[row])
        return words


@dataclass(frozen=True)
class OneWordToAllNeighbours(EachAgents, BrokenSums, SumMasks):
    """Every agent sends the same words to all its neighbours."""

    def follows(self, first, k, own):
        return first


@dataclass(frozen=True)
class OddMultiples(EachAgents, BrokenSums, SumMasks):
    """The words to the k-th neighbour are those to the first, times 2k + 1."""

    def follows(self, first, k, own):
        return first * np.uint64(2 * k + 1)


@dataclass(frozen=True)
class LargeOddMultiples(EachAgents, BrokenSums, SumMasks):
    """The words to the k-th neighbour are those to the first, times a large odd number."""

    def follows(self, first, k, own):
        return first * (BIG + np.uint64(2 * k))


@dataclass(frozen=True)
class AffineWords(EachAgents, BrokenSums, SumMasks):
    """The words to the k-th neighbour are those to the first, times an odd number, plus a number."""

    def follows(self, first, k, own):
        return first * BIG + np.uint64(977 * k)


@dataclass(frozen=True)
class XorShift(EachAgents, BrokenSums, SumMasks):
    """The words to the k-th neighbour are those to the first, shifted onto themselves."""

    def follows(self, first, k, own):
        return first ^ (first << np.uint64(13 + k)) ^ np.uint64(977)


@dataclass(frozen=True)
class TurnedWords(EachAgents, BrokenSums, SumMasks):
    """The words to the k-th neighbour are those to the first, with their bits turned round, some places on."""

    def follows(self, first, k, own):
        turned = (first << np.uint64(7 * k)) | (first >> np.uint64(64 - 7 * k))
        return np.roll(turned, 3)


@dataclass(frozen=True)
class ShiftedWords(EachAgents, BrokenSums, SumMasks):
    """The words to the k-th neighbour are those to the first, k places later."""

    def follows(self, first, k, own):
        return np.roll(first, k)


@dataclass(frozen=True)
class NearWords(EachAgents, BrokenSums, SumMasks):
    """The words to all neighbours differ by less than a 16th of the range."""

    def follows(self, first, k, own):
        return first + (own >> np.uint64(4))


@dataclass(frozen=True)
class SameLowWords(EachAgents, BrokenSums, SumMasks):
    """The lowest byte is the same to all neighbours."""

    def follows(self, first, k, own):
        return (own & ~np.uint64(0xFF)) | (first & np.uint64(0xFF))


@dataclass(frozen=True)
class OneBitInCommon(EachAgents, BrokenSums, SumMasks):
    """Bit 40 is the same to all neighbours."""

    def follows(self, first, k, own):
        bit = np.uint64(1 << 40)
        return (own & ~bit) | (first & bit)


@dataclass(frozen=True)
class HalvesElsewhere(EachAgents, BrokenSums, SumMasks):
    """The upper half to the k-th neighbour is the lower half to the first, k places later."""

    def follows(self, first, k, own):
        return (np.roll(first, k) << np.uint64(32)) | (own & np.uint64(0xFFFF_FFFF))


@dataclass(frozen=True)
class SumOfOthers(BrokenSums, SumMasks):
    """An agent's last words are the sum of all its others: fewer are independent."""

    def spoilt(self, words, network):
        for rows in by_agent(network):
            if len(rows) > 2:
                words[rows[-1]] = words[rows[:-1]].sum(axis=0)
        return words


@dataclass(frozen=True)
class TopBitZero(BrokenSums, SumMasks):
    """The highest bit is 0."""

    def spoilt(self, words, network):
        return words & np.uint64(2**63 - 1)


@dataclass(frozen=True)
class LowBitOne(BrokenSums, SumMasks):
    """The lowest bit is 1."""

    def spoilt(self, words, network):
        return words | np.uint64(1)


@dataclass(frozen=True)
class EqualHalves(BrokenSums, SumMasks):
    """The upper half of a word is the lower half."""

    def spoilt(self, words, network):
        low = words & np.uint64(0xFFFF_FFFF)
        return low | (low << np.uint64(32))


@dataclass(frozen=True)
class FiftyPlacesLater(BrokenSums, SumMasks):
    """The words of coordinate k are those of k − 50, times a large odd number."""

    def spoilt(self, words, network):
        for k in range(50, words.shape[1]):
            words[:, k] = words[:, k - 50] * BIG
        return words


@dataclass(frozen=True)
class Counters(BrokenSums, SumMasks):
    """Words of a row count on in large steps."""

    def spoilt(self, words, network):
        return words[:, :1] + np.arange(words.shape[1], dtype=np.uint64) * (words[:, -1:] | np.uint64(1))


@dataclass(frozen=True)
class ReversedAcrossAgents(BrokenSums, SumMasks):
    """Agent 5 has the words of agent 0, in another order."""

    def spoilt(self, words, network):
        rows = by_agent(network)
        if len(rows) > 5:
            k = min(len(rows[0]), len(rows[5]))
            words[rows[5][:k]] = words[rows[0][:k], ::-1]
        return words


class Lagged:
    """`SecretSums` whose masks come again some sums later."""

    def __init__(self, peers, fixed, source, degrees, lag, change):
        self._peers, self._fixed, self._source, self._degrees = peers, fixed, source, degrees
        self._lag, self._change, self._kept = lag, change, []
        self._sums = SecretSums(peers, source, fixed)

    def __getattr__(self, name):
        return getattr(self._sums, name)

    def sum(self, v, add=np.add):
        again = len(self._kept) // self._lag
        if again == 0:
            self._kept.append(
                [bytes(self._source.words(self._peers.links * 4)[4 * i :][:4]) for i in range(len(v))]
            )
        else:
            self._kept.append(self._kept[len(self._kept) - self._lag])
        source = Changed(Keystreams(self._kept[-1], self._degrees), again, self._change)
        return SecretSums(self._peers, source, self._fixed, pair("both", source, self._peers)).sum(v)


class Changed:
    """A source whose words are changed once for every time that they come again."""

    def __init__(self, source, again, change):
        self._source, self._again, self._change = source, again, change

    def __getattr__(self, name):
        return getattr(self._source, name)

    def words(self, count):
        words = self._source.words(count)
        for _ in range(self._again):
            words = self._change(words)
        return words


@dataclass(frozen=True)
class MasksAgainLater(SumMasks):
    """Sum t has the masks of sum t − lag."""

    lag: int = 2

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        fixed = self.fixed_point(agents=len(network))
        return Hidden(cost, Lagged(peers, fixed, source, network.degrees, self.lag, self.changed))

    def changed(self, words):
        return words


@dataclass(frozen=True)
class MultiplesLater(MasksAgainLater):
    """Sum t has the masks of sum t − lag, times an odd number."""

    def changed(self, words):
        return words * BIG


@dataclass(frozen=True)
class MoreLater(MasksAgainLater):
    """Sum t has the masks of sum t − lag, and a number more."""

    def changed(self, words):
        return words + BIG


class WordsToTheSecond(BrokenSums):
    """The words that the second neighbour gets follow from those of the first."""

    def spoilt(self, words, network):
        for rows in by_agent(network):
            if len(rows) > 1:
                words[rows[1]] = self.second(words[rows[0]])
        return words


@dataclass(frozen=True)
class ReversedAffine(WordsToTheSecond, SumMasks):
    """From the last to the first, times an odd number, and a number more."""

    def second(self, first):
        return first[::-1] * BIG + np.uint64(977)


@dataclass(frozen=True)
class ReversedXor(WordsToTheSecond, SumMasks):
    """From the last to the first, with the same bits changed."""

    def second(self, first):
        return first[::-1] ^ BIG


@dataclass(frozen=True)
class ComplaintUnmasked(BrokenSums, SumMasks):
    """The mask of the last word, which says whether a number is beyond the bound, is 0."""

    def spoilt(self, words, network):
        words[:, -1] = 0
        return words


class Otherwise(SumMasks):
    """Secret sums by other code."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        fixed = self.fixed_point(agents=len(network))
        return Hidden(cost, self.peers(peers, source, fixed, pair(self.pairing, source, peers)))


class OpenPieces(SecretSums):
    def _masked_pieces(self, v):
        fixed = self._fixed_point
        return fixed.encode(np.concatenate([np.asarray(v), np.zeros((*v.shape[:-1], 1))], axis=-1))


class OpenComplaint(SecretSums):
    def _masked(self, v, complaint):
        words = super()._masked(v, complaint)
        words[..., -self._fixed_point.ring.words :] = self._fixed_point.encode(np.array(complaint))
        return words


class OpenLater(SecretSums):
    count = 0

    def sum(self, v, add=np.add):
        self.count += 1
        if self.count == 1 or not 5 <= v.shape[-1] <= 100:
            return super().sum(v, add)
        fixed = self._fixed_point
        words = fixed.encode(np.concatenate([np.array(v), np.zeros((*v.shape[:-1], 1))], axis=-1))
        return fixed.decode(self._peers.sum(words, add=fixed.ring.add))[:-1]


@dataclass(frozen=True)
class PiecesInTheOpen(Otherwise):
    """What is made piece by piece is sent as it is."""

    peers = OpenPieces


@dataclass(frozen=True)
class ComplaintInTheOpen(Otherwise):
    """The complaint's mask is drawn, and forgotten."""

    peers = OpenComplaint


@dataclass(frozen=True)
class LaterInTheOpen(Otherwise):
    """Sums after a run's first have no masks."""

    peers = OpenLater
