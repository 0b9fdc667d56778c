"""Phase 1: neighbours trade random terms that cancel over the network, eq. (4)."""

from tacit.lattice import Lattice
from tacit.masks.basis import AffineMasks, BasisMasks, GaussianMasks, QuadraticMasks, mask
from tacit.masks.coefficients import Basis, Components, Linear, Quadratics
from tacit.masks.gaussian import draw
from tacit.masks.mechanism import Hidden, Mechanism
from tacit.masks.pairing import Pairing, Way, pair
from tacit.masks.randomness import Keystream, Keystreams, Source, agent_keys
from tacit.masks.sums import SecretSums, SumMasks
from tacit.masks.words import FixedPoint

__all__ = [
    "AffineMasks",
    "Basis",
    "BasisMasks",
    "Components",
    "FixedPoint",
    "GaussianMasks",
    "Hidden",
    "Keystream",
    "Keystreams",
    "Lattice",
    "Linear",
    "Mechanism",
    "Pairing",
    "QuadraticMasks",
    "Quadratics",
    "SecretSums",
    "Source",
    "SumMasks",
    "Way",
    "agent_keys",
    "draw",
    "mask",
    "pair",
]
