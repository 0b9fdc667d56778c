"""Noise where it is needed: a σ of its own for every link, at the same total.

    maximise  m_t(L_w),  L_w = Σ_e w_e (e_i − e_j)(e_i − e_j)ᵀ,   subject to  Σ w_e = |E|,  w ≥ 0

with w_e the square of the link's scale. μ₂(L_w) is concave in w (a minimum of linear functions), so is its minimum
over coalitions. It is smoothed by a soft minimum over eigenvalues that is sharpened step by step, and coalitions
join the minimum as they turn out worst. A barbell gains a factor of 2.6 by strengthening its bridge; on graphs
whose links are all alike nothing can be gained. Boyd, Diaconis, Parrilo, Xiao 2009; Fiedler 1990.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.certificates.worst import worst_coalition_indices
from tacit.errors import NotPrivateError
from tacit.later import later
from tacit.network import Network
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
    from scipy import special
else:
    nx = later("networkx")
    special = later("scipy.special")

_SHARPER = (8.0, 64.0, 512.0)
_COALITIONS = 12  # that may join the minimum
_FLOOR = 1e-3  # no link's share falls below this fraction of the average: every link keeps a mask worth the name


def allocate(graph: nx.Graph[Any] | Network, *, any: int = 0) -> dict[tuple[Any, Any], float]:
    """Return a scale for every link's σ, with mean square 1, that protects best against any coalition of that size.

    >>> import networkx as nx
    >>> scales = allocate(nx.barbell_graph(4, 0))
    >>> max(scales, key=scales.get)                    # the bridge
    (3, 4)
    """
    network = Network(graph)
    uniform = worst_coalition_indices(network, any)
    if uniform.mu == 0.0:
        raise NotPrivateError(
            f"a coalition of {any} cuts this graph apart, and no share of the noise helps; add links first."
        )
    coalitions = [uniform.coalition or ()]
    best, scales = uniform.mu, np.ones(len(network.links))
    theta = np.zeros(len(network.links))
    for _ in range(_COALITIONS):
        theta = _balanced(network, coalitions, uniform.mu, theta)
        trial = np.sqrt(_weights(special.softmax(theta)))
        worst = worst_coalition_indices(network, any, scales=trial)
        if worst.mu > best:
            best, scales = worst.mu, trial
        if worst.coalition is None or worst.coalition in coalitions:
            break
        coalitions.append(worst.coalition)
    names = [(network.agents[i], network.agents[j]) for i, j in network.links]
    return dict(zip(names, scales.tolist(), strict=True))


def _balanced(network: Network, coalitions: list[tuple[int, ...]], scale: float, theta: Array) -> Array:
    """Return the logarithms of shares that maximise the least μ₂ without any of *coalitions*, from *theta* on."""
    from scipy.optimize import minimize  # heavy, and nothing else here needs it

    count = len(network.links)
    kept = [np.setdiff1d(np.arange(len(network)), coalition) for coalition in coalitions]
    incidences = []
    for agents in kept:
        inside = np.isin(network.links, agents).all(axis=1)
        incidences.append((network.incidence.toarray()[agents][:, inside], inside))

    def negative(theta: Array, sharpness: float) -> tuple[float, Array]:
        share = special.softmax(theta)
        w = _weights(share)
        mus, pulls = [], []
        for B, inside in incidences:
            values, vectors = np.linalg.eigh((B * w[inside]) @ B.T)
            pull = np.zeros((len(values) - 1, count))
            pull[:, inside] = (vectors[:, 1:].T @ B) ** 2
            mus.append(values[1:])
            pulls.append(pull)
        exponents = -sharpness / scale * np.concatenate(mus)
        soft = -float(special.logsumexp(exponents)) * scale / sharpness
        slope = special.softmax(exponents) @ np.concatenate(pulls)
        by_theta = count * (1.0 - _FLOOR) * share * (slope - share @ slope)
        return -soft, -by_theta

    for sharpness in _SHARPER:
        optimum = minimize(negative, theta, args=(sharpness,), jac=True, method="L-BFGS-B", options={"maxiter": 60})
        theta = optimum.x
    return theta


def _weights(share: Array) -> Array:
    """Return w with Σ w = |E| from shares that add up to one."""
    return np.asarray(_FLOOR + (1.0 - _FLOOR) * len(share) * share)
