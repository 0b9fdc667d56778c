"""Gaussian masks that look right one by one, and depend on each other, on secrets, or end somewhere."""

from dataclasses import dataclass, field

import numpy as np
from mutants import Redrawn, directed
from scipy.special import ndtr, ndtri
from scipy.stats import truncnorm

from tacit.masks import AffineMasks, Hidden, draw, mask
from tacit.masks.basis import Rounded
from tacit.masks.mechanism import EVERY_ROW

BIG = np.uint64(0x9E37_79B9_7F4A_7C15)


def by_agent(network):
    """Return every agent's rows."""
    owners, _ = directed(network)
    return [np.flatnonzero(owners == i) for i in range(len(network))]


def told_to(network, member=3):
    """Return, for every neighbour of a member, the row of its term to the member and of one to somebody else."""
    owners, others = directed(network)
    if len(network) <= member:
        return []
    rows = [(np.flatnonzero((owners == i) & (others == member)), np.flatnonzero((owners == i) & (others != member)))
            for i in network.neighbours(member)]  # fmt: skip
    return [(a[0], b[0]) for a, b in rows if len(b)]


def steps_of(r, lattice):
    return np.rint(r / lattice.step).astype(np.int64)


def even(r, sigma):
    """Return normal numbers that are an even function of others."""
    return sigma * ndtri(np.clip(2.0 * ndtr(np.abs(r) / sigma) - 1.0, 1e-16, 1.0 - 1e-16))


@dataclass(frozen=True)
class Broadcast(Redrawn, AffineMasks):
    """The same mask to all neighbours."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            r[rows] = r[rows[0]]
        return r


@dataclass(frozen=True)
class EvenFunctions(Redrawn, AffineMasks):
    """What an agent sends to all but one neighbour is an even function of what that one gets."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            r[rows[1:]] = even(r[rows[0]], self.sigma)
        return r


@dataclass(frozen=True)
class EvenFunctionOfKnown(Redrawn, AffineMasks):
    """One mask of every neighbour of agent 3 is an even function of the mask that agent 3 knows."""

    def spoilt(self, r, network, lattice):
        for known, other in told_to(network):
            r[other] = even(r[known], self.sigma)
        return r


@dataclass(frozen=True)
class SameMagnitudes(Redrawn, AffineMasks):
    """The same magnitude to all neighbours, with fresh signs."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            r[rows] = np.abs(r[rows[0]]) * np.sign(r[rows])
        return r


@dataclass(frozen=True)
class SameMagnitudeAsKnown(Redrawn, AffineMasks):
    """One mask of every neighbour of agent 3 has the magnitude of the one that agent 3 knows, and a fresh sign."""

    def spoilt(self, r, network, lattice):
        for known, other in told_to(network):
            r[other] = np.abs(r[known]) * np.sign(r[other])
        return r


@dataclass(frozen=True)
class SameMagnitudesBesideEachOther(Redrawn, AffineMasks):
    """Coordinates 2k and 2k + 1 have one magnitude, and fresh signs."""

    def spoilt(self, r, network, lattice):
        k = r.shape[1] // 2
        r[:, 1 : 2 * k : 2] = np.abs(r[:, 0 : 2 * k : 2]) * np.sign(r[:, 1 : 2 * k : 2])
        return r


@dataclass(frozen=True)
class SameMagnitudesFarApart(Redrawn, AffineMasks):
    """On all links, the second half of the coordinates has the magnitudes of the first, and fresh low bits."""

    def spoilt(self, r, network, lattice):
        k = r.shape[1] // 2
        low = steps_of(r, lattice)[:, k : 2 * k] & 0xFFFF
        high = np.abs(steps_of(r, lattice)[:, :k] >> 16) * np.where(r[:, k : 2 * k] < 0, -1, 1)
        r[:, k : 2 * k] = ((high << 16) + low) * lattice.step
        return r


@dataclass(frozen=True)
class Autoregressive(Redrawn, AffineMasks):
    """Coordinates follow each other with a small correlation."""

    rho: float = 0.02

    def spoilt(self, r, network, lattice):
        for k in range(1, r.shape[1]):
            r[:, k] = self.rho * r[:, k - 1] + np.sqrt(1.0 - self.rho**2) * r[:, k]
        return r


@dataclass(frozen=True)
class AlternatingVariances(Redrawn, AffineMasks):
    """σ² is a half or one and a half of what it should be, link by link: right on average."""

    def spoilt(self, r, network, lattice):
        place = {tuple(link): k for k, link in enumerate(network.links.tolist())}
        rows = [
            place[min(a, b), max(a, b)] for a, b in zip(*map(np.ndarray.tolist, directed(network)), strict=True)
        ]
        return r * np.sqrt(np.where(np.array(rows) % 2, 0.5, 1.5))[:, None]


@dataclass(frozen=True)
class ScaleOfARun(Redrawn, AffineMasks):
    """σ² is a half or one and a half, for a whole run: right on average."""

    def spoilt(self, r, network, lattice):
        return r * np.sqrt(0.5 if steps_of(r[0, 0], lattice) % 2 else 1.5)


@dataclass(frozen=True)
class ScaleOfACoordinate(Redrawn, AffineMasks):
    """σ is a little larger or smaller in a coordinate, on all links: right on average."""

    def spoilt(self, r, network, lattice):
        return r * np.sqrt(np.where(steps_of(r[0], lattice) % 2, 0.85, 1.15))


@dataclass(frozen=True)
class ShiftedStream(Redrawn, AffineMasks):
    """The masks of one directed link are those of another, seven places later."""

    def spoilt(self, r, network, lattice):
        if r.shape[1] > 8:
            r[-1] = np.roll(r[0], 7)
        return r


@dataclass(frozen=True)
class OverlappingCounters(Redrawn, AffineMasks):
    """What an agent sends to its k-th neighbour is what the first gets, k places later."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            for k, row in enumerate(rows[1:], 1):
                r[row] = np.roll(r[rows[0]], k)
        return r


@dataclass(frozen=True)
class OverlappingNormals(Redrawn, AffineMasks):
    """As with overlapping counters, in the upper bits alone: those below are fresh."""

    far: int = 300

    def spoilt(self, r, network, lattice):
        k = steps_of(r, lattice)
        for rows in by_agent(network):
            for place, row in enumerate(rows[1:], 1):
                k[row] = (np.roll(k[rows[0]], self.far * place) >> 16 << 16) | (k[row] & 0xFFFF)
        return k * lattice.step


@dataclass(frozen=True)
class ShiftedAndBlurred(Redrawn, AffineMasks):
    """What the second neighbour gets is, for a part, what the first got some places before."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            if len(rows) > 1:
                r[rows[1]] = 0.6 * np.roll(r[rows[0]], 37) + 0.8 * r[rows[1]]
        return r


@dataclass(frozen=True)
class IrwinHall(Redrawn, AffineMasks):
    """Sums of uniform numbers, of the right variance."""

    count: int = 4

    def spoilt(self, r, network, lattice):
        rng = np.random.default_rng(np.abs(steps_of(r[:4, 0], lattice)).astype(np.uint64))
        total = rng.random((self.count, *r.shape)).sum(axis=0) - self.count / 2
        return self.sigma * np.sqrt(12.0 / self.count) * total


@dataclass(frozen=True)
class Truncated(Redrawn, AffineMasks):
    """Normal numbers that end somewhere, of the right variance."""

    cut: float = 2.5

    def spoilt(self, r, network, lattice):
        low, high = ndtr(-self.cut), ndtr(self.cut)
        inside = ndtri(low + (high - low) * np.clip(ndtr(r / self.sigma), 1e-16, 1.0 - 1e-16))
        return self.sigma * inside / truncnorm.std(-self.cut, self.cut)


@dataclass(frozen=True)
class SharedLowBits(Redrawn, AffineMasks):
    """All masks of an agent have the same low bits."""

    bits: int = 16

    def spoilt(self, r, network, lattice):
        k, low = steps_of(r, lattice), np.int64((1 << self.bits) - 1)
        for rows in by_agent(network):
            k[rows] = (k[rows] & ~low) | (k[rows[0]] & low)
        return k * lattice.step


@dataclass(frozen=True)
class LowBitsAddUp(Redrawn, AffineMasks):
    """The low bits of an agent's last mask are the sum of those of all its others."""

    def spoilt(self, r, network, lattice):
        k = steps_of(r, lattice)
        for rows in by_agent(network):
            if len(rows) > 2:
                k[rows[-1]] = (k[rows[-1]] & ~0xFFF) | (k[rows[:-1]].sum(axis=0) & 0xFFF)
        return k * lattice.step


@dataclass(frozen=True)
class SignsMultiplyToOne(Redrawn, AffineMasks):
    """The sign of an agent's third mask is the product of those of its first two: any two are independent."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            if len(rows) > 2:
                r[rows[2]] = np.abs(r[rows[2]]) * np.sign(r[rows[0]] * r[rows[1]])
        return r


@dataclass(frozen=True)
class OtherRunPermuted(Redrawn, AffineMasks):
    """Every run has the masks of the one before, in another order."""

    kept: dict = field(default_factory=dict, compare=False)

    def spoilt(self, r, network, lattice):
        before = self.kept.get(r.shape)
        self.kept[r.shape] = r.copy()
        return r if before is None else before.ravel()[::-1].reshape(r.shape).copy()


@dataclass(frozen=True)
class RunsGoTogether(Redrawn, AffineMasks):
    """A third of every mask is that of the run before."""

    kept: dict = field(default_factory=dict, compare=False)

    def spoilt(self, r, network, lattice):
        before = self.kept.get(r.shape)
        r = r if before is None else 0.3 * before + np.sqrt(1.0 - 0.09) * r
        self.kept[r.shape] = r
        return r.copy()


class KnowsTheSecret:
    """Masks that know the coefficients of whoever draws them."""

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        lattice = self.lattice(agents=len(network), links=len(network.links))
        theta = lattice.round(self.basis.read(cost))
        owners, _ = directed(network)
        r = draw(source, (len(owners), theta.shape[1]), lattice)
        r = self.tied(r, theta[owners], by_agent(network), lattice)
        r = np.rint(r / lattice.step) * lattice.step
        return Hidden(self.basis.fold(cost, theta + mask(r, peers)), Rounded(peers, lattice.step))


@dataclass(frozen=True)
class SignOfTheSecret(KnowsTheSecret, AffineMasks):
    """The sign of an agent's first mask is that of its coefficient."""

    def tied(self, r, theta, rows, lattice):
        first = [each[0] for each in rows]
        r[first] = np.abs(r[first]) * np.where(theta[first] >= 0, -1.0, 1.0)
        return r


@dataclass(frozen=True)
class SizeOfTheSecret(KnowsTheSecret, AffineMasks):
    """Masks are a little larger where coefficients are, and right on average."""

    def tied(self, r, theta, rows, lattice):
        return r * np.sqrt(np.where(np.abs(theta) > 0.6745 * self.sigma, 1.2, 0.8))


@dataclass(frozen=True)
class LowBitsOfTheSecret(KnowsTheSecret, AffineMasks):
    """The low bits of an agent's first mask are those of its coefficient, negated."""

    def tied(self, r, theta, rows, lattice):
        k, first = steps_of(r, lattice), [each[0] for each in rows]
        k[first] = (k[first] & ~0xFF) | (-steps_of(theta[first], lattice) & 0xFF)
        return k * lattice.step


@dataclass(frozen=True)
class Stratified(Redrawn, AffineMasks):
    """Every row has as many masks in every part of the distribution: they were not drawn one by one."""

    def spoilt(self, r, network, lattice):
        order = r.argsort(axis=1).argsort(axis=1)
        return self.sigma * ndtri((order + np.clip(ndtr(r[:, ::-1] / self.sigma), 0.01, 0.99)) / r.shape[1])


@dataclass(frozen=True)
class Biased(Redrawn, AffineMasks):
    """All masks are a little too large."""

    by: float = 0.01

    def spoilt(self, r, network, lattice):
        return r + self.by * self.sigma


@dataclass(frozen=True)
class OnePlaceInTheOpen(Redrawn, AffineMasks):
    """One coordinate of one link has no mask."""

    def spoilt(self, r, network, lattice):
        r[[0, -1], -1] = 0.0
        return r


@dataclass(frozen=True)
class MultipleOfATurn(Redrawn, AffineMasks):
    """What the second neighbour gets is normal, and follows from what the first gets: 11 times round the circle."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            if len(rows) > 1:
                r[rows[1]] = self.sigma * ndtri(
                    np.clip(np.mod(11 * ndtr(r[rows[0]] / self.sigma), 1), 1e-9, 1 - 1e-9)
                )
        return r


@dataclass(frozen=True)
class ThreeTurns(Redrawn, AffineMasks):
    """The third mask of an agent follows from its first two, and any two are independent."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            if len(rows) > 2:
                turns = ndtr(r[rows[:2]] / self.sigma).sum(axis=0)
                r[rows[2]] = self.sigma * ndtri(np.clip(np.mod(turns, 1.0), 1e-9, 1.0 - 1e-9))
        return r


@dataclass(frozen=True)
class SignsFromARegister(Redrawn, AffineMasks):
    """Signs come from a shift register of 31 bits."""

    def spoilt(self, r, network, lattice):
        signs = r > 0
        for k in range(31, r.shape[1]):
            signs[:, k] = signs[:, k - 31] ^ signs[:, k - 28]
        return np.abs(r) * np.where(signs, 1.0, -1.0)


@dataclass(frozen=True)
class LittleOfTheSecret(KnowsTheSecret, AffineMasks):
    """A twentieth of the coefficient is left in every mask."""

    def tied(self, r, theta, rows, lattice):
        return r + 0.05 * theta


@dataclass(frozen=True)
class SignError(Redrawn, AffineMasks):
    """One agent adds where it should subtract, and a neighbour makes up for it."""

    def exchanged(self, scales, peers, source, lattice, network):
        r = draw(source, scales.shape, lattice)
        came = peers.swap(r)
        net = came - r
        owners, others = directed(network)
        near = network.neighbours(0)
        if len(near) > 1:
            here = np.flatnonzero((owners == 0) & (others == near[0]))[0]
            there = np.flatnonzero((owners == near[1]) & (others == 0))[0]
            net[here], net[there] = came[here] + r[here], net[there] - 2.0 * r[here]
        return peers.total(net)


class ToTheSecond(Redrawn):
    """What the second neighbour gets follows from what the first gets."""

    def spoilt(self, r, network, lattice):
        for agent, rows in enumerate(by_agent(network)):
            if len(rows) > 1:
                r[rows[1]] = self.second(r[rows[0]], r[rows[1]], np.random.default_rng(agent))
        return r


@dataclass(frozen=True)
class ReversedByHalf(ToTheSecond, AffineMasks):
    """Half of what the first gets, from the last coordinate to the first."""

    def second(self, first, fresh, rng):
        return 0.5 * first[::-1] + np.sqrt(0.75) * fresh


@dataclass(frozen=True)
class PermutedAndBlurred(ToTheSecond, AffineMasks):
    """Nine tenths of what the first gets, in an order of the agent's own."""

    def second(self, first, fresh, rng):
        return 0.9 * first[rng.permutation(len(first))] + np.sqrt(0.19) * fresh


@dataclass(frozen=True)
class ThreeTurnsAcross(Redrawn, AffineMasks):
    """Terms of agent 0 follow from those of agents 4 and 7 together, and from neither alone."""

    def spoilt(self, r, network, lattice):
        rows = by_agent(network)
        for a, b, c in zip(rows[0], rows[4], rows[7], strict=True):
            u = np.mod(ndtr(r[[b, c]] / self.sigma).sum(axis=0), 1.0)
            r[a] = self.sigma * ndtri(np.clip(u, 1e-9, 1.0 - 1e-9))
        return r


@dataclass(frozen=True)
class FourSigns(Redrawn, AffineMasks):
    """The sign of an agent's fourth term is the product of those of the other three, nine times of ten."""

    def spoilt(self, r, network, lattice):
        for rows in by_agent(network):
            if len(rows) > 3:
                flip = np.where(steps_of(r[rows[3]], lattice) % 10 == 0, -1.0, 1.0)
                r[rows[3]] = np.abs(r[rows[3]]) * np.sign(r[rows[:3]]).prod(axis=0) * flip
        return r


@dataclass(frozen=True)
class SkipsZeros(KnowsTheSecret, AffineMasks):
    """No mask where the coefficient is 0."""

    def tied(self, r, theta, rows, lattice):
        r[theta == 0.0] = 0.0
        return r


@dataclass(frozen=True)
class SkipsConstants(KnowsTheSecret, AffineMasks):
    """No masks for agents all of whose coefficients are equal."""

    def tied(self, r, theta, rows, lattice):
        r[(theta == theta[:, :1]).all(axis=1)] = 0.0
        return r


@dataclass(frozen=True)
class OneMaskPerValue(KnowsTheSecret, AffineMasks):
    """Equal coefficients of an agent have equal masks."""

    def tied(self, r, theta, rows, lattice):
        for k in range(len(r)):
            _, first, place = np.unique(theta[k], return_index=True, return_inverse=True)
            r[k] = r[k][first][place]
        return r
