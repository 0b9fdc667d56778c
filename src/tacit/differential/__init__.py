"""Differential privacy of the answer: what is promised, and how large the noise shares are."""

from tacit.differential.budget import AnswerBudget
from tacit.differential.certifying import AnswerPrice, calibrate_answer, certify_answer
from tacit.differential.guarantee import AnswerGuarantee
from tacit.differential.objective import PerturbedObjective
from tacit.differential.promise import DifferentialPrivacy
from tacit.differential.public import PublicGuarantee
from tacit.differential.sharing import Sharing, share_out
from tacit.differential.tradeoff import TradeOff

__all__ = [
    "AnswerBudget",
    "AnswerGuarantee",
    "AnswerPrice",
    "DifferentialPrivacy",
    "PerturbedObjective",
    "PublicGuarantee",
    "Sharing",
    "TradeOff",
    "calibrate_answer",
    "certify_answer",
    "share_out",
]
