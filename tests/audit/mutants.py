"""Mechanisms with a planted bug each. The audit must go red for every one of them."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr

from tacit.costs import Quadratic
from tacit.masks import AffineMasks, Hidden, Keystreams, QuadraticMasks, SumMasks, draw, mask
from tacit.masks.basis import Rounded
from tacit.masks.mechanism import EVERY_ROW
from tacit.masks.pairing import pair
from tacit.masks.sums import SecretSums

FIXED = [bytes([k % 256] * 32) for k in range(100)]
SEEDS = np.random.default_rng(16)  # of the mutants that draw from a short seed


class Broken:
    """Phase 1 as it is shipped, but for the masks that `exchanged` returns and what `folded` makes of them."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        lattice = self.lattice(agents=len(network), links=len(network.links))
        theta = lattice.round(self.basis.read(cost))
        scales = self.row_scales(network)[rows, None] * self.basis.scales(cost.dim)
        a = self.exchanged(scales, peers, source, lattice, network)
        return Hidden(self.basis.fold(cost, theta + a), Rounded(peers, lattice.step))

    def exchanged(self, scales, peers, source, lattice, network):
        return mask(self.drawn(scales, source, lattice, network), peers)


@dataclass(frozen=True)
class ReusedMasks(AffineMasks):
    """The same keystream in every run."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        return super().hide(cost, peers, Keystreams(FIXED[: len(network)], network.degrees), network=network)


@dataclass(frozen=True)
class ShortSeed(Broken, AffineMasks):
    """Masks from PCG64 with a seed of 16 bits."""

    def drawn(self, scales, source, lattice, network):
        r = self.sigma * np.random.default_rng(SEEDS.integers(1 << 16)).standard_normal(scales.shape)
        return np.rint(r / lattice.step) * lattice.step


@dataclass(frozen=True)
class ShortSeedEach(Broken, AffineMasks):
    """Every agent with a seed of 16 bits of its own."""

    def drawn(self, scales, source, lattice, network):
        parts = [
            np.random.default_rng(SEEDS.integers(1 << 16)).standard_normal((d, scales.shape[1]))
            for d in network.degrees
        ]
        return np.rint(self.sigma * np.concatenate(parts) / lattice.step) * lattice.step


@dataclass(frozen=True)
class FloatMasks(Broken, AffineMasks):
    """Normals as they come, off the lattice."""

    def drawn(self, scales, source, lattice, network):
        return self.sigma * np.random.default_rng(source.words(scales.size)[:4]).standard_normal(scales.shape)


@dataclass(frozen=True)
class ForgottenLink(Broken, AffineMasks):
    """The last link between two agents carries no mask."""

    def drawn(self, scales, source, lattice, network):
        r = draw(source, scales.shape, lattice)
        i, j = network.links[-1] if len(network.links) > 1 else (-1, -1)
        owners = np.repeat(np.arange(len(network)), network.degrees)
        others = np.concatenate([network.neighbours(k) for k in range(len(network))])
        r[((owners == i) & (others == j)) | ((owners == j) & (others == i))] = 0.0
        return r


@dataclass(frozen=True)
class HalfSigma(Broken, AffineMasks):
    """Masks of half the deviation."""

    def drawn(self, scales, source, lattice, network):
        return draw(source, scales.shape, replace(lattice, sigma=lattice.sigma / 2))


@dataclass(frozen=True)
class DoubleSigma(Broken, AffineMasks):
    """Masks of twice the deviation: no leak, but not what the certificate says."""

    def drawn(self, scales, source, lattice, network):
        return 2.0 * draw(source, scales.shape, lattice)


@dataclass(frozen=True)
class NotZeroSum(Broken, AffineMasks):
    """Every agent draws a mask of its own; they do not cancel."""

    def exchanged(self, scales, peers, source, lattice, network):
        r = draw(source, scales.shape, lattice)
        peers.swap(r)
        return np.sqrt(2.0) * peers.total(r)


@dataclass(frozen=True)
class HessiansInClear(Broken, QuadraticMasks):
    """Linear parts are masked, and curvatures are not."""

    def drawn(self, scales, source, lattice, network):
        r = draw(source, scales.shape, lattice, scales)
        m = int((np.sqrt(9 + 8 * scales.shape[1]) - 3) / 2)
        r[:, : m * (m + 1) // 2] = 0.0
        return r


@dataclass(frozen=True)
class ReusedWords(SumMasks):
    """Secret sums with the same keystream in every sum."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        return super().hide(cost, peers, Keystreams(FIXED[: len(network)], network.degrees), network=network)


class WithConstant(Quadratic):
    """|x − p|² with its constant |p|², as the paper's illustration leaves it."""

    def value(self, x):
        return super().value(x) + self.constant

    @classmethod
    def around(cls, point):
        cost = cls(2.0 * np.eye(len(point)), -2.0 * np.asarray(point))
        cost.constant = np.asarray(float(np.square(point).sum()))
        return cost

    _stacks = ("_P", "constant")


def directed(network):
    """Return owner and neighbour of every directed link, in the order of the masks' rows."""
    owners = np.repeat(np.arange(len(network)), network.degrees)
    return owners, np.concatenate([network.neighbours(k) for k in range(len(network))])


def on_last_link(network):
    (i, j), (owners, others) = network.links[-1], directed(network)
    return ((owners == i) & (others == j)) | ((owners == j) & (others == i))


class Redrawn(Broken):
    """Masks that are drawn as they should be, and spoilt afterwards."""

    def drawn(self, scales, source, lattice, network):
        r = draw(source, scales.shape, lattice, None if (scales == 1.0).all() else scales)
        return np.rint(self.spoilt(r, network, lattice) / lattice.step) * lattice.step


@dataclass(frozen=True)
class CoordinatePairs(Redrawn, AffineMasks):
    """Coordinates 2k and 2k + 1 share their mask: their difference is in the open."""

    def spoilt(self, r, network, lattice):
        k = r.shape[1] // 2
        r[:, 1 : 2 * k : 2] = r[:, 0 : 2 * k : 2]
        return r


@dataclass(frozen=True)
class SameToCoalition(Redrawn, AffineMasks):
    """Every neighbour of agent 3 sends it the mask that it also sends to somebody else."""

    def spoilt(self, r, network, lattice):
        owners, others = directed(network)
        for i in network.neighbours(3):
            r[np.flatnonzero((owners == i) & (others != 3))[0]] = r[(owners == i) & (others == 3)]
        return r


@dataclass(frozen=True)
class SumToCoalition(Redrawn, AffineMasks):
    """Every neighbour of agent 3 sends it the sum of all that it sends to others."""

    def spoilt(self, r, network, lattice):
        owners, others = directed(network)
        for i in network.neighbours(3):
            r[(owners == i) & (others == 3)] = r[(owners == i) & (others != 3)].sum(axis=0)
        return r


@dataclass(frozen=True)
class SharedKey(Redrawn, AffineMasks):
    """Agents 0 and 5 have one keystream."""

    def spoilt(self, r, network, lattice):
        owners, _ = directed(network)
        first, second = np.flatnonzero(owners == 0), np.flatnonzero(owners == 5)
        k = min(len(first), len(second))
        r[second[:k]] = r[first[:k]]
        return r


@dataclass(frozen=True)
class CoarseMasks(Redrawn, AffineMasks):
    """Masks are multiples of σ/8: what is below is in the open."""

    def spoilt(self, r, network, lattice):
        q = 2.0 ** np.floor(np.log2(self.sigma / 8))
        return np.rint(r / q) * q


@dataclass(frozen=True)
class LowBitsForgotten(Redrawn, AffineMasks):
    """The lowest *bits* of every mask are zero."""

    bits: int = 16

    def spoilt(self, r, network, lattice):
        q = lattice.step * 2.0**self.bits
        return np.rint(r / q) * q


@dataclass(frozen=True)
class LowBitsOfOneLink(Redrawn, AffineMasks):
    """The lowest bits are zero on one link alone."""

    def spoilt(self, r, network, lattice):
        rows = on_last_link(network)
        r[rows] = np.rint(r[rows] / lattice.step / 2.0**16) * lattice.step * 2.0**16
        return r


@dataclass(frozen=True)
class Coins(Redrawn, AffineMasks):
    """Masks are σ or −σ."""

    def spoilt(self, r, network, lattice):
        return np.where(r > 0, self.sigma, -self.sigma)


@dataclass(frozen=True)
class UniformMasks(Redrawn, AffineMasks):
    """Uniform masks of the right variance."""

    def spoilt(self, r, network, lattice):
        return (ndtr(r / self.sigma) - 0.5) * np.sqrt(12.0) * self.sigma


@dataclass(frozen=True)
class OneThinLink(Redrawn, AffineMasks):
    """σ is smaller on one link."""

    share: float = 0.9

    def spoilt(self, r, network, lattice):
        r[on_last_link(network)] *= self.share
        return r


@dataclass(frozen=True)
class ThreePerCentThin(Redrawn, AffineMasks):
    """σ is 3 % too small everywhere."""

    def spoilt(self, r, network, lattice):
        return 0.97 * r


@dataclass(frozen=True)
class CancellingLink(Redrawn, AffineMasks):
    """Both ends of one link send the same mask."""

    def spoilt(self, r, network, lattice):
        first, second = np.flatnonzero(on_last_link(network))
        r[first] = r[second]
        return r


@dataclass(frozen=True)
class LastCoordinate(Redrawn, AffineMasks):
    """The last coordinate has no mask, in small problems."""

    def spoilt(self, r, network, lattice):
        if r.shape[1] <= 10:
            r[:, -1] = 0.0
        return r


@dataclass(frozen=True)
class EveryOtherRun(Redrawn, AffineMasks):
    """Every run has the masks of the one before the last."""

    kept: dict = field(default_factory=lambda: {"runs": 0}, compare=False)

    def spoilt(self, r, network, lattice):
        self.kept["runs"] += 1
        return self.kept.setdefault((self.kept["runs"] % 2, r.shape), r).copy()


@dataclass(frozen=True)
class OneLinkAgain(Redrawn, AffineMasks):
    """One link has the same masks in every run."""

    kept: dict = field(default_factory=dict, compare=False)

    def spoilt(self, r, network, lattice):
        rows = on_last_link(network)
        r[rows] = self.kept.setdefault(r.shape, r[rows].copy())
        return r


class Block(Redrawn):
    """Quadratic masks that are too thin in one block."""

    def spoilt(self, r, network, lattice):
        m = int((np.sqrt(9 + 8 * r.shape[1]) - 3) / 2)
        rows, columns = np.triu_indices(m)
        r[:, self.block(rows, columns, m)] *= self.share
        return r


@dataclass(frozen=True)
class ThinLinearPart(Block, QuadraticMasks):
    """σ is smaller for linear parts."""

    share: float = 0.5

    def block(self, rows, columns, m):
        return slice(-m, None)


@dataclass(frozen=True)
class ThinDiagonal(Block, QuadraticMasks):
    """σ is smaller for the diagonals of curvatures."""

    share: float = 0.5

    def block(self, rows, columns, m):
        return np.flatnonzero(rows == columns)


class Telling:
    """`Peers` that add the true slope to one exchange of gossip."""

    def __init__(self, peers, slope, after):
        self._peers, self._slope, self._left = peers, slope, after

    def __getattr__(self, name):
        return getattr(self._peers, name)

    def mix(self, x):
        self._left -= 1
        return self._peers.mix(x + self._slope if self._left == 0 else x)


@dataclass(frozen=True)
class TellsLater(AffineMasks):
    """One exchange of phase 2 also carries the true slope."""

    after: int = 5

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        hidden = AffineMasks.hide(self, cost, peers, source, network=network, rows=rows)
        return Hidden(hidden.cost, Telling(hidden.peers, cost.affine.copy(), self.after))


class WordsFrom:
    """A source whose words are spoilt."""

    def __init__(self, source, spoilt):
        self._source, self._spoilt = source, spoilt

    def __getattr__(self, name):
        return getattr(self._source, name)

    def words(self, count):
        return self._spoilt(self._source.words(count))


class BrokenSums:
    """Secret sums as they are shipped, but for the words that masks are made of."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        spoilt = WordsFrom(source, lambda words: self.spoilt(words.reshape(peers.links, -1), network).ravel())
        fixed = self.fixed_point(agents=len(network))
        return Hidden(cost, SecretSums(peers, spoilt, fixed, pair("both", spoilt, peers)))


@dataclass(frozen=True)
class NoWords(BrokenSums, SumMasks):
    """No masks at all."""

    def spoilt(self, words, network):
        return np.zeros_like(words)


@dataclass(frozen=True)
class WordsForgottenLink(BrokenSums, SumMasks):
    """The link between agents 4 and 5 carries no mask."""

    def spoilt(self, words, network):
        owners, others = directed(network)
        words[np.isin(owners, (4, 5)) & np.isin(others, (4, 5))] = 0
        return words


@dataclass(frozen=True)
class OneWordForAll(BrokenSums, SumMasks):
    """All numbers of a sum share one mask."""

    def spoilt(self, words, network):
        words[:] = words[:, :1]
        return words


@dataclass(frozen=True)
class LowHalfOfWords(BrokenSums, SumMasks):
    """The lower 32 bits of every mask are zero."""

    def spoilt(self, words, network):
        return words & ~np.uint64(0xFFFF_FFFF)


class SameEveryTime:
    """`SecretSums` that begin their keystream again for every sum."""

    def __init__(self, peers, fixed, begin):
        self._peers, self._fixed, self._begin = peers, fixed, begin
        self._sums = SecretSums(peers, begin(), fixed)

    def __getattr__(self, name):
        return getattr(self._sums, name)

    def sum(self, v, add=np.add):
        source = self._begin()
        return SecretSums(self._peers, source, self._fixed, pair("both", source, self._peers)).sum(v)


@dataclass(frozen=True)
class WordsReusedWithinRun(SumMasks):
    """All sums of one run have the same masks; the next run has others."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        keys = [source.words(2 * len(network.links))[:4].tobytes() for _ in range(len(network))]
        fixed = self.fixed_point(agents=len(network))
        return Hidden(cost, SameEveryTime(peers, fixed, lambda: Keystreams(keys, network.degrees)))
