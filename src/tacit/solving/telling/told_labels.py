"""Labels that follow from the answer, where features are open.

    Σ_i ∇φ_i(x*) = Σ_i A_iᵀy_i        the answer tells the right-hand side, exactly, to whoever knows the features

Affine masks hide labels and leave features in the open, so what is told of the labels of all agents but c is
A_Hᵀy_H: as many combinations as A_H has independent columns (`label_rank`).
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from tacit.masks import Mechanism
from tacit.solving.problem import Problem
from tacit.solving.telling.columns import own_columns
from tacit.solving.telling.count import Telling
from tacit.solving.telling.label_rank import labels_told
from tacit.solving.telling.open_rows import OpenRows
from tacit.stamps import Stamp

_OF_ANSWERS = 1e-9
"""The relative precision of what an answer tells: it is known to the tolerance of the run."""


def of_labels(problem: Problem, privacy: Mechanism) -> tuple[Telling | None, list[Stamp]]:
    """Return what the answer tells of labels, and whose columns nobody else has; None where nobody has labels.

    Costs without labels whose affine part is told by the rest of them hide nothing from anybody.
    """
    agents = [str(agent) for agent in problem.network.agents]
    pairs = zip(agents, problem.costs, strict=True)
    parts = {name: part for name, cost in pairs if (part := cost.labels) is not None}
    if not parts:
        return None, []
    pairs = zip(agents, problem.costs, strict=True)
    strangers = [name for name, cost in pairs if name not in parts and cost.affine_part.parts]
    names, labels = list(parts), list(parts.values())
    table = OpenRows.of(labels)
    size = median(table.sizes.tolist()) or 1.0
    error = len(agents) * privacy.terms(problem.network, problem.dim).step / 2.0
    precision = min(max(_OF_ANSWERS, error / size), 0.1)
    verdict = labels_told(labels, precision=precision, strangers=len(strangers), table=table)
    bits = [part.bits for part in labels]
    classes = None not in bits and len(strangers) <= 1
    tells = Telling(
        noun="label",
        hidden=verdict.hidden,
        numbers=problem.dim,
        rank=verdict.rank,
        determined=sum(verdict.determined),
        agents=tuple(name for name, count in zip(names, verdict.determined, strict=True) if count),
        onlooker=strangers[0] if strangers else names[int(np.argmax([part.records for part in labels]))],
        bits=verdict.hidden * max(b or 0.0 for b in bits) if classes else None,
        told_bits=-verdict.rank * math.log2(precision) if classes else None,
        coalition=verdict.coalition,
    )
    own = sorted({names[agent] for _, agent in verdict.own_columns})
    if not own:
        return tells, []
    columns = sorted({column for column, _ in verdict.own_columns})
    return tells, [own_columns(columns, own)]
