"""One run as a coalition sees it, attacked with everything, beside what was true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.auditing.experiments.inferred_labels import labels_of, records_of, values_of
from tacit.auditing.experiments.run_sums import every_sum
from tacit.auditing.recording.watch import public_knowledge, public_point, watch_effective
from tacit.auditing.trials.replayed import replay
from tacit.auditing.trials.runs import AttackResult, Truth, attack_run, recorded_whole
from tacit.costs import Logistic
from tacit.errors import TacitError
from tacit.masks import drawn_afresh
from tacit.runtimes import Job
from tacit.solving import Problem
from tacit.stamps import Stamp


def truth_of(problem: Problem, job: Job, stamps: Sequence[Stamp] = ()) -> Truth:
    """Return what the agents of a problem hide: known to the simulation alone."""
    n = len(problem.network)
    at, zero = np.tile(public_point(job), (n, 1)), np.zeros((n, problem.dim))
    try:
        curvatures = np.broadcast_to(problem.stack.hess(at), (*at.shape, problem.dim))
    except TacitError:  # a cost may come without its Hessian
        curvatures = None
    known = public_knowledge(problem, job)
    labels = None
    if known.features is not None:
        labels = [labels_of(cost) for cost in problem.costs if isinstance(cost, Logistic)]
    telling = [stamp for stamp in stamps if stamp.reason == "answer tells" and stamp.voids]
    names = {str(agent): i for i, agent in enumerate(problem.network.agents)}
    exposed = frozenset(names[agent] for stamp in telling for agent in stamp.agents)
    return Truth(
        gradients=problem.stack.grad(at),
        curvatures=curvatures,
        at_zero=problem.stack.grad(zero),
        labels=labels,
        values=[values_of(cost) for cost in problem.costs],
        records=[records_of(cost) for cost in problem.costs],
        exposed=None if any(not stamp.agents for stamp in telling) else exposed,
    )


def attacked(problem: Problem, job: Job, who: Sequence[int], truth: Truth, *, runtime: str) -> list[AttackResult]:
    """Run *job* with *who* listening, and return every attack on what they saw, with its verdict."""
    public = public_knowledge(problem, job)
    view, effective, rounds = watch_effective(job, who, runtime=runtime, worst_case=runtime != "peers")
    findings = attack_run(view, public, truth)
    more = [recorded_whole(view, public, rounds)]
    if drawn_afresh(job.privacy):
        more.append(every_sum(view, public))
    if effective is not None:
        more.append(replay(job, view, effective, who, exactly=runtime == "stacked"))
    return findings + [AttackResult(None, verdict) for verdict in more if verdict is not None]
