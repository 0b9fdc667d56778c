"""The low-order bits of a masked coefficient: an attack that breaks float64 masks and finds nothing on ours.

Two honest agents share one mask b; everybody sees z = (α₁ + b, α₂ − b) and knows α₁ + α₂ = 1. World A
is α = (0, 1), world B is α = (1, 0); σ = 1, so the theorem concedes D_KL = 0.25 a coordinate and no
more. The attacker asks which b could have led to z in each world's *floating-point* arithmetic: if only
one world could have, it knows the world for sure.
"""

import networkx as nx
import numpy as np

import tacit
from tacit.costs import stack
from tacit.masks import AffineMasks, Keystreams, agent_keys, mask
from tacit.network import Network
from tacit.runtimes import Stacked

M = 100_000
PAIR = Network(nx.path_graph(2))


def told_apart(z):
    """Return the share of coordinates in which exactly one world is possible."""
    in_a = (z[0] - 0.0) == z[0]
    in_a &= (1.0 - z[0]) == z[1]  # b = z₁ must give z₂
    in_b = (1.0 + (-z[1])) == z[0]  # b = −z₂ must give z₁
    return float((in_a != in_b).mean())


def world(first, second):
    return stack([tacit.Affine(np.full(M, first)), tacit.Affine(np.full(M, second))])


def ours(costs, seed):
    masks = AffineMasks(1.0)
    source = Keystreams(agent_keys(2, seed=seed), PAIR.degrees)
    return masks.hide(costs, Stacked(PAIR), source, network=PAIR).cost.affine


def naive(costs, seed):
    """What every other mask library does: normals of a generator, added in float64."""
    r = np.random.default_rng(seed).standard_normal((2, M))
    return costs.affine + mask(r, Stacked(PAIR))


def test_naive_float_masks_are_broken_with_certainty():
    assert told_apart(naive(world(0.0, 1.0), seed=1)) >= 0.08
    assert told_apart(naive(world(1.0, 0.0), seed=2)) >= 0.08


def test_lattice_masks_tell_nothing():
    assert told_apart(ours(world(0.0, 1.0), seed=1)) == 0.0
    assert told_apart(ours(world(1.0, 0.0), seed=2)) == 0.0


def test_coefficients_off_the_lattice_are_rounded_before_they_are_masked():
    """α = 1/3 has bits below the step; none of them survives in α̃."""
    z = ours(world(1.0 / 3.0, 2.0 / 3.0), seed=3)
    step = AffineMasks(1.0).lattice(agents=2, links=1).step
    assert (np.rint(z / step) * step == z).all()


def test_naive_masks_do_not_even_cancel():
    network = Network(nx.random_regular_graph(4, 60, seed=1))
    r = 1e8 * np.random.default_rng(0).standard_normal((240, 100))
    assert np.abs(mask(r, Stacked(network)).sum(axis=0)).max() > 0


def test_phase_2_is_a_function_of_the_effective_coefficient_alone():
    """Two worlds with the same curved parts and the same α̃ send the same bits in every round."""
    rng = np.random.default_rng(0)
    A = [rng.standard_normal((6, 3)) for _ in range(4)]
    labels = [rng.integers(0, 2, 6).astype(float) for _ in range(4)]
    flipped = [1.0 - y for y in labels]
    for family, first, second in (
        (tacit.Logistic, labels, flipped),
        (tacit.Poisson, labels, flipped),
        (tacit.LeastSquares, labels, flipped),
    ):
        worlds = [stack([family(a, y, l2=0.1) for a, y in zip(A, ys, strict=True)]) for ys in (first, second)]
        masked = rng.standard_normal((4, 3))
        same = [world.with_affine(masked) for world in worlds]
        x = rng.standard_normal((4, 3))
        for look in (lambda c: c.grad(x), lambda c: c.prox(x, 0.3), lambda c: c.value(x), lambda c: c.hess(x)):
            assert look(same[0]).tobytes() == look(same[1]).tobytes(), family.__name__
