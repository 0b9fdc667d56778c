"""Which directions of a summed Hessian can be told from its rounding: one rule for all algorithms.

    x = B t,  H = Σ_i Bᵀ∇²h_i B               B public, the unit vectors at first
    D H D = U Λ Uᵀ,  W = B D U                D makes the diagonal one, so that units do not matter
    s_k = √(Σ ∇²h)_kk                         the sizes of the columns

A direction w of curvature λ = |Aw|² is known by the rows Aw, which rounding moves by about n = c ε Σ_k s_k |w_k|,
and through H, which was squared and added up. So

    lost      λ ≤ 4 (2 n √λ + n²)             the columns say the same, as far as the records' own digits go
    vague     λ not far above the rounding of H, and not lost: B = W Λ^(−½) shows it better in the next sum
    sharp     else

Squaring loses half of the digits: columns alike to 10⁻⁸ have curvatures of 10⁻¹⁶. In the basis W Λ^(−½) every party
multiplies its rows with B first and squares afterwards, and the other half comes back; two or three sums do what a
QR factorisation of all records would (CholeskyQR2; Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, ETNA 44, 2015; with
the shift of Fukaya, Kannan, Nakatsukasa, Yamamoto, Yanagisawa, SIAM J. Sci. Comput. 42(1), 2020). Costs that hold a
Hessian and no rows (`CostAlong.factored` is false) have lost those digits already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.algorithms.along import along
from tacit.errors import RangeError
from tacit.typing import Array, Cost, Peers, Rows

_EPS = float(np.finfo(float).eps)
_SURE = 4.0  # noises that a curvature must stand above
_CLEAR = 16.0  # and one vector of a basis, so that its rounding does not show in the others
SHARP = 1e-6  # the share of a curvature that may be rounding before another basis is tried
NOTICED = 1e-7  # a share of all that was gained which is worth a word, if it may be left to gain
_BASES = 8  # tried before what is still vague counts as lost


class Directions(NamedTuple):
    """The directions of a summed Hessian, by columns of W."""

    W: Array
    T: Array  # the same in coordinates of the basis
    curvature: Array
    noise: Array  # by how much each curvature may be off
    grain: Array  # n: by how much |Aw| may be off
    lost: Rows
    vague: Rows
    sizes: Array  # s

    @property
    def kept(self) -> Rows:
        """Those along which a step can be computed."""
        return np.asarray(~self.lost & (np.abs(self.curvature) > _SURE * self.noise))

    def slope(self, g: Array) -> Array:
        """Return the slopes along the directions, from the summed gradient in the basis."""
        return np.asarray(g @ self.T)

    def by(self, slope: Array) -> Array:
        """Return −wᵀg/λ along the directions kept, 0 along the others; downhill where the sum bends down."""
        return np.where(self.kept, -slope / np.where(self.kept, np.abs(self.curvature), 1.0), 0.0)

    def step(self, slope: Array) -> Array:
        """Return −Σ w wᵀg/λ over the directions kept."""
        kept = self.kept
        return np.asarray(self.W[:, kept] @ self.by(slope)[kept])

    def gain(self, slope: Array) -> float:
        """Return by how much a quadratic sum falls with that step: half of Newton's decrement."""
        kept = self.kept
        return float(0.5 * (slope[kept] ** 2 / np.abs(self.curvature[kept])).sum())

    def doubt(self) -> float:
        """Return the share of all that was gained which errors of the curvatures can have cost."""
        kept = self.kept
        return float(((2.0 * self.noise[kept] / self.curvature[kept]) ** 2).sum())

    @property
    def basis(self) -> Array:
        """The basis in which all of this is of one size: for the next sum."""
        size = np.maximum(np.abs(self.curvature), np.maximum(self.noise, np.finfo(float).tiny))
        return np.asarray(self.W / np.sqrt(size))

    def blur(self, width: float, resolution: float) -> Array:
        """Return by how much slopes may be off, where the rows' own slopes have the length *width*."""
        return np.asarray(self.grain * width + resolution * np.abs(self.T).sum(axis=0))

    def loose(self, fell: float, bound: float) -> Array:
        """Return `involved` where what rounding hides is worth a word beside what was gained; zeros elsewhere."""
        hidden = bound if self.lost.any() else self.doubt() * fell
        return self.involved() if hidden > NOTICED * fell else np.zeros(len(self.W))

    def involved(self) -> Array:
        """Return how much every unknown has to do with what is lost, or else is least sure, 1 at most."""
        among = self.lost if self.lost.any() else self.grain**2 >= 0.1 * np.abs(self.curvature)
        if not among.any():
            worst = self.grain**2 / np.maximum(np.abs(self.curvature), np.finfo(float).tiny)
            among = worst >= worst.max()
        share = np.abs(self.W[:, among]) * np.where(self.sizes > 0, self.sizes, 1.0)[:, None]
        return np.asarray((share / share.max(axis=0)).max(axis=1))


class Sight(NamedTuple):
    """How a summed Hessian is looked at: what all agents know, and agree on."""

    B: Array  # the basis
    sizes: Array  # s, as seen last
    bases: Array  # how many were tried; 0: the unknowns themselves
    factored: Array  # 1 if all costs are; not asked before a second basis is needed
    lowest: Array  # below the sum everywhere; infinite before it is asked, minus infinity where nobody knows

    @classmethod
    def plain(cls, dim: int) -> Sight:
        """Return the first look: at the unknowns themselves."""
        return cls(np.eye(dim), np.zeros(dim), np.array(0), np.array(1.0), np.array(np.inf))

    @property
    def is_plain(self) -> bool:
        """Whether the basis is that of the unknowns themselves."""
        return not self.bases

    def asked(self, cost: Cost, peers: Peers) -> Sight:
        """Return the sight with what all agents must agree on: two sums, once, when a second basis is used."""
        if self.is_plain or self.lowest < np.inf:
            return self
        shape = (*cost.affine.shape[:-1], 1)
        sides = along(cost)
        blunt = np.broadcast_to(1.0 - np.asarray(sides.factored, dtype=np.float64)[..., None], shape)
        lowest = np.broadcast_to(sides.lowest[..., None], shape)
        known = np.isfinite(lowest)
        counts = peers.sum(np.concatenate([blunt, 1.0 - known], axis=-1))
        least = -np.inf
        if np.rint(counts[1]) == 0:
            try:
                least = float(peers.sum(np.where(known, lowest, 0.0))[0])
            except RangeError:  # beyond the public bound: then nothing is known
                least = -np.inf
        return self._replace(factored=np.array(float(np.rint(counts[0]) == 0)), lowest=np.array(least))

    def directions(self, H: Array, resolution: float) -> Directions:
        """Return what can be seen of H, the sum in this basis, whose entries are known to *resolution*."""
        m = len(H)
        c = 8.0 + m
        sizes, diagonal = self._sizes(H), np.diag(H)
        faint = diagonal <= max(resolution, 0.0)
        if not self.is_plain:  # a basis vector whose own curvature is rounding would only blur the others
            faint |= diagonal <= (_CLEAR * c * _EPS * (sizes @ np.abs(self.B))) ** 2 + _SURE * resolution
        values, T = _eigen(H, faint)
        W = self.B @ T
        spread, size = sizes @ np.abs(W), np.abs(values)
        grain = c * _EPS * spread
        # secret sums round what is told, in this basis; masks of costs round coefficients, before it
        coarse = resolution * np.abs(T if self.factored else W).sum(axis=0) ** 2
        squared = c * _EPS * max(1.0, float(size.max(initial=0.0))) + coarse
        last = self.bases >= _BASES or not self.factored
        rows = 2.0 * grain * np.sqrt(size) + grain**2 if self.factored else c * _EPS * spread**2
        lost, noise = np.zeros(m, dtype=bool), squared
        if last or not self.is_plain:
            noise = squared + rows
            lost = (size <= (_SURE * grain) ** 2) | (size <= _SURE * coarse) | (last & (size <= _SURE * noise))
            lost[: int(faint.sum())] |= not self.is_plain
        vague = ~lost & (size * SHARP < squared) & (not last)
        lost |= ~vague & (size <= _SURE * noise)  # no third kind: what is left out of a step is said
        return Directions(W, T, values, np.asarray(noise), np.asarray(grain), lost, np.asarray(vague), sizes)

    def _sizes(self, H: Array) -> Array:
        if self.is_plain:
            return np.sqrt(np.maximum(np.diag(H), 0.0))
        back = self.back
        now = np.sqrt(np.maximum((back * (H @ back)).sum(axis=0), 0.0))
        return np.where(np.isfinite(now), now, self.sizes)

    @property
    def back(self) -> Array:
        """B⁻¹, computed in units in which all columns are of one size."""
        size = np.where(self.sizes > 0, self.sizes, 1.0)
        return np.asarray(np.linalg.inv(size[:, None] * self.B) * size)

    @property
    def again(self) -> Sight:
        """The unknowns themselves once more, for another place."""
        return self._replace(B=np.eye(len(self.sizes)), bases=np.array(0))

    def next(self, seen: Directions) -> Sight:
        """Return the sight for the next sum: in a better basis where something is vague, as it is otherwise."""
        if not seen.vague.any():
            return self._replace(sizes=seen.sizes)
        return self._replace(B=seen.basis, sizes=seen.sizes, bases=self.bases + 1)


def _eigen(H: Array, faint: Rows) -> tuple[Array, Array]:
    """Return eigenvalues and vectors of H, in units in which its diagonal is one; *faint* ones stay by themselves.

    The faint ones come first. Vectors are by columns, in the units of H.
    """
    m, clear = len(H), np.flatnonzero(~faint)
    values, T = np.zeros(m), np.zeros((m, m))
    count = m - len(clear)
    values[:count] = np.diag(H)[faint]
    T[np.flatnonzero(faint), np.arange(count)] = 1.0
    D = 1.0 / np.sqrt(np.diag(H)[clear])
    values[count:], U = np.linalg.eigh(H[np.ix_(clear, clear)] * D[:, None] * D)
    T[np.ix_(clear, np.arange(count, m))] = D[:, None] * U
    return values, T
