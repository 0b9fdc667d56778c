"""tacit itself, by its own `prepare`: no privacy at all, or the masks of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.staged import Staged, demonstrated
from tacit.certificates import Certificate, certify, headline
from tacit.errors import TacitError, VacuousError
from tacit.masks import Mechanism, effective_sigma, with_seed
from tacit.solving import Prepared, Problem, prepare
from tacit.solving.guarantee import of_run
from tacit.solving.telling import against
from tacit.stamps import beyond_the_network

_MANY = 20_000  # rounds after which a comparison goes on without


@dataclass(frozen=True, slots=True)
class Masked:
    """A mechanism, or None, with the algorithm that tacit takes for it."""

    name: str
    privacy: Mechanism | None = None
    algorithm: str = "auto"
    source: str = "tacit; Gupta & Chopra"
    assumes: str = "authenticated links; no server, any graph"

    def misses(self, problem: Problem) -> str | None:
        """Return why `solve` refuses."""
        try:
            self._prepared(problem)
        except TacitError as error:
            return str(error)
        return None

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Run as `solve` would."""
        prepared = self._prepared(problem)
        name = type(prepared.job.algorithm).__name__

        def stage(k: int, who: Sequence[int]) -> Staged:
            job = self._prepared(problem, None if listeners.seed is None else listeners.seed + k).job
            return Staged(job, job.algorithm, name)

        if self.privacy is None:
            return demonstrated(problem, stage, listeners._replace(repeats=1))
        promises = [self._pledge(problem, prepared, who) for who in listeners.coalitions]
        return demonstrated(problem, stage, listeners, promises=promises)

    def _prepared(self, problem: Problem, seed: int | None = None) -> Prepared:
        privacy = self.privacy
        if privacy is not None and seed is not None:
            privacy = with_seed(privacy, seed)
        return prepare(problem, privacy=privacy, algorithm=self.algorithm, max_rounds=_MANY)

    def _pledge(self, problem: Problem, prepared: Prepared, who: Sequence[int]) -> Pledge:
        privacy = prepared.job.privacy
        if privacy is None:
            return Pledge("none", "")
        members = [problem.network.agents[i] for i in who]
        sigma = effective_sigma(privacy.terms(problem.network, problem.dim))
        try:
            certificate = certify(problem.network, members, sigma=sigma, link_scales=privacy.scale_of or None)
        except VacuousError as error:
            return Pledge("none", str(error))
        stamps = (*beyond_the_network(prepared.stamps), *against(prepared.tells, len(who)))
        certificate = of_run(
            certificate, coverage=privacy.coverage(problem.stack), stamps=stamps, pairing=privacy.pairing
        )
        return Pledge(_in_short(certificate), headline(certificate))


def _in_short(certificate: Certificate) -> str:
    if certificate.exposed_agents or certificate.exposed_sums or any(stamp.voids for stamp in certificate.stamps):
        return "none"
    return "the sums alone" if certificate.is_perfect else f"ε = {certificate.epsilon:.2g}"
