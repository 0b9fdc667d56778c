"""The public conformance kit: what every cost, algorithm, attack and mechanism must satisfy, as functions to call.

    >>> import numpy as np, tacit
    >>> from tacit.testing import check_cost
    >>> check_cost(tacit.Quadratic(np.eye(2), np.ones(2)))

Each check raises `AssertionError` with a sentence. docs/new-algorithm.md, docs/protection.md and docs/audit.md show
them in use.
"""

from tacit.testing.algorithms import check_algorithm, small_problem
from tacit.testing.attacks import check_attack
from tacit.testing.costs import check_cost, check_rough
from tacit.testing.mechanisms import check_mechanism

__all__ = ["check_algorithm", "check_attack", "check_cost", "check_mechanism", "check_rough", "small_problem"]
