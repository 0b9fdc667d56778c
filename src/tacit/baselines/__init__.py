"""Other approaches to the same problem, each from its paper or by its own library; to be compared with."""

from tacit.baselines.approach import Approach, Demonstration, Overhearing
from tacit.baselines.gossiping import Decor, FunctionSharing, MessageNoise, ObjectiveNoise, StepHiding
from tacit.baselines.homomorphic import Homomorphic
from tacit.baselines.masked import Masked
from tacit.baselines.multiparty import MultiParty
from tacit.baselines.optimum import reference
from tacit.baselines.private_answer import PrivateAnswer, takes_promises
from tacit.baselines.secure_aggregation import SecureAggregation

__all__ = [
    "Approach",
    "Decor",
    "Demonstration",
    "FunctionSharing",
    "Homomorphic",
    "Masked",
    "MessageNoise",
    "MultiParty",
    "ObjectiveNoise",
    "Overhearing",
    "PrivateAnswer",
    "SecureAggregation",
    "StepHiding",
    "reference",
    "takes_promises",
]
