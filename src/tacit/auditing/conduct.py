"""`audit`: run, record, attack, compare with the certificate.

plain run            replay, observability, tree sums: what would have leaked
masked run           the same attacks, and maximum likelihood with all effective costs published
made-up secrets      the mechanism's law, priors, reuse, retries, seeds, low bits: thousands of releases
games                which of two worlds? with and without the messages of phase 2
noise shares         the same where the answer is to be private: which world, averages, laws, digits, complaints
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from tacit.algorithms import Landscape
from tacit.auditing.attacked import attacked, truth_of
from tacit.auditing.experiments import EXPERIMENTS, settle
from tacit.auditing.experiments.inferred_labels import infer_labels
from tacit.auditing.experiments.secret_sums import attack_words
from tacit.auditing.experiments.shares import attack_shares
from tacit.auditing.judging.verdict import Verdict
from tacit.auditing.recording.release import Keys
from tacit.auditing.report import AuditReport, BestEstimate, Row
from tacit.auditing.trials.game import Game, play
from tacit.auditing.trials.phase2 import play_messages
from tacit.auditing.trials.runs import AttackResult, Truth
from tacit.certificates import Certificate, certify, privacy_lines
from tacit.costs import Logistic
from tacit.errors import InputError, VacuousError
from tacit.masks import (
    Mechanism,
    drawn_afresh,
    drawn_once,
    effective_sigma,
    limits_of,
    with_answer,
    with_seed,
)
from tacit.solving import Problem, ProblemFile, prepare
from tacit.solving.guarantee import of_run
from tacit.solving.solve import Prepared
from tacit.solving.stamping import NO_MASKS
from tacit.solving.telling import against
from tacit.stamps import beyond_the_network, voided
from tacit.typing import Algorithm

GAMES = 20_000
_LEARNT = 4000  # games with messages: half of them to learn from
_ROUNDS = (40, 400)  # of a recorded run: three times as many as agents, within these
OnProgress = Callable[[float, str], None]


def audit(
    problem: Problem | ProblemFile,
    coalition: Iterable[Any] | None = None,
    *,
    any: int | None = None,
    privacy: Mechanism | None = None,
    algorithm: str | Algorithm = "auto",
    masks: bool = True,
    games: int = GAMES,
    runtime: str = "stacked",
    seed: int | None = None,
    on_progress: OnProgress | None = None,
) -> AuditReport:
    """Attack a problem's run with all that *coalition* sees, and say whether the certificate holds.

    *any* takes the worst coalition of that many agents instead. *masks* = False attacks the plain algorithm alone.
    *seed* makes masks and made-up secrets reproducible. A problem file brings its own privacy and algorithm. The
    run is recorded on *runtime*; releases of made-up secrets, and games, always run in the stacked simulation.
    """
    start, tell = time.perf_counter(), on_progress or (lambda share, what: None)
    weights, tree = None, True
    if isinstance(problem, ProblemFile):
        privacy, weights, tree = privacy or problem.privacy, problem.weights, problem.tree
        algorithm = problem.algorithm if algorithm == "auto" else algorithm
        problem = problem.problem
    if privacy is not None and seed is not None:
        privacy = with_seed(privacy, seed)
    noisy = None
    if masks and privacy is not None and privacy.answer is not None:
        noisy = prepare(problem, privacy=privacy, algorithm=algorithm, weights=weights, tree=tree)  # type: ignore[arg-type]
    if privacy is not None and privacy.answer is not None:  # what would leak without masks is the exact algorithm's
        privacy, algorithm = with_answer(privacy, None), "auto" if drawn_afresh(privacy) else algorithm
    n = len(problem.network)
    rounds = min(max(_ROUNDS[0], 3 * n), _ROUNDS[1])
    prepared = prepare(
        problem, privacy=privacy, algorithm=algorithm, weights=weights, tree=tree, max_rounds=rounds,  # type: ignore[arg-type]
    )  # fmt: skip
    job, stamps = prepared.job, prepared.stamps if masks else [NO_MASKS]
    certificate, members = _certificate(problem, job.privacy if masks else None, coalition, any)
    if certificate is not None and job.privacy is not None:
        certificate = of_run(
            certificate,
            coverage=job.privacy.coverage(problem.stack),
            stamps=(*beyond_the_network(stamps), *against(prepared.tells, len(members))),
            pairing=job.privacy.pairing,
        )
    who = sorted(problem.network.index[member] for member in members)
    truth = truth_of(problem, job, prepared.stamps)
    tell(0.05, "attacking the plain algorithm")
    plain = dataclasses.replace(job, privacy=None, floor=0.0)
    without = attacked(problem, plain, who, truth, runtime=runtime)
    findings: list[AttackResult] = []
    game: Game | Verdict | None = None
    messages: Game | None = None
    if noisy is not None:
        tell(0.2, "attacking noise shares")
        game, verdicts = _shares(problem, noisy, who, games, seed)
        findings = [AttackResult(None, verdict) for verdict in verdicts]
        job, stamps = noisy.job, noisy.stamps
    elif masks and job.privacy is not None:
        tell(0.2, "attacking the masked run")
        findings = attacked(problem, job, who, truth, runtime=runtime)
        findings += _experiments(job.privacy, problem, who, truth, seed, tell)
        tell(0.7, "playing games")
        game = play(job.privacy, problem.network, who, games=games, keys=Keys(seed))
        findings.append(AttackResult(None, game.verdict() if isinstance(game, Game) else game))
        affine = job.privacy.kind == "affine" and not job.algorithm.sums
        if isinstance(game, Game) and affine and drawn_once(job.privacy):
            tell(0.8, "playing games with messages")
            messages = play_messages(
                job.privacy, problem.network, who, algorithm=job.algorithm, curvature=_typical(problem),
                games=max(_LEARNT, games // 10), seed=seed,
            )  # fmt: skip
            findings.append(AttackResult(None, _of_messages(messages)))
    tell(1.0, "done")
    beaten = [
        f"NOT PRIVATE: an attack beats the certificate: {each.verdict.attack}, {each.verdict.says}."
        for each in findings
        if each.verdict.status == "beaten"
    ]
    mechanism = type(job.privacy).__name__ if job.privacy is not None and masks else "none"
    return AuditReport(
        tacit=version("tacit"),
        coalition=[str(member) for member in members],
        agents=n,
        links=len(problem.network.links),
        unknowns=problem.dim,
        mechanism=mechanism,
        sigma=job.privacy.terms(problem.network, problem.dim).sigma if job.privacy is not None and masks else None,
        algorithm=type(job.algorithm).__name__,
        runtime=runtime,
        private=not voided(stamps) and not beaten,
        stamps=stamps,
        privacy=[*beaten, *privacy_lines(stamps, None if beaten else certificate), *_promised(noisy, beaten)],
        rows=_rows(problem, who, truth, without, findings, certificate if masks else None),
        without_masks=[each.verdict for each in without],
        with_masks=[each.verdict for each in findings],
        game=game if isinstance(game, Game) else None,
        messages=messages,
        certificate=None if certificate is None or not masks else certificate.to_dict(),
        seconds=time.perf_counter() - start,
    )


def overhear(
    problem: Problem, coalition: Iterable[Any], *, privacy: Mechanism, algorithm: str | Algorithm = "auto"
) -> list[Row]:
    """Return what *coalition* believes about every other agent after a run without masks, and after one with them.

    One recorded run each, and the attacks on it: what `audit` begins with, without its verdicts and games. The rows
    hold the truth beside every belief; they are for whoever simulates.
    """
    members = tuple(dict.fromkeys(coalition))
    rounds = min(max(_ROUNDS[0], 3 * len(problem.network)), _ROUNDS[1])
    prepared = prepare(problem, privacy=privacy, algorithm=algorithm, max_rounds=rounds)  # type: ignore[arg-type]
    certificate, _ = _certificate(problem, privacy, members, None)
    who = sorted(problem.network.index[member] for member in members)
    truth = truth_of(problem, prepared.job, prepared.stamps)
    plain = dataclasses.replace(prepared.job, privacy=None, floor=0.0)
    without, masked = (attacked(problem, job, who, truth, runtime="stacked") for job in (plain, prepared.job))
    return _rows(problem, who, truth, without, masked, certificate)


def _certificate(
    problem: Problem, privacy: Mechanism | None, coalition: Iterable[Any] | None, t: int | None
) -> tuple[Certificate | None, tuple[Any, ...]]:
    """Return what is promised, None without masks, and who attacks."""
    if (coalition is None) == (t is None):
        raise InputError("name either a coalition or how many agents it may have.")
    members = None if coalition is None else tuple(dict.fromkeys(coalition))
    if t is not None and not 1 <= t < len(problem.network):
        raise InputError(
            f"a coalition of {t} of {len(problem.network)} agents: somebody must attack, and not everybody."
        )
    if members is not None:
        problem.network.without(members)  # refuses who is not there
        if not 1 <= len(members) < len(problem.network):
            who = "nobody" if not members else "everybody"
            raise InputError(f"{who} is in the coalition: somebody must attack, and somebody be attacked.")
    if privacy is None and members is not None:
        return None, members
    sigma = math.inf if privacy is None else effective_sigma(privacy.terms(problem.network, problem.dim))
    link_scales = None if privacy is None else privacy.scale_of or None
    try:
        certificate = certify(problem.network, members, any=t, sigma=sigma, link_scales=link_scales)
    except VacuousError:
        if privacy is not None:
            raise
        return None, _best_placed(problem, t or 1)
    if members is None:
        members = certificate.coalition if certificate.coalition is not None else _best_placed(problem, t or 1)
    return certificate if privacy is not None else None, members


def _best_placed(problem: Problem, t: int) -> tuple[Any, ...]:
    """Return the agents with the most neighbours: where no coalition is worse than another, they hear most."""
    order = np.argsort(-problem.network.degrees, kind="stable")[:t]
    return tuple(problem.network.agents[i] for i in order)


def _experiments(
    privacy: Mechanism, problem: Problem, who: Sequence[int], truth: Truth, seed: int | None, tell: OnProgress
) -> list[AttackResult]:
    if drawn_afresh(privacy):
        verdicts = attack_words(privacy, problem.network, who, keys=Keys(seed), rng=np.random.default_rng(seed))
        return [AttackResult(None, verdict) for verdict in verdicts]
    if not drawn_once(privacy):
        return []
    setting = settle(privacy, problem.network, who, unknowns=problem.dim, seed=seed)
    findings = []
    for k, (name, experiment) in enumerate(EXPERIMENTS.items()):
        tell(0.3 + 0.4 * k / len(EXPERIMENTS), name)
        findings.append(AttackResult(None, experiment(setting)))
    if truth.labels is not None and privacy.kind == "affine":
        costs = [cost for cost in problem.costs if isinstance(cost, Logistic)]
        findings.append(AttackResult(None, infer_labels(setting, costs, truth.labels)))
    return findings


def _shares(
    problem: Problem, noisy: Prepared, who: Sequence[int], games: int, seed: int | None
) -> tuple[Game, list[Verdict]]:
    """Return the game against noise shares, and all verdicts on them; of secret sums those on words, too."""
    privacy, keys, rng = noisy.job.privacy, Keys(seed), np.random.default_rng(seed)
    if privacy is None or privacy.answer is None:
        raise InputError("this run promises nothing of its answer.")
    moves = problem.costs[0].sensitivity(limits_of(privacy.answer))
    done = attack_shares(privacy, problem.network, who, moves=moves, games=games, keys=keys)
    if not drawn_afresh(privacy):
        return done.game, done.verdicts
    words = attack_words(with_answer(privacy, None), problem.network, who, keys=keys, rng=rng)
    return done.game, [*done.verdicts, *words]


def _promised(noisy: Prepared | None, beaten: list[str]) -> list[str]:
    """Return what is promised of the answer, where no attack has taken it back."""
    return [] if noisy is None or noisy.guarantee is None or beaten else [noisy.guarantee.headline()]


def _typical(problem: Problem) -> float:
    """Return the curvature of made-up costs on which the run's own settings converge: that of the average cost."""
    highest = Landscape(problem.stack, problem.network).mean_smoothness
    return highest if 0.0 < highest < math.inf else 2.0


def _of_messages(game: Game) -> Verdict:
    """Judge the game with messages: they may not help; learning from games alone may do a little worse."""
    verdict = game.verdict()
    status = "beaten" if verdict.status == "beaten" else "weak" if game.auc < game.auc_theory - 0.05 else "within"
    says = f"AUC of {game.games} games with z and phase-2 messages: nothing to gain from them"
    return Verdict(
        attack="phase-2 messages", status=status, says=says if status == "within" else "messages change the game",
        measured=game.auc, predicted=game.auc_theory, low=verdict.low, high=verdict.high, level=verdict.level,
    )  # fmt: skip


def _rows(
    problem: Problem,
    who: Sequence[int],
    truth: Truth,
    without: list[AttackResult],
    findings: list[AttackResult],
    certificate: Certificate | None,
) -> list[Row]:
    rows = []
    for i, agent in enumerate(problem.network.agents):
        if i in who:
            continue
        promised = None if certificate is None else certificate.uncertainty.get(agent)
        rows.append(
            Row(
                agent=str(agent),
                truth=truth.gradients[i].tolist(),
                without_masks=_best(without, i, problem.dim),
                with_masks=_best(findings, i, problem.dim),
                predicted=promised if promised is not None and math.isfinite(promised) else None,
            )
        )
    return rows


def _best(findings: list[AttackResult], agent: int, dim: int) -> BestEstimate | None:
    """Return the surest belief about one agent."""
    beliefs = []
    for each in findings:
        about = each.estimate is not None and each.estimate.about == "gradients"
        values = each.estimate.of(agent) if each.estimate is not None and about else None
        if values is not None:
            value, deviation = values
            beliefs.append(
                BestEstimate(attack=each.verdict.attack, value=value[-dim:].tolist(), deviation=deviation)
            )
    return min(beliefs, key=lambda belief: belief.deviation, default=None)
