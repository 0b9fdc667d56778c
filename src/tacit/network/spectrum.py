"""The eigenvalues that decide privacy (μ₂ of L) and speed (λ₂ and λₙ of W).

Small matrices are decomposed whole. Large ones go to Lanczos iterations with a residual check:
a computed pair (λ, v) is accepted only if |Mv − λv| ≤ 1e-8·|M|, which puts a true eigenvalue
within that distance of λ. Where plain Lanczos is too slow (long rings and grids), the shifted
matrix is factorised instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.errors import TacitError
from tacit.later import later
from tacit.typing import Array

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = later("scipy.sparse")

_DENSE = 1000  # up to here a full decomposition is fast and needs no check
_RESIDUAL = 1e-8


class Spectrum(NamedTuple):
    """The eigenvalues of W next to the eigenvalue 1: its second largest and its smallest."""

    second: float
    smallest: float


def algebraic_connectivity(L: sp.csr_array) -> float:
    """Return μ₂(L) of a connected graph."""
    n = L.shape[0]
    if n < 2:
        return 0.0
    if n <= _DENSE:
        return float(np.linalg.eigvalsh(L.toarray())[1])
    return _smallest_beside_ones(L)


def mixing_spectrum(W: sp.csr_array) -> Spectrum:
    """Return λ₂ and λₙ of mixing weights W.

    Where the iteration for λₙ is too slow, its lower bound 2·min w_ii − 1 (Gershgorin) stands in, which keeps
    every step size on the safe side.
    """
    n = W.shape[0]
    if n <= _DENSE:
        values = np.linalg.eigvalsh(W.toarray())
        return Spectrum(second=float(values[-2]), smallest=float(values[0]))
    import scipy.sparse.linalg as spla  # heavy, and small networks go without

    identity = sp.eye_array(n, format="csr")
    second = 1.0 - _smallest_beside_ones(sp.csr_array(identity - W))
    try:
        smallest = _extreme(W.__matmul__, n, which="SA", size=1.0)
    except spla.ArpackNoConvergence:
        smallest = float(2.0 * W.diagonal().min() - 1.0)
    return Spectrum(second=second, smallest=smallest)


def _smallest_beside_ones(M: sp.csr_array) -> float:
    """Return the smallest eigenvalue of a positive semidefinite M with M·1 = 0, apart from that 0."""
    import scipy.sparse.linalg as spla

    n = M.shape[0]
    lift = float(abs(M).sum(axis=1).max())  # an upper bound of every eigenvalue

    def lifted(v: Array) -> Array:
        v = np.ravel(v)
        return np.asarray(M @ v) + lift * v.mean()

    try:
        return _extreme(lifted, n, which="SA", size=lift)
    except spla.ArpackNoConvergence:
        shift = 1e-10 * lift
        factor = spla.splu(sp.csc_array(M + shift * sp.eye_array(n)))

        def inverse(v: Array) -> Array:
            v = np.ravel(v)
            return np.asarray(factor.solve(v - v.mean()))

        return 1.0 / _extreme(inverse, n, which="LA", size=0.0) - shift


def _extreme(product: Callable[[Array], Array], n: int, *, which: str, size: float) -> float:
    """Return one extreme eigenvalue of the symmetric matrix behind *product*, checked by its residual."""
    import scipy.sparse.linalg as spla

    M = spla.LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)  # public: it only starts the iteration
    values, vectors = spla.eigsh(M, k=1, which=which, v0=start, tol=1e-11, maxiter=60, ncv=64)
    value, vector = float(values[0]), vectors[:, 0]
    residual = float(np.linalg.norm(product(vector) - value * vector))
    if residual > _RESIDUAL * max(size, abs(value)):
        raise TacitError(f"an eigenvalue of the network came out with a residual of {residual:.1e}.")
    return value
