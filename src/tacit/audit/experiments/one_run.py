"""Attacks on one release: nothing but the law of the masks can help."""

from __future__ import annotations

import numpy as np

from tacit.audit.attacks.component_sums import ComponentSums
from tacit.audit.attacks.likelihood import MaximumLikelihood
from tacit.audit.attacks.prior import GaussianPrior
from tacit.audit.attacks.prior_knowledge import PriorKnowledge
from tacit.audit.experiments.setting import Setting
from tacit.audit.verdict import Verdict, judge_exact, judge_gaussian, skipped


def likelihood(setting: Setting) -> Verdict:
    """Maximum likelihood: errors are N(0, 2σ²L_H) in every coordinate, at every agent, along every link."""
    done = setting.released(setting.secrets())
    z = np.concatenate([MaximumLikelihood()(view, done.public).values for view in done.views], axis=1)
    errors = (z - done.secrets[setting.honest]) / done.scales
    floor = setting.rounding(done)
    return judge_gaussian("law of the masks", errors, setting.covariance, links=setting.links, floor=floor)


def sums(setting: Setting) -> Verdict:
    """Sums over the components of the honest graph: to rounding, and no more than those."""
    done = setting.released(setting.secrets(64))
    found = ComponentSums().sums(done.views[0], done.public)
    width = done.public.unknowns
    errors = [total - done.secrets[list(agents), :width].sum(axis=0) for agents, total in found]
    says = f"{len(found)} sum(s), as the certificate says"
    return judge_exact("component sums", np.array(errors), setting.masks.sigma, promised=False, says=says)


def prior(setting: Setting) -> Verdict:
    """Maximum a posteriori, with the prior that the secrets were drawn from."""
    done = setting.released(setting.secrets())
    attack = GaussianPrior(deviation=setting.masks.sigma)
    if (done.scales != 1.0).any():
        return skipped(attack.name, "masks of several widths: maximum likelihood covers them")
    found = np.concatenate([attack(view, done.public).values for view in done.views], axis=1)
    values, vectors = np.linalg.eigh(setting.covariance)
    noise, tau = np.maximum(values, 0.0), setting.masks.sigma
    left = (vectors * (noise / (1.0 + noise / tau**2))) @ vectors.T
    return judge_gaussian(attack.name, found - done.secrets[setting.honest], left, floor=setting.rounding(done))


def knowledge(setting: Setting) -> Verdict:
    """Half of the honest agents are known: Kron reduction."""
    honest = setting.honest
    known = honest[::2] if len(honest) > 3 else honest[:0]
    if not len(known):
        return skipped("prior knowledge", "too few honest agents to know half of them")
    done = setting.released(setting.secrets())
    if (done.scales != 1.0).any():
        return skipped("prior knowledge", "masks of several widths: maximum likelihood covers them")
    told = tuple((int(i), tuple(done.secrets[i, : done.public.unknowns].tolist())) for i in known)
    width = done.public.unknowns
    found = PriorKnowledge(known=told)(done.views[0], done.public)
    inside = np.isin(honest, known)
    K = setting.covariance
    rest = (
        K[np.ix_(~inside, ~inside)]
        - K[np.ix_(~inside, inside)]
        @ np.linalg.pinv(K[np.ix_(inside, inside)], hermitian=True)
        @ K[np.ix_(inside, ~inside)]
    )
    errors = found.values - done.secrets[found.agents, :width]
    return judge_gaussian("prior knowledge", errors, (rest + rest.T) / 2, floor=setting.rounding(done))
