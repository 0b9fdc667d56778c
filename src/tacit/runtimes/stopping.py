"""When to stop, and what to say about it.

Two public numbers are looked at now and then (every tenth round at first, more rarely later):

    change         max |x⁺ − x| / size       of one round
    disagreement   max |x_i − x_j| / size    between agents

with size = max |x|, but at least a millionth of the largest |x| that was seen, so that an optimum at zero can be
reached.

Where all agents hold the same x, an algorithm may know better how far it is from the limit and says so in its
state's `error`: then every round is looked at, and that number decides. Otherwise:

A method that converges like ρᵏ still has change·ρ/(1 − ρ) to go; ρ is read off the changes
themselves, so a slow method does not pass for a finished one. Masks leave a floor of rounding, about
u·σ√(2d)/μ, below which x only wanders to and fro: that counts as converged, and the sentence says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from tacit.errors import InputError
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.looking import Look

TOLERANCE = 1e-9
MAX_ROUNDS = 100_000

_EVERY = 10  # rounds between checks, at first
_RARER = 20  # later one check in every 1/20 of the rounds so far
_WINDOW = 50  # rounds over which a rate of convergence is read, at least
_PATIENCE = 10  # windows without improvement before a run counts as stalled, and at least half of all rounds
_SETTLED = 10  # sums without improvement, once rounding can be the reason
_ATTEMPTS = 60  # sums in a row that move nobody before a run counts as stalled: a step has been halved away
_TINY = 1e-13  # a distance, absolute, that is rounding where x itself is about zero
_ABSURD = 1e30  # an |x| that is no answer in any unit
_BLOW_UP = 1e8  # growth of |x| over its early size that counts as divergence

_NOISY = (
    "All agents hold the same x. It carries the noise that the promise about the answer asks for, and is not the "
    "exact minimiser; nobody can tell how far it is from that without spending more of the promise."
)


class Status(StrEnum):
    """How a run ended."""

    CONVERGED = "converged"
    STALLED = "stalled"
    DIVERGED = "diverged"
    OUT_OF_ROUNDS = "out of rounds"


class Check(NamedTuple):
    """One look at the agents."""

    round: int
    change: float
    disagreement: float
    error: float | None  # estimated distance to the limit, relative like the other two; None before there is one


class Conclusion(NamedTuple):
    """The end of a run: a status and a sentence for people."""

    status: Status
    sentence: str

    @property
    def converged(self) -> bool:
        """Whether the agents agree on the minimiser."""
        return self.status == Status.CONVERGED

    def of_noisy_answer(self) -> Conclusion:
        """Return what is true of it where the answer carries noise: nobody is at the minimiser, or may look."""
        return self._replace(sentence=_NOISY) if self.converged else self

    def with_doubt(self, doubt: Doubt | None) -> Conclusion:
        """Return the conclusion with a sentence about what is left open."""
        if doubt is None:
            return self
        open_point = doubt.sentence()
        return self._replace(sentence=f"{self.sentence} {open_point[0].upper()}{open_point[1:]}")


class Progress(NamedTuple):
    """What a progress bar needs: how far the error estimate has come towards the tolerance."""

    check: Check
    max_rounds: int
    fraction: float


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Stop at *tolerance* (relative, of the estimated error and of the disagreement) or *max_rounds*."""

    tolerance: float = TOLERANCE
    max_rounds: int = MAX_ROUNDS

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            raise InputError(f"tolerance = {self.tolerance} must lie between 0 and 1.")
        if not self.max_rounds >= 1:
            raise InputError(f"max_rounds = {self.max_rounds} must be at least 1.")


class Watch:
    """Looks at a run from outside, and says when it is over.

    *floor* is the rounding of x to expect, absolute. *prompt* looks after the first round, and goes on to look
    after each one as long as the algorithm says how far it is. *window* is how many rounds show a rate of
    convergence.
    """

    def __init__(
        self,
        rule: StoppingRule,
        *,
        floor: float = 0.0,
        exact: bool = True,
        prompt: bool = False,
        window: int = _WINDOW,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.rule, self.floor, self.exact = rule, floor, exact
        self.history: list[Check] = []
        self._on_progress = on_progress
        self._prompt, self._window = prompt, window
        self._early_size = self._largest = 0.0
        self._last = 0
        self._best, self._best_round = np.inf, 0
        self._passes = self._refused = 0
        self._drifting = False

    def next_check(self, done: int) -> int:
        """Return the round of the next look after *done* rounds."""
        every = 1 if self._prompt else max(min(_EVERY, self._window // 5), done // _RARER)
        return min(done + every, self.rule.max_rounds)

    def look(self, done: int, look: Look) -> Conclusion | None:
        """Judge all agents after round *done*; None means go on.

        While dual variables still drift, a run whose x stands still (in the corner of a box, say) is on its way.
        """
        self._prompt = look.error is not None
        self._drifting = look.drift > self.rule.tolerance
        if done <= 5 * _EVERY:
            self._early_size = max(self._early_size, look.size)
        if not np.isfinite(look.size) or look.size > _BLOW_UP * (1.0 + self._early_size):
            return Conclusion(
                Status.DIVERGED,
                f"The estimates grew without bound by round {done}: the step is too large for these costs, or "
                "their sum has no minimum. Leave the step to tacit, or give a smaller one.",
            )
        if look.size > _ABSURD:
            return Conclusion(
                Status.DIVERGED,
                f"The estimates reached {look.size:.1e} by round {done}, which no unit explains: the step is "
                "too large, somebody's numbers are wrong, or the sum of the costs has no minimum. Use a smaller "
                "step, and let every member check its data.",
            )
        self._largest = max(self._largest, look.size)
        scale = float(max(look.size, 1e-6 * self._largest, np.finfo(float).tiny))
        check = self._check(done, look, scale)
        self.history.append(check)
        if look.error is None:
            conclusion = self._judge(check, self.floor / scale, wanders=self._wanders(done, look))
        else:
            conclusion = self._judge_estimated(check, self.floor / scale, scale)
        if self._on_progress is not None:
            self._on_progress(Progress(check, self.rule.max_rounds, 1.0 if conclusion else self._fraction(check)))
        return conclusion

    def _wanders(self, done: int, look: Look) -> bool:
        """Whether x came no farther since the last look than rounding carries it: a slow approach goes straight."""
        last, self._last = self._last, done
        return last > 0 and look.travelled < 0.5 * (done - last) * look.change

    def _check(self, done: int, look: Look, scale: float) -> Check:
        change, disagreement = look.change / scale, look.disagreement / scale
        if look.error is None:
            return Check(done, change, disagreement, self._to_go(done, change))
        error = look.error / scale if np.isfinite(look.error) else np.inf
        return Check(done, change, disagreement, error if error < 1e6 else None)

    def _to_go(self, done: int, change: float) -> float | None:
        """Return change·ρ/(1 − ρ), with ρ the decay per round over about the last tenth of the run."""
        past = next((c for c in reversed(self.history) if c.round <= min(done - self._window, 0.9 * done)), None)
        if past is None:
            return None
        slowest = 1.0 - 0.1 / done
        rho = (change / past.change) ** (1.0 / (done - past.round)) if past.change else slowest
        rho = min(rho, slowest)
        return change * rho / (1.0 - rho)

    def _judge(self, check: Check, floor: float, *, wanders: bool) -> Conclusion | None:
        close = check.error is not None and max(check.error, check.disagreement) <= self.rule.tolerance
        held = check.change == 0.0 and self._drifting  # by a rough term, until the dual variables let go
        self._passes = self._passes + 1 if close and not held else 0
        if self._passes >= 2 and not self.exact:
            return Conclusion(Status.STALLED, self._stalled(check))
        if self._passes >= 2:
            return Conclusion(
                Status.CONVERGED,
                f"All agents agree to {check.disagreement:.1e} and are about {check.error:.1e} from the limit, "
                f"after {check.round} rounds.",
            )
        # error estimates are noise once only rounding is left: plateaus are judged by the raw numbers
        plateau = max(check.change, check.disagreement)
        if plateau < 0.9 * self._best:
            self._best, self._best_round = plateau, check.round
        waited = check.round - self._best_round
        if plateau <= floor and wanders and waited >= 2 * self._window:
            return Conclusion(
                Status.CONVERGED,
                f"All agents agree to {check.disagreement:.1e} after {check.round} rounds: the rounding floor "
                f"of masks this large, which is above the tolerance of {self.rule.tolerance:.0e}.",
            )
        if waited >= max(_PATIENCE * self._window, check.round / 2) and not (self._drifting and self.exact):
            return Conclusion(Status.STALLED, self._stalled(check))
        return self._out_of_rounds(check)

    def _judge_estimated(self, check: Check, floor: float, scale: float) -> Conclusion | None:
        """Judge by what the algorithm says of its error; all agents are at the same point."""
        if check.error is not None and check.error <= self.rule.tolerance:
            return Conclusion(
                Status.CONVERGED,
                f"All agents are at the same point, about {check.error:.1e} from the optimum of what was added up, "
                f"after {check.round} round{'s' * (check.round > 1)}.",
            )
        if check.error is not None and check.error < 0.9 * self._best:
            self._best, self._best_round = check.error, check.round
        waited = check.round - self._best_round
        if self._best <= max(floor, _TINY / scale) and waited >= _SETTLED:
            return Conclusion(
                Status.CONVERGED,
                f"All agents are at the same point, about {self._best:.1e} from the optimum, after {check.round} "
                f"rounds: sums this coarse end above the tolerance of {self.rule.tolerance:.0e}.",
            )
        self._refused = 0 if check.change else self._refused + 1
        if self._refused >= _ATTEMPTS or waited >= max(_PATIENCE * self._window, check.round / 2):
            return Conclusion(Status.STALLED, self._stalled(check))
        return self._out_of_rounds(check)

    def _out_of_rounds(self, check: Check) -> Conclusion | None:
        if check.round < self.rule.max_rounds:
            return None
        if self._prompt:
            return Conclusion(
                Status.OUT_OF_ROUNDS,
                f"{check.round} round{'s were' if check.round > 1 else ' was'} not enough: allow more.",
            )
        return Conclusion(
            Status.OUT_OF_ROUNDS,
            f"{check.round} rounds were not enough: agents agree to {check.disagreement:.1e} and still move "
            f"by {check.change:.1e} a round. Allow more rounds, add links, or try another algorithm.",
        )

    def _stalled(self, check: Check) -> str:
        where = f"No progress since round {self._best_round}: agents disagree by {check.disagreement:.1e}."
        if not self.exact:
            return f"{where} This method is inexact, and masks make it worse; use an exact one, such as 'nids'."
        if self._prompt:
            return f"{where} The costs may have no minimum: add a small l2 penalty, or use finer sums (words = 2)."
        return f"{where} Allow a larger tolerance, use a smaller sigma, or try another algorithm."

    def _fraction(self, check: Check) -> float:
        """Return the share of the decades from the first disagreement down to the tolerance."""
        estimated = self._prompt and check.error is not None
        measure = max(check.error or 0.0 if estimated else check.change, check.disagreement, self.rule.tolerance)
        first = max(1.0 if estimated else self.history[0].change, self.history[0].disagreement, measure)
        target = self.rule.tolerance
        decades = np.log(first / target)
        return float(np.clip(np.log(first / measure) / decades, 0.0, 1.0)) if decades > 0 else 0.0
