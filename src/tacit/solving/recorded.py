"""A run becomes a record: what a report needs, and no secret."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version
from typing import Any

import numpy as np

from tacit.costs import stack
from tacit.differential import AnswerGuarantee
from tacit.runtimes import Job, Run
from tacit.solving.record import Phase1, Phase2, RunRecord
from tacit.solving.telling import Telling
from tacit.stamps import Stamp, voided


def recorded(
    job: Job,
    run: Run,
    *,
    reason: str,
    runtime: str,
    seconds: float,
    stamps: list[Stamp],
    cautions: list[str],
    tells: Telling | None,
    hide: float | None,
    guarantee: AnswerGuarantee | None = None,
) -> RunRecord:
    """Return the record of a finished run; *reason* says why its algorithm was taken."""
    settings: Any = job.algorithm
    network, last = job.network, run.history[-1] if run.history else None
    return RunRecord(
        tacit=version("tacit"),
        agents=[str(agent) for agent in network.agents],
        links=[(int(i), int(j)) for i, j in network.links],
        families=tuple(dict.fromkeys(type(cost).__name__ for cost in job.costs)),
        unknowns=len(job.x0),
        runtime=runtime,
        private=job.privacy is not None and not voided(stamps),
        stamps=stamps,
        phase1=_phase1(job, hide, guarantee),
        phase2=Phase2(
            algorithm=type(job.algorithm).__name__,
            settings=dataclasses.asdict(settings),
            weights=job.weights,
            reason=reason,
            exact=job.algorithm.exact,
            sums=list(job.algorithm.sums),
            rounds=run.rounds,
            exchanges=run.traffic.exchanges,
            messages=run.traffic.messages,
            bytes=run.traffic.bytes,
        ),
        status=run.verdict.status,
        sentence=run.verdict.sentence,
        converged=run.verdict.converged,
        x=[value if np.isfinite(value) else None for value in run.x.mean(axis=0).tolist()],
        disagreement=last.disagreement if last else None,
        error=last.error if last else None,
        history=list(run.history),
        seconds=seconds,
        doubt=run.doubt,
        warnings=cautions,
        tells=tells,
        noise=None if run.noise is None else run.noise.tolist(),
        errors=None if run.errors is None else run.errors.tolist(),
    )


def _phase1(job: Job, hide: float | None, guarantee: AnswerGuarantee | None) -> Phase1 | None:
    privacy = job.privacy
    if privacy is None:
        return None
    terms, index = privacy.terms(job.network, len(job.x0)), job.network.index
    coverage = privacy.coverage(stack(job.costs) if job.stack is None else job.stack)
    return Phase1(
        mechanism=type(privacy).__name__,
        coverage=coverage,
        hides=str(coverage),
        bound=terms.bound,
        step=terms.step,
        sigma=terms.sigma,
        link_scales=[(index[a], index[b], scale) for a, b, scale in terms.link_scales],
        words=terms.words,
        sum_error=terms.sum_error,
        pairing=privacy.pairing,
        hide=hide,
        answer=guarantee,
    )
