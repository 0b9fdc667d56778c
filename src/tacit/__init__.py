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

import typing as _typing
from importlib import import_module as _import_module

from tacit.showing import show_with as _show_with

if _typing.TYPE_CHECKING:
    from tacit import algorithms, dispatch, federation, peers
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
    from tacit.comparing import compare
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
    from tacit.differential import DifferentialPrivacy
    from tacit.errors import TacitError
    from tacit.masks import AffineMasks, BasisMasks, QuadraticMasks, SumMasks
    from tacit.network import Network
    from tacit.solving import Answer, Problem, RunRecord, load_problem, solve

_HOMES: dict[str, tuple[str, ...]] = {
    "tacit": (
        "algorithms",
        "dispatch",
        "federation",
        "peers",
    ),
    "tacit.auditing": (
        "AuditReport",
        "audit",
    ),
    "tacit.certificates": (
        "Certificate",
        "Ledger",
        "allocate",
        "augment",
        "calibrate",
        "certify",
        "design",
        "leakage",
        "worst_coalition",
    ),
    "tacit.comparing": ("compare",),
    "tacit.costs": (
        "L1",
        "AbsoluteValue",
        "Affine",
        "Box",
        "CallableCost",
        "ElasticNet",
        "Expansion",
        "Huber",
        "LeastSquares",
        "Logistic",
        "Monomials",
        "Poisson",
        "Quadratic",
    ),
    "tacit.differential": ("DifferentialPrivacy",),
    "tacit.errors": ("TacitError",),
    "tacit.masks": (
        "AffineMasks",
        "BasisMasks",
        "QuadraticMasks",
        "SumMasks",
    ),
    "tacit.network": ("Network",),
    "tacit.solving": (
        "Answer",
        "Problem",
        "RunRecord",
        "load_problem",
        "solve",
    ),
}  # a name is loaded when it is first used: an agent's process does not carry what it does not need


def __getattr__(name: str) -> _typing.Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    value = _import_module(f"tacit.{name}") if home == "tacit" else getattr(_import_module(home), name)
    globals()[name] = value
    return value


_show_with(lambda: _import_module("tacit.report"))  # when the first result is to be shown


def __dir__() -> list[str]:
    return __all__


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
    "DifferentialPrivacy",
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
    "compare",
    "design",
    "dispatch",
    "federation",
    "leakage",
    "load_problem",
    "peers",
    "solve",
    "worst_coalition",
]
