"""Mechanisms with a planted bug each. The audit must go red for every one of them."""

import secrets
from dataclasses import dataclass, replace

import numpy as np

from tacit.costs import Quadratic
from tacit.masks import AffineMasks, Hidden, Keystreams, QuadraticMasks, SumMasks, draw, mask
from tacit.masks.basis import Rounded
from tacit.masks.mechanism import EVERY_ROW

FIXED = [bytes([k % 256] * 32) for k in range(100)]


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
        r = self.sigma * np.random.default_rng(secrets.randbelow(1 << 16)).standard_normal(scales.shape)
        return np.rint(r / lattice.step) * lattice.step


@dataclass(frozen=True)
class ShortSeedEach(Broken, AffineMasks):
    """Every agent with a seed of 16 bits of its own."""

    def drawn(self, scales, source, lattice, network):
        parts = [
            np.random.default_rng(secrets.randbelow(1 << 16)).standard_normal((d, scales.shape[1]))
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
