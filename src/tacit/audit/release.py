"""Phase 1 by itself, in bulk: what a mechanism releases about made-up secrets.

Every coordinate of a mask is drawn for itself, so one release of many coordinates is that many independent runs of
the shipped code: draws, lattice, exchange, folding. That is what makes twenty thousand games a matter of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.audit.public import Public
from tacit.audit.recorder import Overheard
from tacit.audit.view import Own, Published, View
from tacit.costs import Affine, Expansion, Functions, Linear, Quadratic, Quadratics, packed_size, stack, unpack
from tacit.errors import InputError
from tacit.masks import GaussianMasks, Keystreams, Mechanism, SumMasks, agent_keys
from tacit.network import Network, mixing_weights
from tacit.typing import Array

_SIDE = 60  # unknowns of a made-up quadratic cost: 1890 coefficients at a time
_MOST = 400  # releases where one has few coefficients


class Release(NamedTuple):
    """What a coalition holds of secrets of one number per agent and coordinate."""

    views: list[View]
    public: Public
    scales: Array
    """σ of every coordinate as a multiple of public.sigma."""
    secrets: Array
    """Known to the simulation alone, (n, coordinates)."""


class Keys:
    """Fresh keys for every release; reproducible from a seed, where one is given."""

    def __init__(self, seed: int | None = None) -> None:
        self._seed, self._used = seed, 0

    def source(self, network: Network) -> Keystreams:
        """Return random bits that no release had before."""
        self._used += 1
        seed = None if self._seed is None else 1_000_003 * self._seed + self._used
        return Keystreams(agent_keys(len(network), seed=seed), network.degrees)


def release(masks: Mechanism, network: Network, secrets: Array, coalition: Sequence[int], *, keys: Keys) -> Release:
    """Run phase 1 on secrets, (n, coordinates), and return what the coalition sees in the worst case."""
    if isinstance(masks, SumMasks):
        return _summed(masks, network, secrets, coalition, keys)
    if not isinstance(masks, GaussianMasks):
        raise InputError(f"the audit knows Gaussian masks and secret sums, and no {type(masks).__name__}.")
    width = _width(masks)
    views, kept, scales = [], [], []
    for start in range(0, min(secrets.shape[1], _MOST * (width or secrets.shape[1])), width or secrets.shape[1]):
        part = secrets[:, start : start + (width or secrets.shape[1])]
        if width and part.shape[1] < width:
            break
        cost = _cost(masks, part)
        peers = Overheard(network, "metropolis", coalition)
        hidden = masks.hide(cost, peers, keys.source(network), network=network)
        views.append(_view(coalition, peers, Published(gradients=masks.basis.read(hidden.cost)), part.shape[1]))
        kept.append(part)
        scales.append(masks.basis.scales(hidden.cost.dim))
    public = _public(masks, network, kept[0].shape[1], sigma=masks.sigma)
    return Release(views, public, np.concatenate(scales), np.concatenate(kept, axis=1))


def scales_of(masks: Mechanism, count: int) -> Array:
    """Return σ of every coordinate of a release of about *count* coordinates, as multiples of sigma."""
    width = _width(masks) if isinstance(masks, GaussianMasks) else 0
    if not width or not isinstance(masks, GaussianMasks):
        return np.ones(count)
    dim = _SIDE if isinstance(masks.basis, Quadratics) else 1
    return np.tile(masks.basis.scales(dim), max(1, min(count // width, _MOST)))


def _summed(masks: SumMasks, network: Network, secrets: Array, coalition: Sequence[int], keys: Keys) -> Release:
    words: list[Any] = []
    peers = Overheard(network, "metropolis", coalition, words=words)
    hidden = masks.hide(None, peers, keys.source(network), network=network)
    hidden.peers.sum(secrets)
    view = _view(coalition, peers, Published(words=words), secrets.shape[1])
    step = masks.fixed_point(agents=len(network)).step
    public = _public(masks, network, secrets.shape[1], sigma=None, step=step)
    return Release([view], public, np.ones(secrets.shape[1]), secrets)


def _width(masks: GaussianMasks) -> int:
    """Return how many coefficients a cost has; 0 where any number will do."""
    if isinstance(masks.basis, Linear):
        return 0
    if isinstance(masks.basis, Quadratics):
        return packed_size(_SIDE) + _SIDE
    return len(masks.basis.scales(1))


def _cost(masks: GaussianMasks, secrets: Array) -> Any:
    if isinstance(masks.basis, Linear):
        return stack([Affine(row) for row in secrets])
    if isinstance(masks.basis, Quadratics):
        size = packed_size(_SIDE)
        return Quadratic.of(unpack(secrets[:, :size], _SIDE), secrets[:, size:])
    if isinstance(masks.basis, Functions):
        return stack([Expansion(masks.basis, row) for row in secrets])
    raise InputError(f"the audit has no made-up costs for the basis {type(masks.basis).__name__}.")


def _view(coalition: Sequence[int], peers: Overheard, published: Published, width: int) -> View:
    nothing = Own(gradients=np.zeros((len(coalition), width)), curvatures=np.zeros((0, 0, 0)))
    members = np.array(sorted(coalition), dtype=np.int64)
    return View(coalition=members, own=nothing, exchanges=peers.exchanges, published=published)


def _public(
    masks: Mechanism, network: Network, width: int, *, sigma: float | None, step: float | None = None
) -> Public:
    scales = None
    if isinstance(masks, GaussianMasks):
        step = masks.lattice(agents=len(network), links=len(network.links)).step
        if masks.link_scales:
            given = {frozenset(pair): scale for pair, scale in masks.scale_of.items()}
            names = network.agents
            scales = np.array([given.get(frozenset((names[i], names[j])), 1.0) for i, j in network.links])
    return Public(
        links=network.links,
        weights=mixing_weights(network).toarray(),
        algorithm="direct",
        settings={},
        start=np.zeros(width),
        point=np.zeros(width),
        mechanism="sums" if sigma is None else "coefficients",
        sigma=sigma,
        link_scales=scales,
        step=step or 0.0,
    )
