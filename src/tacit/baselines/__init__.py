"""Other approaches to the same problem, each from its paper or by its own library; to be compared with."""

from tacit.baselines.approach import Approach, Demonstration, Listeners, Overhearing, Pledge
from tacit.baselines.correlated_noise import Decor
from tacit.baselines.function_sharing import FunctionSharing
from tacit.baselines.hidden_steps import StepHiding
from tacit.baselines.homomorphic import Homomorphic
from tacit.baselines.masked import Masked
from tacit.baselines.multiparty import MultiParty
from tacit.baselines.noisy_messages import MessageNoise
from tacit.baselines.noisy_objective import ObjectiveNoise
from tacit.baselines.optimum import reference
from tacit.baselines.private_answer import PrivateAnswer
from tacit.baselines.secure_aggregation import SecureAggregation

__all__ = [
    "Approach",
    "Decor",
    "Demonstration",
    "FunctionSharing",
    "Homomorphic",
    "Listeners",
    "Masked",
    "MessageNoise",
    "MultiParty",
    "ObjectiveNoise",
    "Overhearing",
    "Pledge",
    "PrivateAnswer",
    "SecureAggregation",
    "StepHiding",
    "reference",
]
