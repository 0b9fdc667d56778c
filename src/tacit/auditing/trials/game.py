"""The distinguishing game, as a gate.

Two worlds of the same sum differ by Δ, along the Fiedler vector of the honest graph, where masks protect least. In
every game phase 1 runs in one of them, and the attacker says in which, from all that the coalition holds. Theory:

    AUC = Φ(μ/√2),   μ = √(2 D_KL),   D_KL = Δᵀ L_H† Δ / 4σ²

The games: false alarms and misses, with Clopper–Pearson upper limits, certify a lower bound

    μ̂ = Φ⁻¹(1 − FPR) − Φ⁻¹(FNR)

that lies above μ with a probability of half a verdict's risk. A bound above μ is a bug; an AUC far below is a
broken harness. Where worlds that far apart would exceed the public bound, they are nearer to each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from tacit.auditing.attacks.distinguish import NeymanPearson
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.modular import as_numbers
from tacit.auditing.attacks.unmask_words import unmasked_words
from tacit.auditing.judging.verdict import RISK, Verdict, share_limits, skipped
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.auditing.recording.release import Keys, bound_of, release, scales_of
from tacit.auditing.recording.scales import scales_of_links
from tacit.masks import Mechanism
from tacit.network import Network
from tacit.typing import Array

_ROC = 101
_NUMBERS = 1 << 21  # masks that are drawn for games together: more would leave the cache, and take memory


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """The result of many games."""

    games: int
    mu: float
    """What the certificate allows."""
    bound: float
    """What the games certify: above the truth in one of 80 000 audits at most."""
    auc: float
    auc_theory: float
    auc_error: float
    """The standard error of the AUC."""
    false_alarms: list[float] = []
    """The ROC curve, for pictures."""
    detections: list[float] = []

    def verdict(self) -> Verdict:
        """Judge the games: half of the risk is the area's, whose p this is, and half the bound's."""
        reach = -float(ndtri(RISK / 4)) * self.auc_error
        beaten = self.bound > self.mu or self.auc - reach > self.auc_theory
        status = "beaten" if beaten else "weak" if self.auc + reach < self.auc_theory else "within"
        p = 2.0 * float(ndtr(-abs(self.auc - self.auc_theory) / self.auc_error)) if self.auc_error > 0 else None
        return Verdict(
            attack="distinguishing game", status=status, measured=self.auc, predicted=self.auc_theory,
            low=self.auc_theory - reach, high=self.auc_theory + reach, p=p, level=RISK,
            says=f"AUC of {self.games} games; they certify μ ≥ {self.bound:.3f}, the certificate {self.mu:.3f}",
        )  # fmt: skip


def play(
    masks: Mechanism,
    network: Network,
    coalition: Sequence[int],
    *,
    games: int = 20_000,
    mu: float = 2.0,
    keys: Keys | None = None,
) -> Game | Verdict:
    """Play *games* against real releases, in two worlds that the certificate puts μ apart; or say why not."""
    keys = keys or Keys()
    laplacian, honest = honest_part(masks, network, coalition)
    change = worst_direction(laplacian)
    if change is None:
        return skipped("distinguishing game", "no two honest agents are linked: there is nothing left to hide")
    sigma = masks.sigma
    scores, scales = [], scales_of(masks, games // 2)
    bound = bound_of(masks, network) / max(1.0, float(scales.max()))
    mu, distance = worlds_apart(mu, sigma or 1.0, change, laplacian, bound=bound)
    width = len(scales_of(masks, 1))
    together = width * max(1, _NUMBERS // (2 * len(network.links) * width))
    for sign in (-0.5, 0.5):
        held = []
        for start in range(0, len(scales), together):
            some = scales[start : start + together]
            secrets = np.zeros((len(network), len(some)))
            secrets[honest] = sign * distance * np.outer(change, some)  # thinner masks have nearer worlds
            done = release(masks, network, secrets, coalition, keys=keys)
            z = np.concatenate([evidence(view, done.public) for view in done.views], axis=1)
            held.append(z / done.scales)
        scores.append(NeymanPearson()(np.concatenate(held, axis=1), change, laplacian))
    return result(scores[0], scores[1], mu if sigma is not None else 0.0)


def evidence(view: View, public: Public) -> Array:
    """Return what the coalition holds of every honest agent: z, or words as fractions of their range."""
    if public.sigma is not None:
        return coefficients(view, public)[1]
    words = unmasked_words(view, public)[1][:, : public.unknowns * public.words]  # the last is the complaint
    return as_numbers(words, public.words) * 2.0 ** (1 - 64 * public.words)


def worst_direction(laplacian: Array) -> Array | None:
    """Return the unit vector, zero-sum on every component, along which masks protect least; None without links."""
    values, vectors = np.linalg.eigh(laplacian)
    free = np.flatnonzero(values > 1e-9 * max(float(values[-1]), 1e-300))
    return vectors[:, free[0]] if len(free) else None


def honest_part(masks: Mechanism, network: Network, coalition: Sequence[int]) -> tuple[Array, NDArray[np.intp]]:
    """Return L_H, with scaled links, and the positions of the honest agents."""
    honest = np.setdiff1d(np.arange(len(network)), list(coalition)).astype(np.intp)
    scales = scales_of_links(masks, network)
    kept = ~np.isin(network.links, list(coalition)).any(axis=1)
    topology = network.without([network.agents[i] for i in coalition])
    return topology.scaled_laplacian(None if scales is None else scales[kept]).toarray(), honest


def worlds_apart(mu: float, sigma: float, change: Array, laplacian: Array, *, bound: float) -> tuple[float, float]:
    """Return μ, less where the bound is near, and the distance of worlds that the certificate puts μ apart."""
    energy = float(change @ np.linalg.pinv(laplacian, hermitian=True) @ change)
    distance = mu * sigma * float(np.sqrt(2.0 / energy))
    share = min(1.0, 0.99 * bound / (0.5 * distance * float(np.abs(change).max())))
    return mu * share, distance * share


def result(first: Array, second: Array, mu: float) -> Game:
    """Return the result of games with these scores in the two worlds, where the certificate allows *mu*."""
    threshold = 0.0  # halfway between the worlds, whatever the games say
    tries = len(first)
    _, alarms = share_limits(int((first > threshold).sum()), tries, RISK / 2)
    _, misses = share_limits(int((second <= threshold).sum()), len(second), RISK / 2)
    bound = float(ndtri(1.0 - alarms) - ndtri(misses)) if alarms < 1 and misses < 1 else 0.0
    auc, error = area(first, second)
    cuts = np.quantile(np.concatenate([first, second]), np.linspace(1, 0, _ROC))
    return Game(
        games=len(first) + len(second), mu=mu, bound=bound, auc=auc, auc_theory=float(ndtr(mu / np.sqrt(2.0))),
        auc_error=error, false_alarms=[float((first >= cut).mean()) for cut in cuts],
        detections=[float((second >= cut).mean()) for cut in cuts],
    )  # fmt: skip


def area(first: Array, second: Array) -> tuple[float, float]:
    """Return the area under the ROC curve and its standard error (DeLong, Biometrics 44(3), 1988)."""
    n, m = len(first), len(second)
    ranks = rankdata(np.concatenate([first, second]))
    auc = float((ranks[n:].sum() - m * (m + 1) / 2) / (n * m))
    above = (ranks[n:] - rankdata(second)) / n  # share of the first world below each of the second
    below = 1.0 - (ranks[:n] - rankdata(first)) / m
    return auc, float(np.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n))
