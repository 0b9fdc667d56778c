"""Attacks on a run of the user's own problem: beliefs about its agents, and the verdict on each attack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import kstest

from tacit.auditing.attacks.constants import Constants
from tacit.auditing.attacks.differences import GradientDifferences
from tacit.auditing.attacks.elimination import Elimination
from tacit.auditing.attacks.estimate import About, Attack, Estimate
from tacit.auditing.attacks.heard import gossip_of
from tacit.auditing.attacks.labels import LabelInference
from tacit.auditing.attacks.likelihood import MaximumLikelihood, coordinate_scales
from tacit.auditing.attacks.observability import Observability
from tacit.auditing.attacks.records import RecordsFromSums
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.attacks.subset_sum import SubsetSum
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.auditing.judging.verdict import RISK, Verdict, judge_exact, judge_gaussian, skipped
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array

ATTACKS: tuple[Attack, ...] = (
    Replay(), Observability(), MaximumLikelihood(), TreeSums(), GradientDifferences(), Constants(),
    LabelInference(), SubsetSum(), Elimination(), RecordsFromSums(),
)  # fmt: skip
"""All attacks on one run. Whatever algorithm is run, every one of them is tried, or says why not."""
_CLEAR = 1e-6  # a belief of this relative deviation is as good as exact


class Truth(NamedTuple):
    """What was true: known to the simulation alone."""

    gradients: Array  # at the public point, (n, m)
    curvatures: Array | None  # there, (n, m, m)
    at_zero: Array  # the gradients at the origin
    labels: Sequence[Array | None] | None  # None for an agent whose labels nobody can be sure of
    values: Sequence[Array | None] = ()  # labels as real numbers; None for an agent of whom they do not follow
    records: Sequence[Array | None] = ()  # the real numbers of every agent's records; None where they are not kept
    exposed: frozenset[int] | None = (
        frozenset()
    )  # agents whom the run itself calls told by its answer; None: everybody


class AttackResult(NamedTuple):
    """One attack's beliefs, and the verdict on it."""

    estimate: Estimate | None
    verdict: Verdict


def attack_run(
    view: View, public: Public, truth: Truth, on_attack: Callable[[str], None] = lambda name: None
) -> list[AttackResult]:
    """Run every attack on one view; one that does not apply says why."""
    findings = []
    for attack in ATTACKS:
        on_attack(attack.name)
        why = attack.misses(view, public)
        if why is not None:
            findings.append(AttackResult(None, skipped(attack.name, why)))
            continue
        estimate = attack(view, public)
        verdict = _JUDGES[estimate.about](attack.name, estimate, view, public, truth)
        findings.append(AttackResult(estimate if verdict.status != "skipped" else None, verdict))
    return findings


def _judge_gradients(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    if not len(estimate.agents):
        return skipped(name, "what members hear leaves every gradient open")
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
    """Return the honest agents beside a member."""
    links = public.links
    beside = np.concatenate([links[np.isin(links[:, a], view.coalition), 1 - a] for a in (0, 1)])
    return {int(i) for i in beside} - set(view.coalition.tolist())


def recorded_whole(view: View, public: Public, rounds: int) -> Verdict | None:
    """Return a red verdict where messages are missing that the attacks must have: None if all is there."""
    gossiped = gossip_of(view, public)
    heard, must = gossiped, min(rounds, 3 * public.agents)
    beside = neighbours_of(public, view)
    if not gossiped and (public.algorithm is None or public.algorithm.sums):
        heard = view.only("up")
        beside = {i for i, above in enumerate(public.network.tree.parents.tolist()) if above in view.coalition}
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


def _judge_curvatures(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    """Curvature from differences of gradients: open under affine masks, and the certificate says so."""
    if public.curvatures is None or truth.curvatures is None:
        return skipped(name, "costs do not bend the same way everywhere")
    if not len(estimate.agents):
        return skipped(name, "no agent's gradient is read at enough points: not all of its neighbours are heard")
    errors = estimate.values - truth.curvatures[estimate.agents].reshape(len(estimate.agents), -1)
    size = 100.0 * float(np.abs(truth.curvatures).max())
    says = f"curvature of {len(estimate.agents)} agent(s), which affine masks do not cover"
    return judge_exact(name, errors, size, promised=False, says=says)


def _judge_constants(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    """Constants of effective costs: none may be there."""
    if not len(estimate.agents):
        return Verdict(attack=name, status="within", says="no effective cost carries a constant", measured=0.0)
    g, P = truth.at_zero[estimate.agents], np.asarray(public.curvatures)[estimate.agents]
    exact = np.einsum("ij,ijk,ik->i", g, np.linalg.pinv(P, hermitian=True), g)
    errors = estimate.values[:, 0] - exact
    return judge_exact(name, errors, float(np.abs(exact).max()), promised=True, says="the constants tell")


def _judge_labels(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    """Labels: open where gradients are, and where the exact sum alone singles them out, whatever the masks."""
    if not len(estimate.agents):
        return Verdict(attack=name, status="within", says="several labellings fit what members know", measured=0.0)
    right, sure = [], []
    for agent, row in zip(estimate.agents.tolist(), estimate.values, strict=True):
        labels = None if truth.labels is None else truth.labels[agent]
        if labels is not None:
            right.append(row[: len(labels)] == labels)
            sure.append(len(labels) <= LabelInference.tried)
    if not right:
        return skipped(name, "Aᵀy leaves a choice of labels: nobody can say what is right")
    share = float(np.concatenate(right).mean())
    missed = any(not each.all() for each, certain in zip(right, sure, strict=True) if certain)
    says = f"{100 * share:.0f} % of {sum(map(len, right))} labels right; {estimate.says}"
    return Verdict(attack=name, status="weak" if missed else "open", measured=share, says=says)


def _judge_values(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    """Labels as real numbers: open where the run says that its answer tells them, and a breach elsewhere."""
    if not len(estimate.agents):
        return Verdict(attack=name, status="within", says="several labels fit what members know", measured=0.0)
    errors, hidden = [], False
    for agent, row in zip(estimate.agents.tolist(), estimate.values, strict=True):
        labels = truth.values[agent] if len(truth.values) else None
        if labels is not None:
            read = row[: len(labels)]
            errors.append((read - labels)[np.isfinite(read)])
            hidden |= not _is_told(agent, public, truth)
    if not errors:
        return skipped(name, "Aᵀy leaves a choice of labels: nobody can say what is right")
    wrong = np.concatenate(errors)
    return judge_exact(name, wrong, 1.0, promised=hidden, says=f"{len(wrong)} label(s); {estimate.says}")


def _judge_records(name: str, estimate: Estimate, view: View, public: Public, truth: Truth) -> Verdict:
    """Records: each of the true ones must be among those read, up to the sign of all its numbers."""
    if not len(estimate.agents):
        return Verdict(attack=name, status="within", says="no records were found that fit", measured=0.0)
    honest = public.honest(view.coalition)
    kept = [truth.records[i] for i in honest if len(truth.records) and truth.records[i] is not None]
    if len(kept) < len(honest):
        return skipped(name, "what was true is not kept: nobody can say what is right")
    true = np.concatenate([part for part in kept if part is not None])
    away = np.minimum(*(np.abs(true[:, None] - sign * estimate.values).max(axis=-1) for sign in (1.0, -1.0)))
    nearest = away.min(axis=1)
    right = nearest <= 1e-5 * (1.0 + np.abs(true).max(axis=1))
    share = float(right.mean())
    if not right.any():
        return Verdict(
            attack=name, status="within", says="records that fit, and are not the true ones", measured=0.0
        )
    hidden = not all(_is_told(int(i), public, truth) for i in honest)
    says = f"{int(right.sum())} of {len(true)} records; {estimate.says}"
    return Verdict(attack=name, status="beaten" if hidden else "open", says=says, measured=share)


def _is_told(agent: int, public: Public, truth: Truth) -> bool:
    """Tell whether the run says of itself that its answer tells this agent's numbers, or nothing is hidden."""
    return public.mechanism == "none" or truth.exposed is None or agent in truth.exposed


_JUDGES: dict[About, Callable[[str, Estimate, View, Public, Truth], Verdict]] = {
    "gradients": _judge_gradients,
    "curvatures": _judge_curvatures,
    "constants": _judge_constants,
    "labels": _judge_labels,
    "values": _judge_values,
    "records": _judge_records,
}
