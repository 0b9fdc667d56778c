"""Attacks on one release: nothing but the law of the masks can help."""

from __future__ import annotations

import numpy as np

from tacit.auditing import statistics
from tacit.auditing.attacks.component_sums import ComponentSums
from tacit.auditing.attacks.likelihood import MaximumLikelihood
from tacit.auditing.attacks.prior import GaussianPrior
from tacit.auditing.attacks.prior_knowledge import PriorKnowledge
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.judging.verdict import Verdict, judge_exact, judge_gaussian, judge_statistics, skipped
from tacit.auditing.knowledge.view import masks_of
from tacit.auditing.recording.release import groups_of, scales_of

_RELEASES, _WIDEST = 300, 16


def likelihood(setting: Setting) -> Verdict:
    """Maximum likelihood: errors are N(0, 2σ²L_H), independent of each other and of all masks that members know."""
    done = setting.released(setting.secrets())
    z = np.concatenate([MaximumLikelihood()(view, done.public).values for view in done.views], axis=1)
    errors = (z - done.secrets[setting.honest]) / done.scales
    known = np.concatenate([masks_of(view)[0].values for view in done.views], axis=1) / done.scales
    return judge_gaussian(
        "law of the masks", errors, setting.covariance, links=setting.links, known=known,
        groups=groups_of(setting.masks, setting.columns), floor=setting.rounding(done),
    )  # fmt: skip


def coordinates(setting: Setting) -> Verdict:
    """Many releases as small as the problem: every pair of coordinates, and releases one after the other."""
    attack, covariance = "joint law", setting.covariance
    scales, width = scales_of(setting.masks, setting.columns), min(max(setting.unknowns, 2), _WIDEST)
    if (scales == 1.0).all() and len(scales) == setting.columns:
        done = [setting.released(setting.secrets(width)) for _ in range(_RELEASES)]
        views, public = [each.views[0] for each in done], done[0].public
        secrets, scales = np.stack([each.secrets for each in done]), np.ones(width)
    else:
        one = setting.released(setting.secrets(_RELEASES * 20))
        views, public, width = one.views, one.public, one.public.unknowns
        scales = one.scales[:width]
        secrets = one.secrets.reshape(len(setting.network), -1, width).transpose(1, 0, 2)
    z = np.stack([MaximumLikelihood()(view, public).values for view in views])
    values, vectors = np.linalg.eigh(covariance)
    free = values > 1e-9 * max(float(values[-1]), 1e-300)
    if not free.any():
        return skipped(attack, "no two honest agents are linked")
    errors = (z - secrets[:, setting.honest]) / scales  # (releases, agents, coordinates)
    y = np.einsum("rac,af->rfc", errors, vectors[:, free]) / np.sqrt(values[free])[:, None]
    by_coordinate = y.reshape(-1, width)
    pairs = np.triu_indices(width, 1)
    products = (by_coordinate.T @ by_coordinate / np.linalg.norm(by_coordinate, axis=0))[pairs]
    seen = [
        *statistics.squares("in a coordinate", np.square(by_coordinate).sum(axis=0), len(by_coordinate)),
        *([statistics.normal(products, "two coordinates go together")] if len(products) else []),
        *statistics.joint(y.reshape(len(y), -1).T)[-1:],  # releases at any distance
    ]
    says = f"{len(y)} releases of {width} coordinates each, all independent"
    return judge_statistics(attack, seen, says=says)


def sums(setting: Setting) -> Verdict:
    """Sums over the components of the honest graph: to rounding, and no more than those."""
    done = setting.released(setting.secrets(64))
    recovered = ComponentSums().sums(done.views[0], done.public)
    width = done.public.unknowns
    errors = [total - done.secrets[list(agents), :width].sum(axis=0) for agents, total in recovered]
    says = f"{len(recovered)} sum(s), as the certificate says"
    return judge_exact("component sums", np.array(errors), setting.masks.sigma, promised=False, says=says)


def prior(setting: Setting) -> Verdict:
    """Maximum a posteriori, with the prior that the secrets were drawn from."""
    done = setting.released(setting.secrets())
    attack = GaussianPrior(deviation=setting.deviation)
    if (done.scales != 1.0).any():
        return skipped(attack.name, "masks of several widths: maximum likelihood covers them")
    estimates = np.concatenate([attack(view, done.public).values for view in done.views], axis=1)
    values, vectors = np.linalg.eigh(setting.covariance)
    noise, tau = np.maximum(values, 0.0), setting.deviation
    left = (vectors * (noise / (1.0 + noise / tau**2))) @ vectors.T
    return judge_gaussian(attack.name, estimates - done.secrets[setting.honest], left, floor=setting.rounding(done))


def knowledge(setting: Setting) -> Verdict:
    """Half of the honest agents are known: Kron reduction."""
    honest = setting.honest
    known = honest[::2] if len(honest) > 3 else honest[:0]
    if not len(known):
        return skipped("prior knowledge", "too few honest agents to know half of them")
    done = setting.released(setting.secrets())
    if (done.scales != 1.0).any():
        return skipped("prior knowledge", "masks of several widths: maximum likelihood covers them")
    facts = tuple((int(i), tuple(done.secrets[i, : done.public.unknowns].tolist())) for i in known)
    width = done.public.unknowns
    estimate = PriorKnowledge(known=facts)(done.views[0], done.public)
    inside = np.isin(honest, known)
    K = setting.covariance
    rest = (
        K[np.ix_(~inside, ~inside)]
        - K[np.ix_(~inside, inside)]
        @ np.linalg.pinv(K[np.ix_(inside, inside)], hermitian=True)
        @ K[np.ix_(inside, ~inside)]
    )
    errors = estimate.values - done.secrets[estimate.agents, :width]
    return judge_gaussian("prior knowledge", errors, (rest + rest.T) / 2, floor=setting.rounding(done))
