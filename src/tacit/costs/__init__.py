"""The private costs h_i, their stacking, and the effective cost of eq. (5)."""

from tacit.costs.affine import Affine
from tacit.costs.composite import AbsoluteValue, Composite
from tacit.costs.concomitant import ConcomitantHuber
from tacit.costs.custom import CallableCost
from tacit.costs.expansion import Expansion
from tacit.costs.family import Curvature, Family
from tacit.costs.functions import Function, Functions, Monomials
from tacit.costs.huber import Huber
from tacit.costs.in_batches import InBatches
from tacit.costs.least_squares import LeastSquares
from tacit.costs.logistic import Logistic
from tacit.costs.multinomial import Multinomial, contrasts
from tacit.costs.packed import pack, packed_size, unpack
from tacit.costs.passes import Passes, RowBatch
from tacit.costs.poisson import Poisson
from tacit.costs.quadratic import Quadratic
from tacit.costs.rough import L1, Box, ElasticNet, Rough
from tacit.costs.stack import CostStack, stack

__all__ = [
    "L1",
    "AbsoluteValue",
    "Affine",
    "Box",
    "CallableCost",
    "Composite",
    "ConcomitantHuber",
    "CostStack",
    "Curvature",
    "ElasticNet",
    "Expansion",
    "Family",
    "Function",
    "Functions",
    "Huber",
    "InBatches",
    "LeastSquares",
    "Logistic",
    "Monomials",
    "Multinomial",
    "Passes",
    "Poisson",
    "Quadratic",
    "Rough",
    "RowBatch",
    "contrasts",
    "pack",
    "packed_size",
    "stack",
    "unpack",
]
