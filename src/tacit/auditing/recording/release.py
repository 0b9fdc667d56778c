"""Phase 1 by itself, in bulk: what a mechanism releases about made-up secrets.

Every coordinate of a mask is drawn for itself, so one release of many coordinates is that many independent runs of
the shipped code: draws, lattice, exchange, folding. That is what makes twenty thousand games a matter of a second.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Own, Published, View
from tacit.auditing.recording.limited import limited, nobodys
from tacit.auditing.recording.recorder import Recorder
from tacit.auditing.recording.scales import scales_of_links
from tacit.costs.pieces import Piece, Pieces
from tacit.costs.sensitivity import Sensitivity
from tacit.errors import InputError
from tacit.masks import (
    Afresh,
    Keystreams,
    Mechanism,
    Once,
    agent_keys,
    drawn_afresh,
    drawn_once,
)
from tacit.network import Network, mixing_weights
from tacit.runtimes import Stacked
from tacit.runtimes.peers.epochs import Cancelling
from tacit.typing import Array, Rows

_SIDE = 16  # unknowns of a made-up cost: 152 coefficients of a quadratic one
_MOST = 400  # releases where one has few coefficients


class Released(NamedTuple):
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

    def again(self, network: Network, times: int) -> list[Keys]:
        """Return keys that give the same random bits, which no release had before: for a run that goes on."""
        self._used += 1
        seed = int.from_bytes(os.urandom(8)) if self._seed is None else 1_000_003 * self._seed + self._used
        return [Keys(seed) for _ in range(times)]


def release(
    masks: Mechanism,
    network: Network,
    secrets: Array,
    coalition: Sequence[int],
    *,
    keys: Keys,
    without: int | None = None,
    moves: Sensitivity | None = None,
) -> Released:
    """Run phase 1 on secrets, (n, coordinates), and return what the coalition sees in the worst case.

    *without* is an agent that has left: the others cancel the terms that they shared with it, as peers do. *moves*
    is what one record moves, where masks come with noise shares.
    """
    if drawn_afresh(masks):
        return release_sums(masks, network, [secrets], coalition, keys=keys)
    if not drawn_once(masks):
        raise InputError(f"the audit knows Gaussian masks and secret sums, and no {type(masks).__name__}.")
    width = _width(masks)
    views, kept, scales = [], [], []
    for start in range(0, min(secrets.shape[1], _MOST * (width or secrets.shape[1])), width or secrets.shape[1]):
        part = secrets[:, start : start + (width or secrets.shape[1])]
        if width and part.shape[1] < width:
            break
        cost = masks.basis.alone(part, _SIDE)  # no function is asked for a value
        if masks.answer is not None and moves is not None:
            cost = limited(cost, masks.answer, moves)
        recorder = Recorder(network, "metropolis", coalition)
        peers = recorder.together(Stacked(network))
        around = peers if without is None else Cancelling(peers, _rows_of(network, without))
        hidden = masks.hide(cost, around, keys.source(network), network=network)
        coefficients = masks.basis.read(hidden.cost).copy()
        if without is not None:
            coefficients[without] = np.nan  # it has left, and publishes nothing more
        views.append(_view(coalition, recorder, Published(gradients=coefficients), part.shape[1]))
        kept.append(part)
        scales.append(masks.basis.scales(hidden.cost.dim))
    public = _public(masks, network, kept[0].shape[1])
    return Released(views, public, np.concatenate(scales), np.concatenate(kept, axis=1))


def _rows_of(network: Network, agent: int) -> Rows:
    """Return which directed links, in the order in which agents own them, start or end at an agent."""
    owners = np.repeat(np.arange(len(network)), network.degrees)
    others = np.concatenate([network.neighbours(k) for k in range(len(network))])
    return np.asarray((owners == agent) | (others == agent))


def scales_of(masks: Mechanism, count: int) -> Array:
    """Return σ of every coordinate of a release of about *count* coordinates, as multiples of sigma."""
    width = _width(masks) if drawn_once(masks) else 0
    if not width or not drawn_once(masks):
        return np.ones(count)
    return np.tile(masks.basis.scales(_SIDE), max(1, min(count // width, _MOST)))


def release_sums(
    masks: Afresh,
    network: Network,
    sums: Sequence[Array],
    coalition: Sequence[int],
    *,
    keys: Keys,
    pieces: bool = False,
) -> Released:
    """Add up several times in one run, and return what the coalition sees of it; secrets are those of the first.

    In *pieces*, numbers are made and masked as Hessians of many agents are: some columns at a time.
    """
    recorder = Recorder(network, "metropolis", coalition)
    hidden = masks.hide(nobodys(masks), recorder.together(Stacked(network)), keys.source(network), network=network)
    for secrets in sums:
        numbers: Any = _in_pieces(secrets) if pieces else secrets
        hidden.peers.sum(numbers)
    width = sums[0].shape[1]
    view = _view(coalition, recorder, Published(words=recorder.words), width)
    public = _public(masks, network, width)
    if masks.answer is not None:
        public = msgspec.structs.replace(public, step=2.0 * hidden.peers.resolution / len(network))
    return Released([view], public, np.ones(width), sums[0])


def _in_pieces(secrets: Array) -> Pieces:
    """Return secrets as two pieces."""
    halves = np.array_split(secrets, 2, axis=1)
    return Pieces(len(secrets), [Piece(half.shape[1], partial(np.array, half)) for half in halves])


def groups_of(masks: Once, count: int) -> list[tuple[str, NDArray[np.intp]]]:
    """Return which coordinates of a release of about *count* belong together: same coefficient, same kind."""
    width = _width(masks)
    if not width:
        return []
    repeats = len(scales_of(masks, count)) // width
    groups = [("at a coefficient", np.tile(np.arange(width), repeats))]
    blocks = masks.basis.blocks(_SIDE)
    if blocks:
        labels = np.empty(width, dtype=np.intp)
        for label, members in enumerate(blocks.values()):
            labels[members] = label
        groups.append((f"in a block ({', '.join(blocks)})", np.tile(labels, repeats)))
    return groups


def bound_of(masks: Mechanism, network: Network) -> float:
    """Return the public bound that made-up secrets must keep to."""
    return masks.terms(network, 1).bound


def _width(masks: Once) -> int:
    """Return how many coefficients a cost has; 0 where any number will do."""
    return 0 if masks.basis.one_per_unknown else len(masks.basis.scales(_SIDE))


def _view(coalition: Sequence[int], recorder: Recorder, published: Published, width: int) -> View:
    nothing = Own(gradients=np.zeros((len(coalition), width)), curvatures=np.zeros((0, 0, 0)))
    members = np.array(sorted(coalition), dtype=np.int64)
    return View(coalition=members, own=nothing, exchanges=recorder.exchanges(), published=published)


def _public(masks: Mechanism, network: Network, width: int) -> Public:
    return Public(
        links=network.links,
        weights=mixing_weights(network).toarray(),
        start=np.zeros(width),
        point=np.zeros(width),
        mechanism="sums" if masks.fresh_each_sum else "coefficients",
        sigma=masks.sigma,
        link_scales=scales_of_links(masks, network),
        step=masks.terms(network, width).step,
        words=masks.words or 1,
    )
