"""Secret sums: uniform masks modulo 2⁶⁴, fresh for every sum.

    k_i  = rint(v_i / step)                      fixed point
    r_ij uniform on 0 … 2⁶⁴ − 1, sent to j
    a_i  = Σ_j (r_ji − r_ij)  modulo 2⁶⁴         eq. (4)
    Σ k_i = Σ (k_i + a_i)     modulo 2⁶⁴         only the right-hand side travels

Given what the coalition knows, the k_i + a_i of the honest agents are uniform among all words with the same sum
over each component of the honest graph: the coalition learns those sums and nothing else, whatever it can compute.
There is no σ and no ε; only connectivity matters. (Abbe, Khandani, Lo, CDC 2012; Gupta, Katz, Chopra, arXiv
1809.01794.)

That holds for one use of each mask. Two sums under the same masks would differ by exactly the difference of what
was added up; so masks come from a keystream that only runs forward, and nothing keeps them. An agent that goes on
from an older state runs there again: its keystream turns with every total, and another total means other masks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tacit.costs.pieces import Piece, Pieces
from tacit.costs.stack import groups
from tacit.coverage import GENERAL, Coverage, MaskKind
from tacit.differential import DifferentialPrivacy, share_out
from tacit.errors import MaskError, ProtectionError, ProtocolError, RangeError
from tacit.masks.coefficients import AnyCost
from tacit.masks.fixed_point import FixedPoint, OneWord, Ring
from tacit.masks.mechanism import EVERY_ROW, Hidden, Manner
from tacit.masks.pairing import Pairing, Way, pair, refuse_unknown
from tacit.masks.randomness import Source
from tacit.masks.shares import ShareKeys, limits_of, whole_steps
from tacit.masks.terms import Terms
from tacit.network import Network
from tacit.typing import Array, Numbers, Peers, Rows, Words

BOUND = 2.0**20
_DRAWN = 1 << 18  # words of all links that a simulation of many agents draws at a time
_BELOW = 48  # bits of a noise share
_PIECE = 1000  # numbers: few enough for the cache, and rows out of step with its pages of 4 KiB


@dataclass(frozen=True, slots=True)
class SumMasks:
    """Hide whole costs of any kind: agents learn sums over the network, and nothing else.

    *bound* is a public limit on every number that is added up (entries of gradients and Hessians, values), agreed
    by all agents beforehand; sums are then exact to n·step/2, where the step follows from the bound. *words* = 2
    takes 128 bits instead of 64, for bounds so large that the step would be too coarse. *seed* makes the masks
    reproducible for simulations: the run is then NOT PRIVATE, and says so. *pairing* says how the ends of a link
    come to know its random terms (`tacit.masks.pairing`); "seeds" saves their messages and is computational.
    *answer* promises that the sums, and the answer with them, are differentially private: every agent adds a noise
    share of its own, and numbers beyond the bound are cut off, not complained about.
    """

    bound: float = BOUND
    words: int = 1
    seed: int | None = None
    pairing: Way = "both"
    answer: DifferentialPrivacy | None = None

    def __post_init__(self) -> None:
        refuse_unknown(self.pairing)
        if self.answer is not None and self.words != 1:
            raise MaskError("words = 2 does not go with answer: shares are drawn for numbers of one word.")
        self.fixed_point(agents=2)  # refuse an impossible bound where it is written

    def fixed_point(self, *, agents: int) -> FixedPoint:
        """Return the fixed point for so many agents."""
        return FixedPoint.fit(bound=self.bound, agents=agents, words=self.words)

    @property
    def kind(self) -> MaskKind:
        """Secret sums."""
        return "sums"

    @property
    def basis(self) -> None:
        """None: what is hidden is a sum's, and no coefficient."""

    @property
    def sigma(self) -> None:
        """None: the masks are uniform."""

    @property
    def scale_of(self) -> dict[tuple[Any, Any], float]:
        """None has one: uniform masks are equally wide on every link."""
        return {}

    @property
    def fresh_each_sum(self) -> bool:
        """True."""
        return True

    def coverage(self, cost: AnyCost) -> Coverage:
        """Return that all is hidden."""
        return GENERAL[self.kind]

    def terms(self, network: Network, dim: int) -> Terms:
        """Return the fixed point's numbers; every sum is off by up to n·step/2."""
        fixed = self.fixed_point(agents=len(network))
        noise = 16.0 * float(np.sqrt(dim)) * fixed.error / len(network)
        return Terms(bound=fixed.bound, step=fixed.step, noise=noise, words=self.words, sum_error=fixed.error)

    def refuses(self, algorithm: Manner, cost: AnyCost | None = None) -> str | None:
        """Refuse gossip, which sends what is not a sum, and exact sums where the answer is to be noisy."""
        if not algorithm.sums:
            return (
                "it gossips: every message is an agent's own estimate, not a sum, and uniform masks cannot stay on "
                "it; use 'direct', 'newton', 'lbfgs' or 'fista', or affine masks."
            )
        if self.answer is not None and not algorithm.bounded:
            return (
                "it takes as many sums as the data ask for, and what one record does to them has no bound: noise "
                "that is fixed beforehand would promise nothing; use 'direct' for least squares, or 'newton'."
            )
        return None

    def bends(self, network: Network, dim: int) -> float:
        """Return 0: the costs stay as they are."""
        return 0.0

    def hide(self, cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW) -> Hidden:
        """Return the cost as it is, and peers that can do nothing but add up in secret."""
        links, fixed = pair(self.pairing, source, peers), self.fixed_point(agents=len(network))
        if self.answer is None:
            return Hidden(cost, SecretSums(peers, source, fixed, links))
        if any(group.cost.kept != limits_of(self.answer) for group in groups(cost)):
            raise MaskError("costs are clipped to the promise's limits before they are added up; solve does so.")
        share = share_out(network, self.answer).share
        if 16.0 * share > fixed.bound:
            raise MaskError(
                f"bound = {fixed.bound:g} is too small beside noise shares of {share:.3g}: sums would wrap round; "
                f"use a public bound of at least {16.0 * share:.3g}."
            )
        coarse = math.ceil(math.log2(share)) - _BELOW  # steps need not be finer than that beside noise
        fixed = replace(fixed, exponent=max(fixed.exponent, coarse))
        return Hidden(cost, NoisySums(peers, source, fixed, links, share=share, sums=2 + self.answer.sums))


class SecretSums:
    """`Peers` that add up in secret, and refuse everything else."""

    def __init__(
        self, peers: Peers, source: Source, fixed_point: FixedPoint, pairing: Pairing | None = None
    ) -> None:
        self._peers, self._source, self._fixed_point = peers, source, fixed_point
        self._pairing = pairing or pair("both", source, peers)
        self.degree, self.links, self.first = peers.degree, peers.links, peers.first
        self.resolution = fixed_point.error

    def sum(self, v: Any, add: Callable[[Any, Any], Any] = np.add) -> Any:
        """Return Σ_i v_i, to n·step/2; raise at all agents alike if anybody's number exceeds the bound."""
        if add is not np.add:
            raise ProtectionError("secret sums add up, and nothing else: masks do not cancel in another operation.")
        fixed, ring = self._fixed_point, self._fixed_point.ring
        if isinstance(v, Pieces):
            words: Any = self._masked_pieces(v)
        else:
            fits = fixed.fits(v)[..., None]
            words = self._masked(v if fits.all() else np.where(fits, v, 0.0), np.where(fits, 0.0, fixed.step))
            if not fits.all():
                self._spoil(words, fits)
        total = self._peers.sum(words, add=ring.add)
        self._source.turn(total.tobytes())
        total = fixed.decode(total)
        if total[-1] != 0.0:
            count = round(float(total[-1]) / fixed.step)
            raise RangeError(
                f"{count} agent(s) hold a number beyond the public bound of {fixed.bound:g}, or none at all; agree "
                "on a larger bound, with two words a number if steps become too coarse, or use smaller units."
            )
        return total[:-1]

    def _masked_pieces(self, v: Pieces) -> Pieces:
        """Return the masked words of what is made piece by piece; to be made once, as masks are drawn then."""
        fixed, each = self._fixed_point, self._fixed_point.ring.words
        fits = np.logical_and.reduce([fixed.fits(piece) for piece in v.pieces()])[..., None]
        numbers, begun = v.pieces(), iter([False])
        step = max(min(_PIECE, _DRAWN // (self._peers.links * each)), 1)

        def made(part: Array) -> Words:
            return masked(fixed.encode(part), self._pairing, self._peers, fixed.ring, more=next(begun, True))

        def piece() -> Words:
            part = next(numbers)
            cut = (part[..., start : start + step] for start in range(0, part.shape[-1], step))
            if fits.all():
                return np.concatenate([made(some) for some in cut], axis=-1)
            words = np.concatenate([made(np.where(fits, some, 0.0)) for some in cut], axis=-1)
            return np.where(fits, words, self._noise(words.shape[-1]))

        pieces = [Piece(each * width, piece) for width in v.widths]
        return Pieces(
            v.shape[0], [*pieces, Piece(each, lambda: made(np.where(fits, 0.0, fixed.step)))], dtype=np.uint64
        )

    def _spoil(self, words: Words, fits: NDArray[np.bool_]) -> None:
        """Put noise in the place of all words but the complaint, where an agent cannot take part.

        The sum is then noise to everybody. With zeros it would be the sum of the others, and the next one, under a
        larger bound, would tell what was missing.
        """
        width = words.shape[-1] - self._fixed_point.ring.words
        words[..., :width] = np.where(fits, words[..., :width], self._noise(width))

    def _noise(self, width: int) -> Words:
        return self._peers.total(self._source.words(self._peers.links * width).reshape(self._peers.links, width))

    def _masked(self, v: Array, complaint: Array) -> Words:
        """Return v and the complaint as masked words, piece by piece: a piece stays in the cache."""
        fixed, width = self._fixed_point, v.shape[-1] + 1
        each = fixed.ring.words
        out = np.empty((*v.shape[:-1], each * width), dtype=np.uint64)
        for start in range(0, width, _PIECE):
            part = v[..., start : start + _PIECE]
            if start + _PIECE >= width:
                part = np.concatenate([part, complaint], axis=-1)
            words = masked(fixed.encode(part), self._pairing, self._peers, fixed.ring, more=start > 0)
            out[..., each * start : each * start + words.shape[-1]] = words
        return out

    def mix(self, x: Array) -> Array:
        """Refuse."""
        self._refuse("mix")

    def gather(self, x: Array) -> Array:
        """Refuse."""
        self._refuse("gather")

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Refuse."""
        self._refuse("swap")

    def total(self, r: Numbers) -> Numbers:
        """Refuse."""
        self._refuse("total")

    def _refuse(self, verb: str) -> NoReturn:
        raise ProtectionError(f"secret sums hide sums and nothing else: peers.{verb} would send a number as it is.")

    def __repr__(self) -> str:
        return "SecretSums(…)"


class NoisySums(SecretSums):
    """`Peers` that add up in secret with a noise share from everybody, a number of times that is fixed beforehand.

    What is added up is scaled by the algorithm so that one record moves it by 1 at most, or by its part of a
    promise that several sums share. A number beyond the public bound is cut off there, which moves two worlds no
    farther apart: whoever complained would say, without any noise, that a record is unusual.
    """

    def __init__(
        self, peers: Peers, source: Source, fixed_point: FixedPoint, pairing: Pairing, *, share: float, sums: int
    ) -> None:
        super().__init__(peers, source, fixed_point, pairing)
        self._share, self._left = share, sums

    def sum(self, v: Any, add: Callable[[Any, Any], Any] = np.add) -> Any:
        """Return Σ_i (v_i + η_i), with shares that belong to these numbers at this place of the run."""
        if add is not np.add:
            raise ProtectionError("secret sums add up, and nothing else: masks do not cancel in another operation.")
        if not self._left:
            raise ProtectionError("all the sums that were promised have been taken; one more would tell more.")
        self._left -= 1
        fixed, source = self._fixed_point, self._source
        cut = np.clip(np.nan_to_num(np.asarray(v, dtype=np.float64)), -fixed.bound, fixed.bound)
        words = fixed.encode(cut)
        keys = ShareKeys.drawn(len(np.atleast_2d(cut)), source, self._peers)
        words += keys.draw(b"a sum", words, whole_steps(self._share, fixed.step, cut.shape[-1])).view(np.uint64)
        total = self._peers.sum(masked(words, self._pairing, self._peers, fixed.ring), add=fixed.ring.add)
        source.turn(total.tobytes())
        return fixed.decode(total)

    def __repr__(self) -> str:
        return "NoisySums(…)"


def masked(words: Words, pairing: Pairing, peers: Peers, ring: Ring, *, more: bool = False) -> Words:
    """Return words + a, with masks a that nobody has seen before and nobody will see again."""
    width = words.shape[-1]
    went, came = pairing.terms(lambda s: s.words(peers.links * width).reshape(peers.links, width), more=more)
    return ring.add(words, ring.net(went, came, peers))


def refuse_uncancelled(masks: Words, peers: Peers, source: Source) -> None:
    """Refuse masks, in whole steps, that do not add up to zero over the network; they are added up in secret.

    It finds accidents: a link whose ends hold different terms, a state that was mixed up. A liar who uses other
    masks than it has exchanged can as well lie in this sum. Where they cancel the sum tells nothing, being known.
    """
    total = peers.sum(masked(masks, pair("both", source, peers), peers, OneWord))
    if total.any():
        raise ProtocolError(
            "the masks of all members do not cancel: the two ends of some link hold different terms, and the "
            "answer would be wrong. Nothing was published; begin a new run."
        )
