"""Section IV of the paper: three agents, with the errata corrected."""

import networkx as nx
import numpy as np

import tacit
from tacit.solving.illustration import EXCHANGED, POINTS, TRIANGLE, effective_costs, masks


def test_masks_of_the_paper():
    """a = (−0.1, −0.7, 0.8) from the given r."""
    np.testing.assert_allclose(masks(), [-0.1, -0.7, 0.8], atol=1e-15)
    a1 = (EXCHANGED[2, 1] - EXCHANGED[1, 2]) + (EXCHANGED[3, 1] - EXCHANGED[1, 3])
    assert abs(a1 - (-0.1)) < 1e-15


def test_effective_costs_with_errata_corrected():
    """h̃₁ = x² − (2x₁ + 0.1)x, h̃₂ = x² − (2x₂ + 0.7)x, h̃₃ = x² − (2x₃ − 0.8)x: no x³, no constants."""
    for cost, (_, point), shift in zip(effective_costs(), POINTS.items(), (0.1, 0.7, -0.8), strict=True):
        for x in (-2.0, 0.0, 0.5, 3.0):
            expected = x**2 - (2 * point + shift) * x
            assert abs(float(cost.value(np.array([x]))) - expected) < 1e-12


def test_constants_are_not_exposed():
    """With x_i² left in h̃_i, an observer of h̃_i(0) would read the private point; there is none."""
    assert all(float(cost.value(np.zeros(1))) == 0.0 for cost in effective_costs())


def test_answer_is_the_mean():
    answer = tacit.solve(tacit.Problem(TRIANGLE, effective_costs()))
    assert abs(answer.x[0] - np.mean(list(POINTS.values()))) < 1e-9


def test_epsilon_is_one_eighth():
    """σ = 1, C = {3}: μ(L_H) = 2 and ε = 1/8."""
    certificate = tacit.certify(tacit.Network(TRIANGLE), {3}, sigma=1.0)
    assert certificate.components[0].mu == 2.0
    assert certificate.epsilon == 0.125
    assert certificate.is_private


def test_divergence_constant_is_two():
    """D_KL ≤ ε·dist² = ½{(x₁ − x₁')² + (x₂ − x₂')²}, since α_i = −2x_i; with equality on the triangle."""
    epsilon = tacit.certify(tacit.Network(TRIANGLE), {3}, sigma=1.0).epsilon
    x, moved = np.array([1.0, 2.0]), np.array([1.7, 1.3])
    bound = epsilon * np.sum((2 * x - 2 * moved) ** 2)
    assert abs(bound - 0.5 * np.sum((x - moved) ** 2)) < 1e-12
    L = nx.laplacian_matrix(nx.complete_graph(2)).toarray().astype(float)
    delta = -2 * (moved - x)
    assert abs(delta @ np.linalg.pinv(L) @ delta / 4 - bound) < 1e-12
