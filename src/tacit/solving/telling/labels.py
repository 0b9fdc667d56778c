"""Labels that follow from the answer, where features are open.

    Σ_i ∇φ_i(x*) = Σ_i A_iᵀy_i        the answer tells the right-hand side, exactly, to whoever knows the features

Affine masks hide labels and leave features in the open, so what is told of the labels of all agents but c is
A_Hᵀy_H: as many combinations as A_H has independent columns. The labels of agent i are determined iff the rows of
A_i are independent of all other rows in A_H (`tacit.certificates.determined`).

Where all agents but any two have far more rows than there are unknowns, rows depend on each other and no label
follows, unless a column is zero at nearly everybody: then its sums belong to whoever has it. The test looks at
columns always, and at the rest of the linear algebra only where records are few or such a column was seen; beside a
run on many records it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.certificates.determined import knowledge, whole
from tacit.costs.secrets import Labels
from tacit.masks import Mechanism
from tacit.network.topology import listed
from tacit.solving.problem import Problem
from tacit.solving.telling.count import Telling
from tacit.stamps import Stamp

_OF_ANSWERS = 1e-9
"""The relative precision of what an answer tells: it is known to the tolerance of the run."""
_PLENTY = 2
"""Rows per unknown, beside the two largest agents, from which on rows in general position leave nothing to ask."""


class LabelVerdict(NamedTuple):
    """What the answer tells of labels to the best informed single agent."""

    hidden: int
    """Labels of all agents but the one with the most."""
    rank: int
    """Combinations of them that are told."""
    determined: tuple[int, ...]
    """How many labels of each agent some single other agent can compute."""
    own_columns: tuple[tuple[int, int], ...]
    """(column, agent): a column that is zero at all others, or at all others but one, who then knows its sums."""


def labels_told(labels: Sequence[Labels], *, precision: float) -> LabelVerdict:
    """Return what follows from the answer, by the open features of every agent."""
    counts = np.array([part.records for part in labels])
    m, n = labels[0].rows.shape[1], len(labels)
    hidden = int(counts.sum() - counts.max())
    held = np.array([part.rows.any(axis=0) for part in labels])  # (n, m)
    own = tuple(
        (int(column), int(agent))
        for column in np.flatnonzero((held.sum(axis=0) > 0) & (held.sum(axis=0) <= min(2, n - 1)))
        for agent in np.flatnonzero(held[:, column])
    )
    nothing = LabelVerdict(hidden, min(m, hidden), (0,) * n, own)
    if not own and counts.sum() - np.sort(counts)[-2:].sum() >= _PLENTY * m:
        return nothing
    most = _PLENTY * m + 8  # rows beyond these add nothing: they depend on the others
    rows = [part.rows[:most] for part in labels]
    ends = np.cumsum([len(part) for part in rows])
    blocks = [np.arange(end - len(part), end) for part, end in zip(rows, ends, strict=True)]
    known = knowledge(np.concatenate(rows).T, precision=precision)
    told = known.singles
    if not told.all():
        for block in blocks:
            others = np.ones(len(told), dtype=bool)
            others[block] = False
            told = told | (whole(known.leverage_given(block)) & others)
    determined = tuple(
        int(told[block].sum()) if count == len(block) else 0 for block, count in zip(blocks, counts, strict=True)
    )
    return nothing._replace(rank=min(known.rank, hidden), determined=determined)


def of_labels(problem: Problem, privacy: Mechanism) -> tuple[Telling | None, list[Stamp]]:
    """Return what the answer tells of labels, and whose columns nobody else has; None where parts are no labels."""
    labels = [part for cost in problem.costs if (part := cost.labels) is not None]
    if len(labels) < len(problem.costs):
        return None, []
    names = [str(agent) for agent in problem.network.agents]
    size = float(np.median([np.abs(part.rows).max() for part in labels])) or 1.0
    error = len(labels) * privacy.terms(problem.network, problem.dim).step / 2.0
    precision = min(max(_OF_ANSWERS, error / size), 0.1)
    verdict = labels_told(labels, precision=precision)
    bits = [part.bits for part in labels]
    tells = Telling(
        noun="label",
        hidden=verdict.hidden,
        numbers=problem.dim,
        rank=verdict.rank,
        determined=sum(verdict.determined),
        agents=tuple(name for name, count in zip(names, verdict.determined, strict=True) if count),
        onlooker=names[int(np.argmax([part.records for part in labels]))],
        bits=None if None in bits else verdict.hidden * max(b or 0.0 for b in bits),
        told_bits=None if None in bits else -verdict.rank * math.log2(precision),
    )
    own = sorted({names[agent] for _, agent in verdict.own_columns})
    if not own:
        return tells, []
    columns = sorted({column for column, _ in verdict.own_columns})
    sentence = (
        f"column(s) {listed(columns)} are zero at all agents but one or two, so that their sums are those of "
        f"agent(s) {listed(own)} alone; leave such columns out, or join their categories."
    )
    return tells, [Stamp(reason="own column", sentence=sentence, agents=tuple(own))]
