"""Attacks on a run of the user's own problem: beliefs about its agents, and the verdict on each attack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import kstest

from tacit.auditing.attacks.constants import Constants
from tacit.auditing.attacks.differences import GradientDifferences
from tacit.auditing.attacks.estimate import Attack, Estimate
from tacit.auditing.attacks.first_message import FirstMessage
from tacit.auditing.attacks.labels import LabelInference
from tacit.auditing.attacks.likelihood import MaximumLikelihood, coordinate_scales
from tacit.auditing.attacks.observability import Observability
from tacit.auditing.attacks.replay_admm import ReplayADMM
from tacit.auditing.attacks.replay_dgd import ReplayDGD
from tacit.auditing.attacks.replay_extra import ReplayEXTRA
from tacit.auditing.attacks.replay_nids import ReplayNIDS
from tacit.auditing.attacks.rules import follows
from tacit.auditing.attacks.subset_sum import SubsetSum
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.auditing.public import Public
from tacit.auditing.verdict import RISK, Verdict, judge_exact, judge_gaussian, skipped
from tacit.auditing.view import View
from tacit.typing import Array

ATTACKS: tuple[Attack, ...] = (
    FirstMessage(), ReplayDGD(), ReplayEXTRA(), ReplayNIDS(), ReplayADMM(), Observability(), MaximumLikelihood(),
    TreeSums(),
)  # fmt: skip
"""Attacks that end in beliefs about single agents."""
_FAR = ("observability", "tree sums", "maximum likelihood")  # not about neighbours in particular
_CLEAR = 1e-6  # a belief of this relative deviation is as good as exact


class Truth(NamedTuple):
    """What was true: known to the simulation alone."""

    gradients: Array  # at the public point, (n, m)
    curvatures: Array | None  # there, (n, m, m)
    at_zero: Array  # the gradients at the origin
    labels: Sequence[Array | None] | None  # None for an agent whose labels nobody can be sure of


class Found(NamedTuple):
    """One attack's beliefs, and the verdict on it."""

    estimate: Estimate | None
    verdict: Verdict


def attack_run(
    view: View, public: Public, truth: Truth, on_attack: Callable[[str], None] = lambda name: None
) -> list[Found]:
    """Run every attack on one view."""
    found = []
    for attack in ATTACKS:
        on_attack(attack.name)
        why = attack.misses(view, public)
        if why is not None:
            continue  # another algorithm's replay is no news
        estimate = attack(view, public)
        verdict = _judge(attack.name, estimate, view, public, truth)
        found.append(Found(estimate if verdict.status != "skipped" else None, verdict))
    found.append(Found(None, differences(view, public, truth)))
    if public.mechanism == "affine":
        found.append(Found(None, constants(view, public, truth)))
    return [
        each for each in found if each.verdict.status != "skipped" or each.verdict.attack != "gradient differences"
    ]


def _judge(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    if not len(estimate.agents):
        return skipped(name, "nobody is in sight")
    if public.mechanism == "basis":
        return skipped(name, "coefficients along a basis are attacked in bulk")
    secret = _secret(estimate, public, truth)
    errors = estimate.values - secret
    size = float(np.abs(truth.gradients).max(initial=1.0))
    if public.mechanism == "none":
        clear = estimate.deviations <= _CLEAR * size
        says = f"{int(clear.sum())} of {len(public.honest(view.coalition))} honest agents"
        if not clear.any():
            return skipped(name, "the equations are too badly conditioned")
        missed = set() if name in _FAR else neighbours_of(public, view) - set(estimate.agents[clear].tolist())
        if missed:
            return Verdict(attack=name, status="weak", says=f"{len(missed)} neighbour(s) were not read; {says}")
        return judge_exact(name, errors[clear], size, promised=False, says=says)
    if public.sigma is None:
        return _judge_words(name, errors, estimate, public)
    honest = public.honest(view.coalition)
    rows = np.searchsorted(honest, estimate.agents)
    covariance = 2.0 * public.sigma**2 * public.honest_laplacian(view.coalition)[np.ix_(rows, rows)]
    scales = coordinate_scales(public, errors.shape[1])
    floor = len(honest) * public.step / float(scales.min()) + 1e-9 * float(np.abs(estimate.values).max(initial=0.0))
    return judge_gaussian(name, errors / scales, covariance, floor=floor)


def neighbours_of(public: Public, view: View) -> set[int]:
    """Return the honest agents beside a member: one message of theirs tells their gradient, without masks."""
    links = public.links
    beside = np.concatenate([links[np.isin(links[:, a], view.coalition), 1 - a] for a in (0, 1)])
    return {int(i) for i in beside} - set(view.coalition.tolist())


def recorded_whole(view: View, public: Public, rounds: int) -> Verdict | None:
    """Return a red verdict where messages are missing that the attacks must have: None if all is there."""
    heard = view.only("mix", "gather")
    must = min(rounds, 3 * public.agents)
    if not heard and not follows(public.algorithm):
        return None
    beside = neighbours_of(public, view)
    whole = [beside <= set(exchange.senders.tolist()) for exchange in heard[:must]]
    if len(whole) >= must and all(whole):
        return None
    says = f"{sum(whole)} of the first {must} exchanges were recorded whole"
    return Verdict(attack="recording", status="weak", says=says, measured=float(sum(whole)), predicted=float(must))


def _secret(estimate: Estimate, public: Public, truth: Truth) -> Array:
    if estimate.values.shape[1] == public.unknowns or truth.curvatures is None:
        return truth.gradients[estimate.agents]
    rows, columns = np.triu_indices(public.unknowns)
    whole = np.concatenate([truth.curvatures[:, rows, columns], truth.gradients], axis=1)
    return np.asarray(whole[estimate.agents])


def _judge_words(name: str, errors: Array, estimate: Estimate, public: Public) -> Verdict:
    """Judge words modulo 2⁶⁴: uniform, but for agents whom the certificate calls exposed."""
    exposed = estimate.deviations == 0.0
    if exposed.any() and np.abs(errors[exposed]).max() > len(estimate.agents) * public.step:
        return Verdict(attack=name, status="weak", says="an agent without honest neighbours was not read")
    hidden = errors[~exposed]
    if not hidden.size:
        return Verdict(
            attack=name, status="open", says=f"{int(exposed.sum())} exposed agent(s), as the certificate says"
        )
    share = np.mod(hidden / (public.step * 2.0 ** (64 * public.words)), 1.0).ravel()
    chance = float(kstest(share, "uniform").pvalue)
    status = "beaten" if chance < RISK else "within"
    says = f"words of {len(hidden)} agent(s) are {'' if status == 'within' else 'not '}uniform (p = {chance:.2g})"
    return Verdict(attack=name, status=status, measured=chance, low=RISK, says=says, p=chance, level=RISK)


def differences(view: View, public: Public, truth: Truth) -> Verdict:
    """Curvature from differences of gradients: open under affine masks, and the certificate says so."""
    attack = GradientDifferences()
    if attack.misses(view, public) is not None or truth.curvatures is None or public.curvatures is None:
        return skipped(attack.name, "no gradient can be read at enough points")
    found = attack(view, public)
    if not len(found.agents):
        return skipped(attack.name, "nobody's neighbours are all in sight")
    errors = found.values - truth.curvatures[found.agents].reshape(len(found.agents), -1)
    size = 100.0 * float(np.abs(truth.curvatures).max())
    says = f"curvature of {len(found.agents)} agent(s), which affine masks do not cover"
    return judge_exact(attack.name, errors, size, promised=False, says=says)


def constants(view: View, public: Public, truth: Truth) -> Verdict:
    """Constants of effective costs: none may be there."""
    attack = Constants()
    why = attack.misses(view, public)
    if why is not None:
        return skipped(attack.name, why)
    found = attack(view, public)
    if not len(found.agents):
        return Verdict(
            attack=attack.name, status="within", says="no effective cost carries a constant", measured=0.0
        )
    g, P = truth.at_zero[found.agents], np.asarray(public.curvatures)[found.agents]
    exact = np.einsum("ij,ijk,ik->i", g, np.linalg.pinv(P, hermitian=True), g)
    errors = found.values[:, 0] - exact
    return judge_exact(attack.name, errors, float(np.abs(exact).max()), promised=True, says="the constants tell")


def labels(estimate: Estimate, public: Public, truth: Truth) -> Verdict | None:
    """Labels from gradients that were read as they are: all of them, where all labels can be tried."""
    attack = LabelInference()
    if attack.misses(public) is not None or truth.labels is None or not len(estimate.agents):
        return None
    guessed = {i: y for i, y in attack(estimate, public).items() if truth.labels[i] is not None}
    if not guessed:
        return skipped(attack.name, "Aᵀy leaves a choice of labels: nobody can say what is right")
    right = np.concatenate([guessed[i] == truth.labels[i] for i in guessed])
    sure = [bool((guessed[i] == truth.labels[i]).all()) for i in guessed if len(guessed[i]) <= attack.tried]
    says = f"{100 * right.mean():.0f} % of {len(right)} labels right"
    return Verdict(
        attack=attack.name, status="open" if all(sure) else "weak", measured=float(right.mean()), says=says
    )


def labels_from_sum(view: View, public: Public, truth: Truth) -> Verdict | None:
    """Labels that the exact sum alone singles out: no mask can help, and the certificate does not say it does."""
    attack = SubsetSum()
    if attack.misses(view, public) is not None or truth.labels is None:
        return None
    everybody = attack(view, public)
    if not everybody:
        return Verdict(
            attack=attack.name, status="within", says="several labellings have the same sum", measured=0.0
        )
    guessed = {i: y for i, y in everybody.items() if truth.labels[i] is not None}
    if not guessed:
        return skipped(attack.name, "Aᵀy leaves a choice of labels: nobody can say what is right")
    right = np.concatenate([guessed[i] == truth.labels[i] for i in guessed])
    status = "open" if right.all() else "weak"
    says = f"{len(right)} labels follow from the exact sum, whatever σ: there is no other world with that sum"
    return Verdict(attack=attack.name, status=status, says=says, measured=float(right.mean()))
