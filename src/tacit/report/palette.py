"""The colours of every picture and page: one name per meaning, with a light and a dark value.

Verdicts are never told by colour alone: whatever is red also has a sign or a word.
"""

from __future__ import annotations

from types import SimpleNamespace

LIGHT = SimpleNamespace(
    paper="#ffffff", card="#f6f7f9", ink="#1f2430", soft="#5b6270", rule="#d4d7dd", edge="#9aa1ad",
    grey="#6b7280", teal="#0b7a6f", blue="#2f5fd0", purple="#8a3fc4", orange="#c2410c",
    red="#b3261e", pale="#e8eefc", blush="#fde7e4", sand="#fdf0e1",
)  # fmt: skip
DARK = SimpleNamespace(
    paper="#14171e", card="#1c2029", ink="#eceff4", soft="#a3abb9", rule="#343a46", edge="#6f7787",
    grey="#a4acba", teal="#3fd0c0", blue="#7ea6ff", purple="#cb95f5", orange="#ff9457",
    red="#ff8a80", pale="#1b2a4d", blush="#4a2320", sand="#43301a",
)  # fmt: skip

LINES = ("blue", "orange", "teal", "purple", "grey")
"""The colours of lines, in their order."""


def twins() -> dict[str, str]:
    """Return the dark value of every light one."""
    return {colour: getattr(DARK, name) for name, colour in vars(LIGHT).items()}
