"""Is μ₂(G − C) at least θ? One eigendecomposition of L answers it for any number of coalitions.

Take θ < μ₂(G) and, over the eigenpairs (μ_k, u_k) of L but the constant one,

    M = Σ_{k≥2} u_k u_kᵀ / (μ_k − θ)
    Q_C = B_Cᵀ M B_C          B_C: incidence columns of the links that touch C

Then  μ₂(G − C) ≥ θ  ⟺  Λ(C) = λ_{|C|+1}(Q_C) ≤ 1,  counting eigenvalues from the largest. (Haynsworth
inertia additivity on the matrix with blocks L − θI, B_C, B_Cᵀ, I: deleting the links of C subtracts
B_C B_Cᵀ from L and leaves |C| isolated zeros beside the constant vector.) Q_C has the size of the
coalition's links, whatever n is.

Bounds that let whole families of coalitions be skipped, with s_v = Λ({v}), V_v the eigenvectors of Q_{v}
but the top one, and c_uv = |V_uᵀ Q_uv V_v|:

    Λ(C) ≤ λ_max(S_C) ≤ max_{u∈C} (s_u + Σ_{v∈C∖u} c_uv)          S has s on its diagonal and c beside it

by Courant–Fischer, since the |C| top vectors span a space of dimension |C|. All of it holds for weighted
links, by scaling their columns of B.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.later import later
from tacit.network import Topology
from tacit.typing import Array, Indices

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = later("scipy.sparse")

_BLOCK = 96  # agents whose couplings are computed at a time
_SHARPENED = 48  # couplings per agent that are worth a spectral norm


class Bounds(NamedTuple):
    """The matrix S at one threshold: s_v, and c_uv with zeros on the diagonal."""

    single: Array
    coupling: Array

    def row_sums(self, t: int) -> Array:
        """Return for every agent u the largest s_u + Σ c_uv over the coalitions of t that contain it."""
        if t == 1:
            return self.single
        most = np.partition(self.coupling, -(t - 1), axis=1)[:, -(t - 1) :]
        return self.single + most.sum(axis=1)


class Spokes:
    """Every agent's links, as padded arrays: link k of agent v goes to `far[v, k]` and scales by `scale[v, k]`."""

    def __init__(self, topology: Topology, scales: Array | None) -> None:
        n, most = len(topology), int(topology.degrees.max())
        self.far = np.tile(np.arange(n)[:, None], (1, most))
        self.scale = np.zeros((n, most))
        self.link = np.full((n, most), -1)
        filled = np.zeros(n, dtype=int)
        widths = np.ones(len(topology.links)) if scales is None else scales
        for number, ((i, j), width) in enumerate(zip(topology.links, widths, strict=True)):
            for near, far in ((i, j), (j, i)):
                k = filled[near]
                self.far[near, k], self.scale[near, k], self.link[near, k] = far, width, number
                filled[near] += 1


class Threshold:
    """The questions above for one graph, at any θ below μ₂."""

    def __init__(self, topology: Topology, scales: Array | None = None) -> None:
        self.n = len(topology)
        self.spokes = Spokes(topology, scales)
        self.laplacian = topology.scaled_laplacian(scales)

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.laplacian.toarray())
        return values[1:], vectors[:, 1:]

    @cached_property
    def mu(self) -> float:
        """μ₂(G)."""
        return float(self._eigen[0][0])

    def resolvent(self, theta: float) -> Array:
        """Return M."""
        values, vectors = self._eigen
        return (vectors / (values - theta)) @ vectors.T

    def resolvent_by_inversion(self, theta: float) -> Array:
        """Return M by one Cholesky factorisation: for graphs too large to decompose. Needs θ < μ₂."""
        from scipy.linalg.lapack import dpotrf, dpotri  # heavy, and small graphs are decomposed

        n, lift = self.n, float(self.laplacian.diagonal().max())
        matrix = self.laplacian.toarray(order="F")
        matrix[np.diag_indices(n)] -= theta
        matrix += (lift + theta) / n
        factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("theta is not below the algebraic connectivity.")
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        inverse = np.tril(inverse)
        inverse += np.tril(inverse, -1).T
        inverse -= 1.0 / (lift * n)
        return inverse

    def singles(self, M: Array) -> tuple[Array, Array]:
        """Return s_v of every agent, and the eigenvectors V_v, (n, Δ, Δ − 1)."""
        far, scale = self.spokes.far, self.spokes.scale
        near = np.arange(self.n)
        across = M[near[:, None], far]
        Q = (
            M[near, near][:, None, None]
            - across[:, :, None]
            - across[:, None, :]
            + M[far[:, :, None], far[:, None, :]]
        )
        Q *= scale[:, :, None] * scale[:, None, :]
        values, vectors = np.linalg.eigh(Q)
        second = values[:, -2] if values.shape[1] > 1 else np.zeros(self.n)
        return np.maximum(second, 0.0), vectors[:, :, :-1]

    def bounds(self, theta: float, *, coupled: bool = True) -> Bounds:
        """Return S at θ; without the couplings where single agents are all that is asked about."""
        M = self.resolvent(theta)
        single, vectors = self.singles(M)
        if not coupled:
            return Bounds(single, np.zeros((self.n, self.n)))
        T = self.projected_columns(vectors)
        Y = T @ M
        width = vectors.shape[2]
        coupling = np.zeros((self.n, self.n))
        if width:
            for start in range(0, self.n, _BLOCK):
                stop = min(start + _BLOCK, self.n)
                # V_vᵀB_vᵀ M B_u V_u for u in the block and v from there on: the matrix is symmetric
                block = T[start * width :] @ Y[start * width : stop * width].T
                block = block.reshape(self.n - start, width, stop - start, width)
                coupling[start:stop, start:] = np.sqrt(np.einsum("viuj,viuj->uv", block, block))
            coupling = np.maximum(coupling, coupling.T)
            self._sharpen(coupling, Y.reshape(self.n, width, self.n), vectors)
        np.fill_diagonal(coupling, 0.0)
        return Bounds(single, coupling)

    def _sharpen(self, coupling: Array, Y: Array, vectors: Array) -> None:
        """Replace the Frobenius norms of every agent's largest couplings by spectral norms, in place."""
        keep = min(_SHARPENED, self.n - 1)
        np.fill_diagonal(coupling, 0.0)
        u = np.repeat(np.arange(self.n), keep)
        v = np.argpartition(-coupling, keep - 1, axis=1)[:, :keep].ravel()
        rows = np.arange(Y.shape[1])[None, :, None]
        across = (
            Y[u[:, None, None], rows, v[:, None, None]] - Y[u[:, None, None], rows, self.spokes.far[v][:, None, :]]
        )
        block = (across * self.spokes.scale[v][:, None, :]) @ vectors[v]
        sharp = np.sqrt(np.linalg.eigvalsh(block @ np.matrix_transpose(block))[:, -1] * (1 + 1e-12))
        coupling[u, v] = np.minimum(coupling[u, v], sharp)
        np.minimum(coupling, coupling.T, out=coupling)

    def projected_columns(self, vectors: Array) -> sp.csr_array:
        """Return the rows V_vᵀB_vᵀ of all agents, (n(Δ − 1), n) sparse."""
        n, _, width = vectors.shape
        scaled = vectors * self.spokes.scale[:, :, None]  # (n, Δ, Δ − 1)
        rows = np.arange(n * width).reshape(n, 1, width)
        near = np.broadcast_to(np.arange(n)[:, None, None], scaled.shape)
        far = np.broadcast_to(self.spokes.far[:, :, None], scaled.shape)
        where = np.broadcast_to(rows, scaled.shape)
        data = np.concatenate([scaled.ravel(), -scaled.ravel()])
        places = (np.concatenate([where.ravel(), where.ravel()]), np.concatenate([near.ravel(), far.ravel()]))
        return sp.csr_array((data, places), shape=(n * width, n))

    def peaks(self, M: Array, coalitions: Indices) -> Array:
        """Return Λ(C) for every row of *coalitions*, (K, t)."""
        near, far, scale = self._links(coalitions)
        Q = (
            M[near[:, :, None], near[:, None, :]]
            - M[near[:, :, None], far[:, None, :]]
            - M[far[:, :, None], near[:, None, :]]
            + M[far[:, :, None], far[:, None, :]]
        )
        Q *= scale[:, :, None] * scale[:, None, :]
        t = coalitions.shape[1]
        values = np.linalg.eigvalsh(Q)
        return np.asarray(values[:, -(t + 1)]) if values.shape[1] > t else np.zeros(len(coalitions))

    def connectivity_without(self, coalition: Indices) -> float:
        """Return μ₂(G − C) by bisection on Λ(C) = 1, to rounding."""
        near, far, scale = (part[0] for part in self._links(coalition[None, :]))
        values, vectors = self._eigen
        columns = (vectors[near] - vectors[far]) * scale[:, None]
        t = len(coalition)

        def exceeds(theta: float) -> bool:
            Q = (columns / (values - theta)) @ columns.T
            peaks = np.linalg.eigvalsh(Q)
            return bool(len(peaks) > t and peaks[-(t + 1)] > 1.0)

        low, high = 0.0, self.mu
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if exceeds(middle) else (middle, high)
            if high - low <= 1e-12 * self.mu:
                break
        return (low + high) / 2

    def _links(self, coalitions: Indices) -> tuple[Indices, Indices, Array]:
        """Return near end, far end and scale of all links that touch each coalition; no link counts twice."""
        K = len(coalitions)
        far = self.spokes.far[coalitions].reshape(K, -1)
        link = self.spokes.link[coalitions].reshape(K, -1)
        scale = self.spokes.scale[coalitions].reshape(K, -1)
        near = np.repeat(coalitions, self.spokes.far.shape[1], axis=1)
        # a link between two members appears at both: keep it at the smaller index
        inside = (far[:, :, None] == coalitions[:, None, :]).any(axis=2) & (link >= 0)
        return near, far, np.where(inside & (far < near), 0.0, scale)
