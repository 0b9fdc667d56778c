"""Attacks on several releases: subtracting, averaging, matching."""

from __future__ import annotations

import msgspec
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.going_on import GoingOn
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.linking import Linking
from tacit.auditing.attacks.participants import ChangedParticipants
from tacit.auditing.attacks.retries import Retries
from tacit.auditing.attacks.reuse import MaskReuse
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.judging.verdict import Verdict, judge_exact, judge_gaussian, judge_mean, skipped
from tacit.auditing.knowledge.view import View
from tacit.auditing.recording.release import Released, release, scales_of
from tacit.auditing.trials.game import honest_part
from tacit.certificates import Release, exposures
from tacit.network import Network
from tacit.typing import Array

_RETRIES = 4
_TRIALS = 60


def reuse(setting: Setting) -> Verdict:
    """Two releases of different costs, subtracted."""
    first, second = (setting.released(setting.secrets()) for _ in range(2))
    pairs = list(zip(first.views, second.views, strict=True))
    estimates = np.concatenate([MaskReuse()(one, other, first.public).values for one, other in pairs], axis=1)
    truth = (first.secrets - second.secrets)[setting.honest]
    errors = (estimates - truth) / first.scales
    floor = 2.0 * setting.rounding(first)
    return judge_gaussian("mask reuse", errors, 2.0 * setting.covariance, floor=floor)


def retries(setting: Setting) -> Verdict:
    """Several releases of the same costs, averaged: σ/√T."""
    secrets = setting.secrets(min(setting.columns, 2000))
    done = [setting.released(secrets) for _ in range(_RETRIES)]
    estimates = np.concatenate(
        [Retries()([d.views[k] for d in done], done[0].public).values for k in range(len(done[0].views))], axis=1
    )
    errors = (estimates - done[0].secrets[setting.honest]) / done[0].scales
    floor = setting.rounding(done[0])
    return judge_gaussian("retries", errors, setting.covariance / _RETRIES, floor=floor)


def participants(setting: Setting) -> Verdict:
    """One honest agent takes part in one of two runs: exposed exactly if the ledger's rank test says so."""
    network, honest = setting.network, setting.honest
    whole = network.graph
    names = [str(a) for a in network.agents]
    for leaver in honest:
        rest = whole.subgraph([a for a in whole if a != network.agents[leaver]])
        if len(rest) > len(setting.coalition) + 1 and nx.is_connected(rest):
            break
    else:
        return skipped("changed participants", "nobody can leave without cutting the network")
    if setting.masks.scale_of:
        return skipped("changed participants", "links have scales of their own")
    smaller = Network(rest)
    coalition = tuple(smaller.index[network.agents[c]] for c in setting.coalition)
    secrets = setting.secrets(64)
    kept = [network.index[a] for a in smaller.agents]
    one = setting.released(secrets)
    other = release(setting.masks, smaller, secrets[kept], coalition, keys=setting.keys)
    attack = ChangedParticipants(tuple(names), tuple(names[k] for k in kept))
    estimate = attack(one.views[0], other.views[0], one.public, other.public)
    runs = [Release.of("1", whole, sigma=setting.masks.sigma), Release.of("2", rest, sigma=setting.masks.sigma)]
    predicted = {e.agent for e in exposures(runs, coalition=[names[c] for c in setting.coalition])}
    if {names[i] for i in estimate.agents} != predicted:
        return Verdict(
            attack=attack.name, status="beaten" if {names[i] for i in estimate.agents} - predicted else "weak",
            says="who is exposed is not who the ledger says",
        )  # fmt: skip
    width = estimate.values.shape[1]
    says = f"{len(predicted)} agent(s) exposed by subtraction, as the ledger says"
    return judge_exact(
        attack.name,
        estimate.values - secrets[estimate.agents, :width],
        setting.masks.sigma,
        promised=False,
        says=says,
    )


def linkability(setting: Setting) -> Verdict:
    """The agents of two releases under other names: how many are matched, beside the certificate's own law?"""
    honest = setting.honest
    if len(honest) < 3:
        return skipped("linkability", "too few agents to mix up")
    if len(scales_of(setting.masks, 2)) != 2:
        return skipped("linkability", "played under affine masks")
    m = 2

    def matched(first: Array, second: Array) -> float:
        order = setting.rng.permutation(len(honest))
        one, other = (_believing(honest, values) for values in (first, second[order]))
        return float((order[Linking()(one, other)] == np.arange(len(honest))).mean())

    def ideal() -> float:
        secret = setting.secrets(m)[honest]
        return matched(*(secret + setting.ideal(m) for _ in range(2)))

    scores = []
    for _ in range(_TRIALS):
        secret = setting.secrets(m)
        twice = [setting.released(secret) for _ in range(2)]
        scores.append(matched(*(coefficients(done.views[0], done.public)[1] for done in twice)))
    expected = [ideal() for _ in range(5 * _TRIALS)]
    share = 100 * float(np.mean(expected))
    says = f"matched; the certificate's own law gives {share:.1f} %, chance {100 / len(honest):.1f} %"
    return judge_mean("linkability", np.array(scores), np.array(expected), says=says, rng=setting.rng)


def going_on(setting: Setting) -> Verdict:
    """An honest agent leaves after all was published, and the others go on: it is exposed, and nobody else is."""
    attack, network = "going on without", setting.network
    honest = setting.honest
    if len(honest) < 3:
        return skipped(attack, "nobody can leave: fewer than two honest agents would stay")
    leaver = int(honest[np.argmax(network.degrees[honest])])
    secrets = setting.secrets(min(setting.columns, 2000))
    before, after = setting.gone_on(secrets, leaver)
    exposed = np.concatenate(
        [GoingOn(left=leaver)(one, other, before.public).values for one, other in _pairs(before, after)], axis=1
    )
    size = setting.masks.sigma
    read = judge_exact(attack, exposed - before.secrets[leaver], size, promised=False, says="the one who left")
    if read.is_red:
        return read
    everybody = (*setting.coalition, leaver)  # for the others the leaver counts as corrupted
    laplacian, rest = honest_part(setting.masks, network, everybody)
    z = np.concatenate([coefficients(view, after.public)[1] for view in after.views], axis=1)
    errors = (z[np.isin(honest, rest)] - before.secrets[rest]) / before.scales
    verdict = judge_gaussian(attack, errors, 2.0 * size**2 * laplacian, floor=setting.rounding(before))
    if verdict.is_red:
        return verdict
    says = f"the one who left is exposed exactly, the others are not: {verdict.says}"
    return msgspec.structs.replace(verdict, says=says)


def _pairs(one: Released, other: Released) -> list[tuple[View, View]]:
    return list(zip(one.views, other.views, strict=True))


def _believing(agents: NDArray[np.intp], values: Array) -> Estimate:
    return Estimate(agents=agents, values=values, deviations=np.zeros(len(agents)))
