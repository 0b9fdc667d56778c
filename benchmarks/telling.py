"""What counting costs: the test of what an answer tells beside the run that it precedes.

The label rank test must add at most 5 % to `solve` under affine masks. Beside secret sums, runs on few records are
short, and inventing records takes longer than they do; on many records a count is enough.
"""

from __future__ import annotations

import warnings
from time import process_time

import networkx as nx
import numpy as np

import tacit
from benchmarks.timing import side_by_side
from tacit.solving.solve import prepare
from tacit.solving.telling import telling

_TARGET = 0.05
_LABELS = (
    (6, 6, 40),
    (20, 50, 5),
    (20, 500, 20),
    (50, 1, 40),
    (100, 20, 10),
    (30, 20, 100),
    (10, 3, 200),
    (200, 5, 5),
)
_CATEGORIES = ((20, 50, 5), (20, 50, 20), (20, 50, 40))
_BESIDE = (
    "nothing else",
    "a constant",
    "categories of a second variable",
    "a number",
    "a number and a constant",
    "a second variable, a number and a constant",
)
_RECORDS = ((4, 4, 3), (6, 6, 3), (20, 50, 5), (20, 500, 20))


def main() -> None:
    """Print three tables: times of this process, which a busy machine disturbs least."""
    print("\nLabels under affine masks: the rank test beside solve")
    _table(_LABELS, tacit.AffineMasks(1e3), _TARGET)
    for beside in _BESIDE:
        print(f"\nLabels of records in one category each, with a column for every category, beside {beside}")
        _table(_CATEGORIES, tacit.AffineMasks(1e3), _TARGET, beside=beside)
    print("\nRecords behind secret sums: the count, or invented runs, beside solve")
    _table(_RECORDS, tacit.SumMasks(), None)


def _table(
    cases: tuple[tuple[int, int, int], ...],
    privacy: tacit.masks.Mechanism,
    target: float | None,
    *,
    beside: str | None = None,
) -> None:
    print(f"{'agents':>7}{'records':>9}{'unknowns':>10}{'test, ms':>10}{'solve, ms':>11}{'ratio':>8}")
    for agents, records, m in cases:
        rng = np.random.default_rng(0)
        tables = [
            rng.normal(size=(records, m)) if beside is None else _categories(rng, records, m, beside)
            for _ in range(agents)
        ]
        costs = [tacit.Logistic(A, rng.integers(0, 2, records), l2=0.1) for A in tables]
        problem = tacit.Problem(nx.random_regular_graph(min(4, agents - 1), agents, seed=1), costs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            job = prepare(problem, privacy=privacy).job
            test, run, ratio = side_by_side(
                lambda problem=problem, job=job: telling(problem, job),  # type: ignore[misc]
                lambda problem=problem: tacit.solve(problem, privacy=privacy),  # type: ignore[misc]
                turns=25,
                clock=process_time,
            )
        over = "  over the target" if target is not None and ratio > target else ""
        print(f"{agents:>7}{records:>9}{m:>10}{1e3 * test:>10.2f}{1e3 * run:>11.1f}{ratio:>8.3f}{over}")


def _categories(rng: np.random.Generator, records: int, m: int, beside: str) -> tacit.typing.Array:
    """Return a column for each of m categories, and for what is *beside* them."""
    columns = [np.eye(m)[rng.integers(0, m, records)]]
    if "second" in beside:
        columns.append(np.eye(4)[rng.integers(0, 4, records)])
    if "number" in beside:
        columns.append(rng.normal(size=(records, 1)))
    if "constant" in beside:
        columns.append(np.ones((records, 1)))
    return np.concatenate(columns, axis=1)
