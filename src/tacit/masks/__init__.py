"""Phase 1: neighbours trade random terms that cancel over the network, eq. (4)."""

from tacit.lattice import Lattice
from tacit.masks.affine import AffineMasks, mask
from tacit.masks.gaussian import draw
from tacit.masks.randomness import Keystream, Keystreams, Source, agent_keys

__all__ = [
    "AffineMasks",
    "Keystream",
    "Keystreams",
    "Lattice",
    "Source",
    "agent_keys",
    "draw",
    "mask",
]
