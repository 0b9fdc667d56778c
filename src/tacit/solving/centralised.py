"""The optimum that somebody with everybody's costs would compute: what privacy must not change."""

from __future__ import annotations

import numpy as np

from tacit.solving.problem import Problem
from tacit.typing import Array


def centralised(problem: Problem) -> Array:
    """Return argmin Σ h_i, from all costs in one place and by SciPy: to compare with, in simulations.

    Needs costs that are twice differentiable.

    >>> import tacit, networkx as nx
    >>> centralised(tacit.Problem(nx.path_graph(2), [tacit.Quadratic.distance([x]) for x in (1.0, 4.0)])).round(6)
    array([2.5])
    """
    from scipy.optimize import minimize  # heavy, and a run goes without

    def everywhere(x: Array) -> Array:
        return np.tile(x, (len(problem.costs), 1))

    optimum = minimize(
        lambda x: float(problem.stack.value(everywhere(x)).sum()),
        problem.x0,
        jac=lambda x: problem.stack.grad(everywhere(x)).sum(axis=0),
        hess=lambda x: problem.stack.hess(everywhere(x)).sum(axis=0),
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    return np.asarray(optimum.x)
