"""Columns that one or two agents have, under masks that hide whole costs: their sums are those of these agents.

(Σ_i A_iᵀA_i)_k = Σ over the records that are not zero in column k       one record there is read off as it is
"""

from __future__ import annotations

import numpy as np

from tacit.listing import listed
from tacit.solving.problem import Problem
from tacit.stamps import Stamp

_FEW = 2


def columns_of_few(problem: Problem) -> list[Stamp]:
    """Return the stamp of columns with one or two holders; an agent without a design may be one of them."""
    designs = {
        str(a): h for a, c in zip(problem.network.agents, problem.costs, strict=True) if (h := c.held) is not None
    }
    if not designs or len({len(has) for has in designs.values()}) > 1:
        return []
    held = np.array(list(designs.values()))
    holders = held.sum(axis=0) + len(problem.costs) - len(designs)
    columns = np.flatnonzero(held.any(axis=0) & (holders <= _FEW))
    if not len(columns):
        return []
    agents = [name for name, has in designs.items() if has[columns].any()]
    return [own_columns([int(k) for k in columns], agents)]


def own_columns(columns: list[int], agents: list[str]) -> Stamp:
    """Return the stamp of columns that one or two agents hold."""
    sentence = (
        f"column(s) {listed(columns)} are zero at all agents but one or two, so that their sums are those of "
        f"agent(s) {listed(agents)} alone; leave such columns out, or join their categories."
    )
    return Stamp(reason="own column", sentence=sentence, agents=tuple(agents))
