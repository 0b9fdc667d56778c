"""Bases: packing, polynomials, and masks over any of them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.costs import Function, Functions, pack, packed_size, stack, unpack
from tacit.errors import CostError, MaskError
from tacit.masks import BasisMasks, Keystreams, QuadraticMasks, Quadratics, agent_keys
from tacit.network import Network
from tacit.runtimes import Stacked
from tacit.testing import check_cost


@given(m=st.integers(1, 12), n=st.integers(1, 4), seed=st.integers(0, 1000))
def test_packing_keeps_every_bit_of_a_symmetric_matrix(m, n, seed):
    S = np.random.default_rng(seed).standard_normal((n, m, m))
    S = S + np.matrix_transpose(S)
    packed = pack(S)
    assert packed.shape == (n, packed_size(m))
    np.testing.assert_array_equal(unpack(packed, m), S)
    if m > 1:  # equal changes in the Frobenius norm are equally well hidden
        weights = Quadratics().scales(m)[: packed_size(m)]
        np.testing.assert_allclose((packed**2 / weights**2).sum(axis=1), (S**2).sum(axis=(1, 2)))


@pytest.mark.parametrize(("dim", "degree"), [(1, 4), (2, 3), (3, 2)])
def test_polynomial_costs_conform(dim, degree):
    basis = tacit.Monomials(dim=dim, degree=degree)
    theta = np.random.default_rng(0).standard_normal(len(basis.functions))
    check_cost(tacit.Expansion(basis, theta))
    rest = tacit.Logistic(np.eye(dim), np.ones(dim), l2=0.1)
    check_cost(tacit.Expansion(basis, theta, rest=rest))


def test_a_polynomial_is_what_it_says():
    basis = tacit.Monomials(dim=2, degree=2)
    assert basis.exponents == ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    h = tacit.Expansion(basis, [7.0, 1.0, 0.0, 0.0, 3.0, 0.5])  # 7 + x + 3xy + y²/2
    x = np.array([2.0, -4.0])
    assert float(h.value(x)) == 2.0 - 24.0 + 8.0  # without its constant
    np.testing.assert_array_equal(h.grad(x), [1.0 - 12.0, 6.0 - 4.0])
    np.testing.assert_array_equal(h.hess(x), [[0.0, 3.0], [3.0, 1.0]])


def test_bad_bases_are_refused():
    with pytest.raises(CostError, match="at least one function"):
        Functions([])
    with pytest.raises(CostError, match="there are none"):
        tacit.Monomials(dim=0, degree=1)
    with pytest.raises(CostError, match=r"2 coefficient\(s\) for a basis of 3"):
        tacit.Expansion(tacit.Monomials(dim=1, degree=2), [1.0, 2.0])
    with pytest.raises(CostError, match="smooth cost of 1 unknown"):
        tacit.Expansion(
            tacit.Monomials(dim=1, degree=1), [1.0, 2.0], rest=tacit.Quadratic.distance([1.0]) + tacit.L1(1.0)
        )
    plain = Function(lambda x: x[..., 0], lambda x: np.ones_like(x), lambda x: np.zeros((*x.shape, 1)))
    with pytest.raises(CostError, match="as dim"):
        tacit.Expansion(Functions([plain]), [1.0])


def waves():
    """Return the basis of sin x and cos 2x, the second masked a hundred times as much."""
    return Functions(
        [
            Function(
                lambda x: np.sin(x[..., 0]), lambda x: np.cos(x), lambda x: -np.sin(x)[..., None] * np.ones((1, 1))
            ),
            Function(
                lambda x: np.cos(2 * x[..., 0]),
                lambda x: -2 * np.sin(2 * x),
                lambda x: -4 * np.cos(2 * x)[..., None] * np.ones((1, 1)),
                scale=100.0,
            ),
        ]
    )


def test_functions_have_masks_of_their_own_scale():
    """Deviations of σ√(2d) and 100σ√(2d), and a certificate that counts the thinner one."""
    network = Network(nx.complete_graph(4))
    basis = waves()
    costs = [tacit.Expansion(basis, [1.0, 0.1], rest=tacit.Quadratic([[9.0]], [float(k)])) for k in range(4)]
    masks = BasisMasks(3.0, functions=basis)
    drawn = []
    for seed in range(2000):
        source = Keystreams(agent_keys(4, seed=seed), network.degrees)
        drawn.append(masks.hide(stack(costs), Stacked(network), source, network=network).cost.theta - [1.0, 0.1])
    deviation = np.std(drawn, axis=0)
    np.testing.assert_allclose(deviation / [3.0 * np.sqrt(6), 300.0 * np.sqrt(6)], 1.0, atol=0.1)
    assert np.abs(np.sum(drawn, axis=1)).max() < 1e-6
    answer = tacit.solve(
        tacit.Problem(nx.complete_graph(4), costs),
        privacy=masks,
        algorithm=tacit.algorithms.GradientTracking(step_size=1e-4),
        max_rounds=5,
    )
    assert answer.record.phase1.sigma == 3.0
    with pytest.raises(MaskError, match="too thin"):
        BasisMasks(1.0, functions=Functions([basis.functions[0], basis.functions[1]._replace(scale=1e6)]))


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
def test_mixed_families_are_folded_into_quadratics(runtime):
    """Quadratic, least squares, affine and penalised costs in one network, under masks on everything."""
    rng = np.random.default_rng(4)
    costs = [
        tacit.Quadratic(np.eye(2) * (1 + k), rng.standard_normal(2)) if k % 3 == 0
        else tacit.LeastSquares(rng.standard_normal((4, 2)), rng.standard_normal(4), l2=0.1) if k % 3 == 1
        else tacit.Affine(rng.standard_normal(2))
        for k in range(9)
    ]  # fmt: skip
    costs[1] = costs[1] + tacit.L1(0.3)
    problem = tacit.Problem(nx.random_regular_graph(4, 9, seed=1), costs)
    best = tacit.solve(problem, algorithm="nids").x
    for masks in (QuadraticMasks(50.0, seed=3), tacit.SumMasks(seed=3)):
        answer = tacit.solve(problem, privacy=masks, runtime=runtime)
        np.testing.assert_allclose(answer.x, best, atol=1e-7)


def test_quadratic_masks_apart_equal_together_to_the_last_bit():
    rng = np.random.default_rng(5)
    costs = [tacit.LeastSquares(rng.standard_normal((4, 3)), rng.standard_normal(4), l2=0.2) for _ in range(8)]
    problem = tacit.Problem(nx.random_regular_graph(4, 8, seed=2), costs)
    together, apart = (
        tacit.solve(problem, privacy=QuadraticMasks(1e3, seed=1), runtime=runtime)
        for runtime in ("stacked", "agents")
    )
    np.testing.assert_array_equal(together.x, apart.x)
    assert together.record.phase2.bytes == apart.record.phase2.bytes
