"""What an audit found: who was believed to have what, how sure the attacker was, what was true, and the verdicts.

A report holds private numbers, the truth beside every belief: it is for whoever simulates a problem, and for nobody
else.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from scipy.special import ndtr, ndtri

from tacit.auditing.judging.verdict import Verdict
from tacit.auditing.trials.game import Game
from tacit.showing import Shown, frame
from tacit.stamps import Stamp


class BestEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What the best attack believes about one agent's gradient at the public point."""

    attack: str
    value: list[float]
    deviation: float


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One honest agent in the headline table."""

    agent: str
    truth: list[float]
    """Known to the simulation alone."""
    without_masks: BestEstimate | None = None
    with_masks: BestEstimate | None = None
    predicted: float | None = None
    """The deviation that the certificate promises; None without masks, or where all words are uniform."""


class AuditReport(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """One audit. `passed` is the gate."""

    tacit: str
    coalition: list[str]
    agents: int
    links: int
    unknowns: int
    mechanism: str
    sigma: float | None
    algorithm: str
    runtime: str
    """Where the run was recorded."""
    releases: str = "stacked"
    """Where releases of made-up secrets and games ran."""
    private: bool
    """Whether masks were used, no stamp takes their promise back, and no attack beats the certificate."""
    stamps: list[Stamp] = []
    """Why the run, or somebody in it, is not private; cautions too."""
    privacy: list[str] = []
    """What is promised, in sentences: what the attacks were to beat."""
    rows: list[Row]
    without_masks: list[Verdict]
    """Attacks on the plain algorithm: what would have leaked."""
    with_masks: list[Verdict]
    game: Game | None = None
    messages: Game | None = None
    """The game with phase-2 messages as further features."""
    certificate: dict[str, Any] | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether something was attacked, and no verdict is red: no certificate beaten, no attack too weak."""
        return self.attacked and not self.red

    @property
    def attacked(self) -> bool:
        """Whether there was anything to attack; with masks, behind them."""
        verdicts = self.without_masks if self.mechanism == "none" else self.with_masks
        return any(verdict.status != "skipped" for verdict in verdicts)

    @property
    def red(self) -> list[Verdict]:
        """The verdicts that fail the gate."""
        return [verdict for verdict in (*self.without_masks, *self.with_masks) if verdict.is_red]

    @property
    def level(self) -> float:
        """The chance that an audit of masks that are as they should be is red: what all verdicts add up to."""
        return sum(verdict.level for verdict in (*self.without_masks, *self.with_masks))

    def sentence(self) -> str:
        """Return the outcome in a sentence."""
        who = f"agent{'s' * (len(self.coalition) > 1)} {', '.join(self.coalition)}" if self.coalition else "nobody"
        read = sum(row.without_masks is not None for row in self.rows)
        plain = f"Without masks, {who} would have read {read} of {len(self.rows)} other agents."
        if not self.attacked and not self.red:
            return "No attack applies to this run: it was not audited."
        if self.mechanism == "none":
            return plain if self.passed else f"The audit is broken: {self.red[0].attack} {self.red[0].says}."
        if self.passed:
            reasons = list(dict.fromkeys(stamp.reason for stamp in self.stamps if stamp.voids))
            clear = f"{plain} With them, no attack beats the certificate."
            if self.private and (self.certificate is None or self.certificate["private"]):
                return clear
            word = "NOT PROVEN" if reasons == ["not proven"] else "NOT PRIVATE"
            return f"{word} ({', '.join(reasons) or 'coalition'}), whatever the attacks find. {clear}"
        worst = self.red[0]
        how = "the certificate is beaten" if worst.status == "beaten" else "an attack is suspiciously weak"
        return f"RED: {how}: {worst.attack}, {worst.says}."

    def table(self) -> list[tuple[str, str, str, str]]:
        """Return the headline table: agent, truth, and what is believed without masks and with."""
        return headline(self.rows)

    def plots(self) -> dict[str, dict[str, list[float | None]]]:
        """Return the data of the pictures: errors against predictions, and the ROC curve beside its theory."""
        series: dict[str, dict[str, list[float | None]]] = {
            "errors": {
                "predicted": [row.predicted for row in self.rows],
                "without_masks": [_error(row.without_masks, row.truth) for row in self.rows],
                "with_masks": [_error(row.with_masks, row.truth) for row in self.rows],
            }
        }
        if self.game is not None:
            theory = ndtr(ndtri(np.array(self.game.false_alarms)) + self.game.mu)
            series["roc"] = {
                "false_alarms": [*self.game.false_alarms],
                "detections": [*self.game.detections],
                "theory": theory.tolist(),
            }
        return series

    def to_frame(self) -> Any:
        """Return every attack's verdict as a table of pandas."""
        both = (("without masks", self.without_masks), ("with masks", self.with_masks))
        rows = [{"attack": v.attack, "masks": name, **msgspec.to_builtins(v)} for name, each in both for v in each]
        return frame(rows, "attack")

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *self.privacy])

    def to_json(self) -> str:
        """Return the report as indented JSON, with its plots' data and whether it passed."""
        whole = {
            "passed": self.passed,
            "sentence": self.sentence(),
            "level": self.level,
            **msgspec.to_builtins(self),
            "plots": self.plots(),
        }
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()


def headline(rows: list[Row]) -> list[tuple[str, str, str, str]]:
    """Return rows in words: agent, truth, and what is believed without masks and with."""
    return [(row.agent, _numbers(row.truth), _belief(row.without_masks), _belief(row.with_masks)) for row in rows]


def _error(belief: BestEstimate | None, truth: list[float]) -> float | None:
    if belief is None:
        return None
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(belief.value, truth, strict=False)) / max(len(truth), 1))


def _belief(belief: BestEstimate | None) -> str:
    if belief is None:
        return "–"
    sure = "exact" if belief.deviation <= 1e-6 * max(1.0, *map(abs, belief.value)) else f"± {belief.deviation:.3g}"
    return f"{_numbers(belief.value)} {sure}"


def _numbers(values: list[float]) -> str:
    shown = ", ".join(f"{value:.6g}" for value in values[:2])
    return f"{shown}, …" if len(values) > 2 else shown
