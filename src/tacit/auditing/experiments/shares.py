"""Attacks on noise shares: do two worlds that differ in one record look as alike as the promise says?

    secret sums      what is left over a component of the honest graph: Σ (k_i + η_i), of deviation √|H_l|·τ
    masks once       z ~ N(θ_H, M),   M = 2σ²L_H + τ²I

The record is that of the agent whom shares protect least, and the test is Neyman and Pearson's: AUC = Φ(μ/√2) with
μ² = |Δ|²·[M⁻¹]_ii for the coalition that attacks. Sums of one run are also averaged, with fresh shares in each:
their squares of μ add up to the promise, and not to more. The law of the shares is looked at by itself, over
several sums and runs at once; so are the last digits, which nothing but shares can hide, and whether anybody
complains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.auditing import statistics
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.modular import total
from tacit.auditing.attacks.unmask_words import unmasked_words
from tacit.auditing.judging.verdict import Verdict, judge_gaussian, judge_statistics
from tacit.auditing.recording.release import Keys, Released, release, release_sums, scales_of
from tacit.auditing.trials.game import Game, honest_part, result
from tacit.costs.sensitivity import Sensitivity
from tacit.differential import DifferentialPrivacy, share_out
from tacit.errors import InputError, TacitError
from tacit.masks import Afresh, Mechanism, Once, drawn_afresh, drawn_once
from tacit.masks.shares import whole_steps
from tacit.network import Network
from tacit.typing import Array, Words

_AT_ONCE = 1 << 21  # masks that are drawn together
_RUNS, _SUMS = 2, 4  # whose shares are looked at together
_UNUSUAL = (1e300, math.inf, math.nan)


class SharesAttacked(NamedTuple):
    """The game, and what else there is to say of the shares."""

    game: Game
    verdicts: list[Verdict]


def attack_shares(
    masks: Mechanism,
    network: Network,
    coalition: Sequence[int],
    *,
    moves: Sensitivity,
    games: int,
    keys: Keys,
) -> SharesAttacked:
    """Return the verdicts on releases with noise shares, where one record moves as much as *moves* says."""
    if masks.answer is None:
        raise InputError("these masks promise nothing of the answer: there are no shares to attack.")
    if drawn_afresh(masks):
        return _of_sums(masks, masks.answer, network, coalition, games, keys)
    if drawn_once(masks):
        return _of_masks(masks, masks.answer, network, coalition, moves, games, keys)
    raise InputError("the audit knows noise shares in secret sums and in Gaussian masks, and in no others.")


# secret sums -------------------------------------------------------------------------------------


class _Totals(NamedTuple):
    """What is left over the victim's component, in whole steps, (sums, columns)."""

    words: Words
    step: float

    @property
    def numbers(self) -> Array:
        return np.asarray(self.words.view(np.int64) * self.step)


def _of_sums(
    masks: Afresh,
    promise: DifferentialPrivacy,
    network: Network,
    coalition: Sequence[int],
    games: int,
    keys: Keys,
) -> SharesAttacked:
    piece = _smallest_piece(network, coalition)
    share = share_out(network, promise).share
    columns = max(1, _AT_ONCE // (2 * len(network.links)))
    sums = 2 + promise.sums

    def left(moved: float, count: int, times: int) -> _Totals:
        """Return what is left of so many sums, where the victim's record moves each by so much."""
        parts = []
        for start in range(0, count, columns):
            numbers = np.zeros((len(network), min(columns, count - start)))
            numbers[piece[0]] = moved
            done = release_sums(masks, network, [numbers] * times, coalition, keys=keys)
            parts.append(_totals(done, piece, times))
        return _Totals(np.concatenate([part.words for part in parts], axis=1), parts[0].step)

    def deviation(step: float, count: int) -> float:
        return step * whole_steps(share, step, min(columns, count)) * math.sqrt(len(piece))

    half = games // 2
    worlds = [left(sign, half, 1) for sign in (-0.5, 0.5)]
    wide = deviation(worlds[0].step, half)
    game = result(worlds[0].numbers[0], worlds[1].numbers[0], 1.0 / wide)
    few, some = half // 2, half // 8
    each = 0.5 / math.sqrt(sums)
    averaged = [left(sign * each, few, sums).numbers.sum(axis=0) for sign in (-1.0, 1.0)]
    averaging = result(averaged[0], averaged[1], 1.0 / deviation(worlds[0].step, few))
    quiet = [left(0.0, some, min(sums, _SUMS)) for _ in range(_RUNS)]
    errors = np.concatenate([run.numbers for run in quiet])
    law = judge_gaussian("shares: their law", errors, deviation(quiet[0].step, some) ** 2 * np.eye(len(errors)))
    return SharesAttacked(
        game,
        [
            _named(game.verdict(), "shares: which world"),
            _named(averaging.verdict(), "shares: averaging all sums of a run"),
            law,
            _digits(np.concatenate([world.words for world in worlds], axis=1)),
            _complaints(lambda unusual: _unusual_sum(masks, network, coalition, unusual, piece[0], keys)),
        ],
    )


def _totals(done: Released, piece: list[int], times: int) -> _Totals:
    words = []
    for place in range(times):
        honest, left = unmasked_words(done.views[0], done.public, place=place)
        words.append(total(left[np.isin(honest, piece)], done.public.words))
    return _Totals(np.stack(words)[:, : done.public.unknowns], done.public.step)


def _unusual_sum(
    masks: Afresh, network: Network, coalition: Sequence[int], unusual: float, victim: int, keys: Keys
) -> None:
    numbers = np.zeros((len(network), 1))
    numbers[victim] = unusual
    release_sums(masks, network, [numbers], coalition, keys=keys)


def _smallest_piece(network: Network, coalition: Sequence[int]) -> list[int]:
    """Return the smallest component that the coalition leaves, by positions: there shares protect least."""
    left = network.without([network.agents[i] for i in coalition])
    honest = np.setdiff1d(np.arange(len(network)), list(coalition))
    names = {name: int(position) for name, position in zip(left.agents, honest, strict=True)}
    return min(([names[name] for name in piece] for piece in left.components), key=len)


# masks that are drawn once -----------------------------------------------------------------------


def _of_masks(
    masks: Once,
    promise: DifferentialPrivacy,
    network: Network,
    coalition: Sequence[int],
    moves: Sensitivity,
    games: int,
    keys: Keys,
) -> SharesAttacked:
    moved = moves.label if masks.kind == "affine" else moves.whole
    laplacian, honest = honest_part(masks, network, coalition)
    share = share_out(network, promise, sigma=masks.sigma / moved).share
    step = masks.terms(network, 1).step
    scales = scales_of(masks, games // 2)
    together = len(scales_of(masks, 1))
    width = together if together > 1 else max(1, _AT_ONCE // (2 * len(network.links)))
    tau = step * whole_steps(share, step, width, moved=moved)
    M = 2.0 * masks.sigma**2 * laplacian + tau**2 * np.eye(len(honest))
    inverse = np.linalg.inv(M)
    victim = int(np.diag(inverse).argmax())

    def seen(size: float, fewer: int = 1) -> Array:
        """Return z of all honest agents, (n_H, coordinates), where the victim's record moves its number so much."""
        parts = []
        count = len(scales) if fewer == 1 else max(len(scales) // fewer // together, 1) * together
        for start in range(0, count, width):
            some = scales[start : min(start + width, count)]
            secrets = np.zeros((len(network), len(some)))
            secrets[honest[victim]] = size * some
            done = release(masks, network, secrets, coalition, keys=keys, moves=moves)
            z = np.concatenate([coefficients(view, done.public)[1] for view in done.views], axis=1)
            parts.append(z / done.scales)
        return np.concatenate(parts, axis=1)

    worlds = [seen(sign * moved / 2.0) for sign in (-1.0, 1.0)]
    scores = [inverse[victim] @ z for z in worlds]
    game = result(scores[0], scores[1], moved * math.sqrt(float(inverse[victim, victim])))
    law = judge_gaussian("shares: their law", np.concatenate([seen(0.0, 4), seen(0.0, 4)], axis=1), M)

    def unusual_release(unusual: float) -> None:
        secrets = np.zeros((len(network), together if together > 1 else 1))
        secrets[honest[victim]] = np.nan_to_num(unusual, nan=0.0, posinf=1e300)
        release(masks, network, secrets, coalition, keys=keys, moves=moves)

    return SharesAttacked(game, [_named(game.verdict(), "shares: which world"), law, _complaints(unusual_release)])


# verdicts ----------------------------------------------------------------------------------------


def _named(verdict: Verdict, attack: str) -> Verdict:
    return Verdict(
        attack=attack, status=verdict.status, says=verdict.says, measured=verdict.measured,
        predicted=verdict.predicted, low=verdict.low, high=verdict.high, p=verdict.p, level=verdict.level,
    )  # fmt: skip


def _digits(words: Words) -> Verdict:
    """Judge the last sixteen bits: numbers of records are there as they are, but for the shares."""
    where = "in the last digits of a noisy sum"
    return judge_statistics(
        "shares: last digits",
        [statistics.balance(words, 16, where), *statistics.cells(words, 16, where)],
        says=f"the last 16 bits of {words.size} noisy sums are uniform",
    )


def _complaints(attempt: Callable[[float], None]) -> Verdict:
    """Judge whether a record that is unusual makes anybody say so."""
    for unusual in _UNUSUAL:
        try:
            attempt(unusual)
        except (TacitError, FloatingPointError, ValueError):
            return Verdict(
                attack="shares: complaints", status="beaten", measured=1.0, predicted=0.0,
                says="a number beyond the bound is complained about: a bit without noise",
            )  # fmt: skip
    return Verdict(
        attack="shares: complaints", status="within", measured=0.0, predicted=0.0,
        says="numbers beyond the bound are cut off, and nobody says so",
    )  # fmt: skip
