"""One problem, every approach to privacy: what each gives, what it takes, and what it gives away."""

from tacit.comparing.approaches import approaches
from tacit.comparing.compare import compare
from tacit.comparing.comparison import HEADINGS, ComparedRow, ComparisonReport
from tacit.comparing.presets import PRESETS, Preset, preset
from tacit.comparing.race import Race, Reached, Runner, race
from tacit.comparing.recovery import Recovery

__all__ = [
    "HEADINGS",
    "PRESETS",
    "ComparedRow",
    "ComparisonReport",
    "Preset",
    "Race",
    "Reached",
    "Recovery",
    "Runner",
    "approaches",
    "compare",
    "preset",
    "race",
]
