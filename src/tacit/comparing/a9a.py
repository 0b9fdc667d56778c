"""Rows of a9a's shape: 32 561 records of 14 attributes, each of them one of several levels, 123 levels in all.

a9a is public (Adult, in the format of LIBSVM), and in no package: a file of it is read where one is named. Without
one, records are made up: every attribute has one level, and an outcome depends on the levels.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.errors import FileError
from tacit.typing import Array

RECORDS, LEVELS = 32_561, 123
_ATTRIBUTES = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)  # levels of each


class LabelledRows(NamedTuple):
    """Binary features, (records, levels), and outcomes 0 and 1."""

    A: Array
    y: Array
    origin: str
    """Where they are from."""

    def split(self, agents: int, seed: int = 0) -> list[tuple[Array, Array]]:
        """Return every agent's records: all of them shuffled, and dealt out evenly."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        return [(self.A[part], self.y[part]) for part in np.array_split(order, agents)]


def a9a(path: str | Path | None = None) -> LabelledRows:
    """Return a9a from a file of LIBSVM's format, or made-up records of its shape."""
    return _made_up() if path is None else _read(Path(path))


def _read(path: Path) -> LabelledRows:
    try:
        lines = path.read_text(encoding="ascii").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read as text of LIBSVM's format.") from error
    lines = [line for line in lines if line.strip()]
    A, y = np.zeros((len(lines), LEVELS)), np.zeros(len(lines))
    for i, line in enumerate(lines):
        label, *entries = line.split()
        try:
            y[i] = float(label) > 0
            for place, _, number in (entry.partition(":") for entry in entries):
                A[i, int(place) - 1] = float(number)
        except (ValueError, IndexError) as error:
            raise FileError(
                f"{path}, line {i + 1}: is no row of a9a: a label, and up to {LEVELS} pairs index:value."
            ) from error
    return LabelledRows(A, y, "records of a9a")


def _made_up() -> LabelledRows:
    rng = np.random.default_rng(9)
    A = np.zeros((RECORDS, LEVELS))
    first = 0
    for levels in _ATTRIBUTES:
        often = rng.dirichlet(np.full(levels, 0.7))
        A[np.arange(RECORDS), first + rng.choice(levels, RECORDS, p=often)] = 1.0
        first += levels
    score = A @ rng.normal(0.0, 0.8, LEVELS)
    chance = 1.0 / (1.0 + np.exp(-(score - np.quantile(score, 0.79))))
    y = (rng.random(RECORDS) < chance).astype(float)
    return LabelledRows(A, y, "records made up in a9a's shape")
