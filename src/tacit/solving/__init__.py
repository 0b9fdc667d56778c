"""A problem, the choice of how to solve it, and the answer with its record."""

from tacit.solving.answer import Answer
from tacit.solving.choice import Choice, choose
from tacit.solving.cost_files import CostsSection, read_cost
from tacit.solving.example import EXAMPLE, write_example
from tacit.solving.overrides import overridden
from tacit.solving.problem import Problem
from tacit.solving.problem_file import ProblemFile, load_problem
from tacit.solving.protection import Protection
from tacit.solving.record import RunRecord
from tacit.solving.solve import Prepared, prepare, solve

__all__ = [
    "EXAMPLE",
    "Answer",
    "Choice",
    "CostsSection",
    "Prepared",
    "Problem",
    "ProblemFile",
    "Protection",
    "RunRecord",
    "choose",
    "load_problem",
    "overridden",
    "prepare",
    "read_cost",
    "solve",
    "write_example",
]
