"""Public records to measure on: files in the format of LIBSVM and svmlight, and made-up ones of a9a's shape.

a9a is the census of 1994 as LIBSVM's collection has it: 32 561 records of 123 binary columns, of which each has
about fourteen ones, and 16 281 more to test on. It belongs to nobody here: give the folder that has the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileError, InputError
from tacit.typing import Array

COLUMNS, RECORDS, ONES = 123, 32_561, 14
_STEEP = 1.5  # how far most scores lie below zero: about a quarter of the labels are true, as in the census


class LabelledRecords(NamedTuple):
    """Features, (N, p), and whether each label is the larger of two."""

    X: Array
    y: NDArray[np.bool_]


def load_svmlight(path: str | Path, *, columns: int | None = None) -> LabelledRecords:
    """Return the records of a file in the format of svmlight, with two different labels; *columns* of them."""
    from sklearn.datasets import load_svmlight_file

    path = Path(path)
    if not path.is_file():
        raise FileError(f"{path}: is not there; give a file in the format of svmlight.")
    try:
        X, labels = load_svmlight_file(path, n_features=columns)
    except ValueError:
        wide = "" if columns is None else f", or has more than {columns} columns"
        raise FileError(f"{path}: is not in the format of svmlight{wide}.") from None
    values = np.unique(labels)
    if len(values) != 2:
        raise FileError(f"{path}: has {len(values)} different label(s), and two are needed.")
    return LabelledRecords(X.toarray(), labels == values[1])


def load_a9a(folder: str | Path) -> tuple[LabelledRecords, LabelledRecords]:
    """Return a9a's records, and those to test on: the files `a9a` and `a9a.t` of a folder."""
    first, second = (load_svmlight(Path(folder) / name, columns=COLUMNS) for name in ("a9a", "a9a.t"))
    return first, second


def like_a9a(records: int = RECORDS, *, seed: int = 0) -> LabelledRecords:
    """Return made-up records of a9a's shape: fourteen ones among 123 columns, and labels of a logistic model.

    >>> made = like_a9a(1000)
    >>> made.X.shape, int(made.X.sum(axis=1).min()), int(made.X.sum(axis=1).max())
    ((1000, 123), 14, 14)
    """
    if records < 1:
        raise InputError(f"records = {records} must be at least 1.")
    rng = np.random.default_rng(seed)
    X = np.zeros((records, COLUMNS))
    for group in np.array_split(np.arange(COLUMNS), ONES):  # one level of each of fourteen factors
        chances = rng.dirichlet(np.full(len(group), 0.7))
        X[np.arange(records), rng.choice(group, size=records, p=chances)] = 1.0
    weights = rng.normal(size=COLUMNS)
    return LabelledRecords(X, rng.random(records) < 1.0 / (1.0 + np.exp(_STEEP - X @ weights)))
