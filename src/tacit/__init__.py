"""tacit: agree on the optimum without telling anyone your costs.

>>> import networkx as nx, tacit
>>> points = [1.0, 2.0, 6.0]                                        # private to three agents
>>> costs = [tacit.Quadratic.distance([point]) for point in points]
>>> problem = tacit.Problem(nx.complete_graph(3), costs)
>>> answer = tacit.solve(problem, privacy=tacit.AffineMasks(sigma=10.0))
>>> round(float(answer.x[0]), 6)
3.0
>>> answer.certificate(coalition={2}).epsilon                       # Theorem 2: 1 / (4·10²·2)
0.00125
>>> answer = tacit.solve(problem, protect="whole")                  # secret sums: nobody's cost is seen at all
>>> answer.record.phase2.algorithm, round(float(answer.x[0]), 6)
('Direct', 3.0)
"""

from tacit import algorithms
from tacit.auditing import AuditReport, audit
from tacit.certificates import (
    Certificate,
    Ledger,
    allocate,
    augment,
    calibrate,
    certify,
    design,
    leakage,
    worst_coalition,
)
from tacit.costs import (
    L1,
    AbsoluteValue,
    Affine,
    Box,
    CallableCost,
    ElasticNet,
    Expansion,
    Huber,
    LeastSquares,
    Logistic,
    Monomials,
    Poisson,
    Quadratic,
)
from tacit.errors import TacitError
from tacit.masks import AffineMasks, BasisMasks, QuadraticMasks, SumMasks
from tacit.network import Network
from tacit.runtimes import peers
from tacit.solving import Answer, Problem, RunRecord, load_problem, solve

__all__ = [
    "L1",
    "AbsoluteValue",
    "Affine",
    "AffineMasks",
    "Answer",
    "AuditReport",
    "BasisMasks",
    "Box",
    "CallableCost",
    "Certificate",
    "ElasticNet",
    "Expansion",
    "Huber",
    "LeastSquares",
    "Ledger",
    "Logistic",
    "Monomials",
    "Network",
    "Poisson",
    "Problem",
    "Quadratic",
    "QuadraticMasks",
    "RunRecord",
    "SumMasks",
    "TacitError",
    "algorithms",
    "allocate",
    "audit",
    "augment",
    "calibrate",
    "certify",
    "design",
    "leakage",
    "load_problem",
    "peers",
    "solve",
    "worst_coalition",
]
