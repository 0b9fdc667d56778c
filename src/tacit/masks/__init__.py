"""Phase 1: neighbours trade random terms that cancel over the network, eq. (4)."""

from tacit.lattice import Lattice
from tacit.masks.basis import AffineMasks, BasisMasks, GaussianMasks, QuadraticMasks, mask
from tacit.masks.changed import with_answer, with_equal_links, with_seed, with_sigma
from tacit.masks.coefficients import Basis, Components, Linear, Quadratics
from tacit.masks.drawing import Afresh, Once, drawn_afresh, drawn_once, refuse_other
from tacit.masks.fixed_point import FixedPoint
from tacit.masks.gaussian import draw
from tacit.masks.levels import LEVELS, Level, has_level, has_sigma, level_of, masks_at, misfits, needs_sigma
from tacit.masks.mechanism import Hidden, Mechanism
from tacit.masks.pairing import Pairing, Way, is_computational, pair
from tacit.masks.randomness import Keystream, Keystreams, Source, agent_keys
from tacit.masks.shares import clipped_to, limits_of
from tacit.masks.sums import SecretSums, SumMasks
from tacit.masks.terms import Terms, effective_sigma, has_a_law

__all__ = [
    "LEVELS",
    "AffineMasks",
    "Afresh",
    "Basis",
    "BasisMasks",
    "Components",
    "FixedPoint",
    "GaussianMasks",
    "Hidden",
    "Keystream",
    "Keystreams",
    "Lattice",
    "Level",
    "Linear",
    "Mechanism",
    "Once",
    "Pairing",
    "QuadraticMasks",
    "Quadratics",
    "SecretSums",
    "Source",
    "SumMasks",
    "Terms",
    "Way",
    "agent_keys",
    "clipped_to",
    "draw",
    "drawn_afresh",
    "drawn_once",
    "effective_sigma",
    "has_a_law",
    "has_level",
    "has_sigma",
    "is_computational",
    "level_of",
    "limits_of",
    "mask",
    "masks_at",
    "misfits",
    "needs_sigma",
    "pair",
    "refuse_other",
    "with_answer",
    "with_equal_links",
    "with_seed",
    "with_sigma",
]
