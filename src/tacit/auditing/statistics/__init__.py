"""Statistics of numbers that must be independent, and normal or uniform: how likely is the worst of what one sees?

    sizes      Σy² over all, over a coordinate, over a group: χ²
    shapes     the distance from the law: Kolmogorov and Smirnov; how many lie far out; single bits
    pairs      products of any two rows, at every distance, of numbers and of waves of them: linear or not
    repeats    numbers that come twice, as they are, up to a factor, a turn of their bits, or with other low bits
    ranks      bits that follow from other bits by exclusive or: rank over GF(2)

A statistic is one test. Its p is uniform on [0, 1] where all is as it should be (or larger, where its docstring
says so); the worst of k independent numbers counts as 1 − (1 − p)^k (Šidák). Tests that luck cannot fail, to one in
a billion, are called certain, and their p is a bound.
"""

from tacit.auditing.statistics.pairs import along, apart, correlations, fours, joint, shared, shifts, triples, waves
from tacit.auditing.statistics.ranks import blocks, relations
from tacit.auditing.statistics.repeats import repeats
from tacit.auditing.statistics.shapes import balance, cells, shape, tails, uniform
from tacit.auditing.statistics.sizes import evenness, means, spread, squares
from tacit.auditing.statistics.statistic import CERTAIN, Statistic, normal, together

__all__ = [
    "CERTAIN",
    "Statistic",
    "along",
    "apart",
    "balance",
    "blocks",
    "cells",
    "correlations",
    "evenness",
    "fours",
    "joint",
    "means",
    "normal",
    "relations",
    "repeats",
    "shape",
    "shared",
    "shifts",
    "spread",
    "squares",
    "tails",
    "together",
    "triples",
    "uniform",
    "waves",
]
