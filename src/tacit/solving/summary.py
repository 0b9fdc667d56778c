"""An answer in sentences: what was computed, how, and what was hidden from whom."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.solving.answer import Answer
from tacit.solving.record import SHOWN, Phase2, vector


def summary(answer: Answer, privacy: Sequence[str]) -> list[tuple[str, str]]:
    """Return the summary as pairs of a heading and a sentence."""
    record = answer.record
    phase2 = record.phase2
    lines = [
        ("status", f"{record.status}. {record.sentence}"),
        ("x", vector(record.x)),
        *([("coefficients", _named(record.names, record.x))] if record.names else []),
        *([] if record.left_out is None else [("left out", f"{record.left_out} record(s), because of gaps")]),
        (
            "problem",
            f"{len(record.agents)} agents, {len(record.links)} links, {record.unknowns} unknown(s), "
            f"{', '.join(record.families)}",
        ),
        ("phase 1", "none" if record.phase1 is None else str(record.phase1)),
        (
            "phase 2",
            f"{phase2.algorithm} ({phase2.reason}), {_steps(phase2)}, {phase2.messages} messages, "
            f"{phase2.bytes / 1024:.0f} KiB, {record.seconds:.2f} s on the {record.runtime} runtime",
        ),
    ]
    lines += [("privacy", sentence) for sentence in privacy]
    lines += [("warning", sentence) for sentence in record.warnings]
    return lines


def _steps(phase2: Phase2) -> str:
    rounds = f"{phase2.rounds} round{'s' * (phase2.rounds != 1)}"
    if phase2.sums:
        return f"{rounds} of sums in {phase2.exchanges} hops"
    return rounds if phase2.exchanges <= phase2.rounds + 1 else f"{rounds} in {phase2.exchanges} exchanges"


def _named(names: tuple[str, ...], x: list[float | None]) -> str:
    """Return the entries of x with their names."""
    shown = [f"{name} = {'–' if value is None else f'{value:.6g}'}" for name, value in zip(names, x, strict=True)]
    more = [f"… {len(shown) - SHOWN} more"] if len(shown) > SHOWN else []
    return ", ".join(shown[:SHOWN] + more)
