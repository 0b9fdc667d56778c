"""The game with everything that phase 2 says: it must not help.

The theorem concedes all effective costs, and phase 2 is a function of them, so a player who also learns from the
coalition's messages can do no better than the best test on z alone. Many games are played at once: one unknown of a
many-dimensional quadratic problem is one game, and the shipped algorithm runs on all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.auditing.attacks.distinguish import Discriminant, NeymanPearson
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View, gossip
from tacit.auditing.recording.release import bound_of
from tacit.auditing.recording.watch import public_knowledge, watch
from tacit.auditing.trials.game import Game, honest_part, result, worlds_apart, worst_direction
from tacit.costs import Quadratic
from tacit.masks import Mechanism, Once, with_seed
from tacit.network import Network
from tacit.solving import Problem, prepare
from tacit.typing import Algorithm, Array

_TOGETHER = 400  # games that run as one problem


def play_messages(
    masks: Once,
    network: Network,
    coalition: Sequence[int],
    *,
    algorithm: str | Algorithm,
    curvature: float = 2.0,
    games: int = 4000,
    mu: float = 2.0,
    exchanges: int = 12,
    seed: int | None = None,
) -> Game:
    """Play with the best test on z and the coalition's first *exchanges* of gossip, in worlds that are μ apart.

    *algorithm* is a name, or settings that are safe for costs of that *curvature*.
    """
    rng = np.random.default_rng(seed)
    laplacian, honest = honest_part(masks, network, coalition)
    change = worst_direction(laplacian)
    assert change is not None  # noqa: S101  the caller plays the plain game first
    mu, distance = worlds_apart(mu, masks.sigma, change, laplacian, bound=bound_of(masks, network))
    features, worlds = [], []
    for batch in range(max(2, games // _TOGETHER)):
        world = rng.integers(0, 2, _TOGETHER)
        slopes = np.zeros((len(network), _TOGETHER))
        slopes[honest] = distance * np.outer(change, world - 0.5)
        fresh = with_seed(masks, None if seed is None else seed + batch)
        view, public = _played(fresh, network, coalition, slopes, algorithm, curvature, exchanges)
        z = coefficients(view, public)[1]
        test = NeymanPearson()(z, change, laplacian)
        features.append(np.column_stack([test, _messages(view, exchanges)]))
        worlds.append(world)
    scores, played = Discriminant()(np.concatenate(features), np.concatenate(worlds))
    return result(scores[played == 0], scores[played == 1], mu)


def _played(
    masks: Mechanism,
    network: Network,
    coalition: Sequence[int],
    slopes: Array,
    algorithm: str | Algorithm,
    curvature: float,
    exchanges: int,
) -> tuple[View, Public]:
    if isinstance(algorithm, str):
        single = Problem(network, [Quadratic([[curvature]], [0.0]) for _ in range(len(network))])
        algorithm = prepare(single, privacy=masks, algorithm=algorithm).job.algorithm
    bent = curvature * np.eye(slopes.shape[1])
    problem = Problem(network, [Quadratic.of(bent, row) for row in slopes])
    job = prepare(problem, privacy=masks, algorithm=algorithm, max_rounds=max(2, exchanges)).job  # type: ignore[arg-type]
    return watch(job, coalition, worst_case=True), public_knowledge(problem, job)


def _messages(view: View, exchanges: int) -> Array:
    """Return what honest neighbours said, one row per game."""
    rows = [
        values
        for exchange in gossip(view, masked=True)[:exchanges]
        for agent, values in zip(exchange.senders.tolist(), exchange.values, strict=True)
        if agent not in view.coalition
    ]
    return np.stack(rows, axis=1)
