"""What would not protect is refused, and what the protection is worth against the attack on the other."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ALGORITHMS
from tacit.costs import Function, Functions
from tacit.errors import ProtectionError
from tacit.masks import AffineMasks, BasisMasks, Keystreams, QuadraticMasks, SumMasks, agent_keys, pair
from tacit.masks.sums import masked
from tacit.runtimes import Stacked

GRAPH = nx.random_regular_graph(4, 8, seed=3)
GOSSIP = [name for name, kind in ALGORITHMS.items() if not kind.sums]
SUMS = [name for name, kind in ALGORITHMS.items() if kind.sums]
CONVEX_ONLY = [name for name in GOSSIP if not ALGORITHMS[name].handles_nonconvex]


def ridge(seed=0, n=8, m=3):
    rng = np.random.default_rng(seed)
    return tacit.Problem(
        GRAPH,
        [tacit.LeastSquares(rng.standard_normal((5, m)), rng.standard_normal(5), l2=0.1) for _ in range(n)],
    )


def logistic(seed=0, n=8, m=3):
    rng = np.random.default_rng(seed)
    return tacit.Problem(
        GRAPH, [tacit.Logistic(rng.standard_normal((6, m)), rng.random(6) < 0.5, l2=0.1) for _ in range(n)]
    )


@pytest.mark.parametrize("name", GOSSIP)
def test_secret_sums_refuse_gossip(name):
    with pytest.raises(ProtectionError, match=f"'{name}' with secret sums is refused: it gossips"):
        tacit.solve(ridge(), privacy=SumMasks(), algorithm=name)


@pytest.mark.parametrize("name", ["direct", "newton"])
def test_hessians_in_the_clear_beside_affine_masks_are_refused(name):
    with pytest.raises(ProtectionError, match="reads a Hessian as it is"):
        tacit.solve(ridge(), privacy=AffineMasks(10.0), algorithm=name)


@pytest.mark.parametrize("name", ["lbfgs", "fista"])
def test_one_mask_for_many_sums_is_refused(name):
    """Affine masks are drawn once; sums of gradients at many points would all wear the same one."""
    with pytest.raises(ProtectionError, match="one mask would serve all of them"):
        tacit.solve(ridge(), privacy=AffineMasks(10.0), algorithm=name)


@pytest.mark.parametrize("name", CONVEX_ONLY)
def test_masks_on_the_curvature_refuse_methods_that_need_convex_costs(name):
    with pytest.raises(ProtectionError, match="bend downwards"):
        tacit.solve(ridge(), privacy=QuadraticMasks(10.0), algorithm=name)


@pytest.mark.parametrize("name", [*SUMS, "multi-consensus"])
def test_what_is_allowed_with_quadratic_masks_works(name):
    problem = ridge(m=1 if name == "bracket" else 3)
    answer = tacit.solve(problem, privacy=QuadraticMasks(10.0), algorithm=name)
    assert answer.converged
    np.testing.assert_allclose(answer.x, tacit.solve(problem).x, atol=1e-7)


@pytest.mark.parametrize("name", SUMS)
def test_without_a_tree_there_are_no_sums(name):
    with pytest.raises(ProtectionError, match="spanning tree"):
        tacit.solve(ridge(), algorithm=name, tree=False)
    with pytest.raises(ProtectionError, match="spanning tree"):
        tacit.solve(ridge(), privacy=SumMasks(), tree=False)


def test_affine_masks_do_not_pass_for_whole_cost_protection():
    with pytest.raises(ProtectionError, match="in the open: the features A; whole costs were asked for"):
        tacit.solve(ridge(), privacy=AffineMasks(10.0), protect="whole")
    rough = tacit.Problem(GRAPH, [cost + tacit.L1(0.1) for cost in ridge().costs])
    with pytest.raises(ProtectionError, match="in the open: rough terms"):
        tacit.solve(rough, privacy=QuadraticMasks(10.0), protect="whole")
    affine = tacit.Problem(
        nx.complete_graph(3), [tacit.Affine([float(k)]) + tacit.Box([-1.0], [1.0]) for k in range(3)]
    )
    with pytest.raises(ProtectionError, match="whole costs were asked for"):
        tacit.solve(affine, privacy=AffineMasks(10.0), protect="whole")


def test_what_protects_enough_is_taken():
    for privacy in (QuadraticMasks(10.0), SumMasks(), None):
        assert tacit.solve(ridge(), privacy=privacy, protect="whole").converged
    for privacy in (AffineMasks(10.0), QuadraticMasks(10.0), SumMasks(), None):
        answer = tacit.solve(ridge(), privacy=privacy, protect="affine")
        assert answer.record.private
    assert tacit.solve(ridge(), protect="whole").record.phase1.mechanism == "SumMasks"


def test_what_hides_no_affine_part_does_not_pass_for_it():
    wave = Function(
        lambda x: np.sin(x[..., 0]),
        lambda x: np.cos(x) * [1.0, 0.0, 0.0],
        lambda x: -np.sin(x)[..., None] * np.diag([1.0, 0.0, 0.0]),
    )
    basis = Functions([wave])
    costs = [tacit.Expansion(basis, [0.1], rest=cost) for cost in ridge().costs]
    with pytest.raises(ProtectionError, match="affine parts were asked for"):
        tacit.solve(tacit.Problem(GRAPH, costs), privacy=BasisMasks(10.0, functions=basis), protect="affine")


def test_remedies_are_not_themselves_refused():
    rough = tacit.Problem(GRAPH, [cost + tacit.L1(0.1) for cost in ridge().costs])
    with pytest.raises(ProtectionError, match=r"use secret sums\.$"):
        tacit.solve(rough, privacy=QuadraticMasks(10.0), protect="whole")
    with pytest.raises(tacit.TacitError, match="allow a tree"):
        tacit.solve(rough, privacy=QuadraticMasks(10.0), tree=False)
    basis = tacit.Monomials(dim=3, degree=2)
    part = tacit.Problem(GRAPH, [tacit.Expansion(basis, np.zeros(10), rest=cost) for cost in logistic().costs])
    with pytest.raises(tacit.TacitError, match="step_size of 'gradient-tracking'"):
        tacit.solve(part, privacy=BasisMasks(10.0, functions=basis))


def test_protection_that_cannot_be_had_is_said():
    with pytest.raises(ProtectionError, match="needs masks with a sigma"):
        tacit.solve(ridge(), protect="whole", tree=False)
    with pytest.raises(tacit.TacitError, match="neither 'affine' nor 'whole'"):
        tacit.solve(ridge(), protect="everything")
    with pytest.raises(tacit.TacitError, match="privacy is a mechanism"):
        tacit.solve(ridge(), privacy=1e3)
    with pytest.raises(tacit.TacitError, match="quadratic masks hide quadratic costs, and one of these is none"):
        tacit.solve(logistic(), privacy=QuadraticMasks(10.0))


@pytest.mark.parametrize(
    ("costs", "privacy", "tree", "chosen", "why"),
    [
        ("ridge", SumMasks(), True, "Direct", "one sum"),
        ("ridge", QuadraticMasks(1.0), True, "Direct", "one sum"),
        ("ridge", QuadraticMasks(1.0), False, "MultiConsensus", "no tree"),
        ("ridge", AffineMasks(1.0), True, "NIDS", "smooth convex"),
        ("lasso", SumMasks(), True, "Direct", "penalties"),
        ("lasso", AffineMasks(1.0), True, "NIDS", "rough"),
        ("logistic", SumMasks(), True, "Newton", "Hessians"),
        ("logistic", AffineMasks(1.0), True, "NIDS", "smooth convex"),
        ("wide", SumMasks(), True, "Newton", "the shortest run"),
        ("wide, many records", SumMasks(), True, "LBFGS", "what a run tells decided"),
        ("wider", SumMasks(), True, "LBFGS", "too many for Hessians: what a run takes decided"),
        ("wider lasso", SumMasks(), True, "FISTA", "rough terms"),
        ("blind", SumMasks(), True, "LBFGS", "not all costs have Hessians"),
        ("gradients only", SumMasks(), True, "FISTA", "not all costs have values"),
        ("poisson", SumMasks(), True, "Newton", "Hessians"),
        ("poisson", AffineMasks(1.0), True, "ADMM", "Lipschitz"),
        ("median", AffineMasks(1.0), True, "ADMM", "no curvature"),
        ("median", SumMasks(), True, "Bracket", "kinks of everybody's own"),
    ],
)
def test_auto_chooses_by_family_protection_and_network_and_says_why(costs, privacy, tree, chosen, why):
    rng = np.random.default_rng(0)
    n, wide, wider = len(GRAPH), 200, 1300

    def many(make):
        return [make(k) for k in range(n)]

    families = {
        "ridge": lambda k: tacit.LeastSquares(rng.standard_normal((5, 3)), rng.standard_normal(5), l2=0.1),
        "lasso": lambda k: tacit.LeastSquares(rng.standard_normal((5, 3)), rng.standard_normal(5)) + tacit.L1(0.01),
        "logistic": lambda k: tacit.Logistic(rng.standard_normal((5, 3)), rng.random(5) < 0.5, l2=0.1),
        "wide": lambda k: tacit.Logistic(rng.standard_normal((5, wide)), rng.random(5) < 0.5, l2=0.1),
        "wide, many records": lambda k: tacit.Logistic(
            rng.standard_normal((1250 // n, wide)), rng.random(1250 // n) < 0.5, l2=10.0
        ),
        "wider": lambda k: tacit.Logistic(rng.standard_normal((2, wider)), rng.random(2) < 0.5, l2=10.0),
        "wider lasso": lambda k: (
            tacit.Logistic(rng.standard_normal((2, wider)), rng.random(2) < 0.5, l2=10.0) + tacit.L1(0.01)
        ),
        "blind": lambda k: tacit.CallableCost(
            1, value=lambda x: float((x**2).sum()), grad=lambda x: 2 * x, smoothness=2, strong_convexity=2
        ),
        "gradients only": lambda k: tacit.CallableCost(1, grad=lambda x: 2 * x, smoothness=2, strong_convexity=2),
        "poisson": lambda k: tacit.Poisson(0.3 * rng.standard_normal((5, 2)), rng.poisson(1.0, 5), l2=0.1),
        "median": lambda k: tacit.AbsoluteValue([float(k)]),
    }
    from tacit.solving import choose

    problem = tacit.Problem(GRAPH, many(families[costs]))
    choice = choose(problem, privacy=privacy, tree=tree)
    assert type(choice.algorithm).__name__ == chosen
    assert why in choice.reason


def test_settings_tell_nothing_about_single_curvatures():
    """Two worlds of equal sum, under masks that hide whole costs: what is published must be the same."""
    for name in ("gradient-tracking", "multi-consensus"):
        settings = []
        for curvatures in ((-1.0, 2400.0, 2600.0, 5.0), (-1.0, 4900.0, 100.0, 5.0)):
            costs = [tacit.Quadratic([[c]], [1.0]) for c in curvatures]
            problem = tacit.Problem(nx.complete_graph(4), costs)
            from tacit.solving import choose

            settings.append(choose(problem, name, privacy=QuadraticMasks(1e3)).algorithm)
        assert settings[0] == settings[1]


def test_an_agent_with_one_neighbour_is_named():
    problem = tacit.Problem(nx.star_graph(4), [tacit.Quadratic.distance([float(k)]) for k in range(5)])
    for privacy in (AffineMasks(10.0), SumMasks()):
        with pytest.warns(UserWarning, match="NOT PRIVATE: agents 1, 2, 3, 4 have each one neighbour"):
            answer = tacit.solve(problem, privacy=privacy)
        assert not answer.record.private


def test_thin_links_keep_a_mask():
    """A lattice wide enough for the widest link must still carry the thinnest."""
    with pytest.raises(tacit.TacitError, match="too thin"):
        AffineMasks(1.0, bound=7e11, link_scales={(0, 1): 1e-4, (1, 2): 1e-4}).lattice(agents=3, links=3)


def test_what_does_not_add_up_is_refused():
    apart = tacit.Problem(
        nx.complete_graph(3), [tacit.Quadratic.distance([1.0]) + tacit.Box([0.0], [float(k + 1)]) for k in range(3)]
    )
    with pytest.raises(tacit.TacitError, match="the boxes of the agents differ"):
        tacit.solve(apart, privacy=SumMasks())
    tied = tacit.Quadratic([[2.0, 1.0], [1.0, 2.0]], [0.0, 1.0])
    centred = tacit.Problem(nx.complete_graph(3), [tied + tacit.L1(1.0, [float(k), 0.0]) for k in range(3)])
    with pytest.raises(tacit.TacitError, match="do not add up"):
        tacit.solve(centred, privacy=SumMasks())


# the difference of gradients: what affine masks leave in the open -------------------------------------------------


def curvature_read_off(effective, m):
    """∇h̃(e_k) − ∇h̃(0) for every unknown: P, if the mask is affine."""
    n = effective.affine.shape[0]
    at_zero = effective.grad(np.zeros((n, m)))
    return np.stack([effective.grad(np.tile(e, (n, 1))) - at_zero for e in np.eye(m)], axis=-1)


def effective_costs(problem, masks, seed=4):
    source = Keystreams(agent_keys(len(problem.network), seed=seed), problem.network.degrees)
    return masks.hide(problem.stack, Stacked(problem.network), source, network=problem.network).cost


def test_differences_of_gradients_read_the_features_under_affine_masks():
    problem = ridge()
    read = curvature_read_off(effective_costs(problem, AffineMasks(1e3)), 3)
    np.testing.assert_allclose(read, problem.stack.P, atol=1e-8)


def test_differences_of_gradients_get_nothing_under_quadratic_masks():
    """The attack's error is the mask itself: in the Frobenius norm, its mean square is 2σ²d·m(m+1)/2 + … exactly."""
    problem, sigma, m = ridge(), 1e3, 3
    errors = []
    for seed in range(200):
        read = curvature_read_off(effective_costs(problem, QuadraticMasks(sigma), seed), m)
        errors.append((read - problem.stack.P) ** 2)
    mean_square = np.mean(errors, axis=0)  # (n, m, m), every agent has 4 neighbours
    diagonal, beside = mean_square[:, range(m), range(m)], mean_square[:, 0, 1]
    assert abs(diagonal.mean() / (2 * sigma**2 * 4) - 1) < 0.1
    assert abs(beside.mean() / (sigma**2 * 4) - 1) < 0.15


def test_differences_of_gradients_get_nothing_out_of_secret_sums():
    """Masked gradients at two points: their difference is a uniform word, whatever the features are."""
    problem = ridge()
    network, fixed = problem.network, SumMasks().fixed_point(agents=8)
    source, peers = Keystreams(agent_keys(8, seed=1), network.degrees), Stacked(network)
    differences = []
    for k in range(500):
        e = np.eye(3)[k % 3]
        words = [
            masked(fixed.encode(problem.stack.grad(x)), pair("both", source, peers), peers, fixed.ring)
            for x in (np.zeros(3), e)
        ]
        differences.append(words[1] - words[0])
    top_bytes = (np.stack(differences)[:, 5] >> np.uint64(56)).astype(int).ravel()
    from scipy import stats

    counts = np.bincount(top_bytes // 16, minlength=16)
    assert stats.chisquare(counts).pvalue > 1e-4
    guess = fixed.decode(np.stack(differences)[:, 5, 0])
    assert np.median(np.abs(guess)) > 1e3, "a guess of the curvature is off by far more than its size"


def test_the_view_of_quadratic_masks_keeps_the_sum_and_nothing_else_of_it():
    problem = ridge()
    effective = effective_costs(problem, QuadraticMasks(1e3))
    lattice = QuadraticMasks(1e3).lattice(agents=8, links=16)
    np.testing.assert_array_equal(effective.P.sum(axis=0), lattice.round(problem.stack.P).sum(axis=0))
    np.testing.assert_array_equal(effective.affine.sum(axis=0), lattice.round(problem.stack.affine).sum(axis=0))
    assert (np.matrix_transpose(effective.P) == effective.P).all()
    assert np.linalg.eigvalsh(effective.P)[:, 0].min() < 0  # not convex one by one


# function sharing ---------------------------------------------------------------------------------------------------


def quartics(n=8):
    """Return polynomial costs x⁴-like, convex in sum."""
    rng = np.random.default_rng(2)
    basis = tacit.Monomials(dim=1, degree=4)
    thetas = np.column_stack(
        [np.zeros(n), rng.normal(0, 3, n), rng.uniform(0.5, 2, n), 0 * rng.random(n), np.ones(n)]
    )
    return basis, tacit.Problem(GRAPH, [tacit.Expansion(basis, theta) for theta in thetas]), thetas.sum(axis=0)


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
def test_polynomials_are_hidden_whole_by_function_sharing(runtime):
    """Gade & Vaidya: random polynomials that add up to zero, one per link."""
    basis, problem, total = quartics()
    answer = tacit.solve(problem, privacy=BasisMasks(10.0, functions=basis), protect="whole", runtime=runtime)
    assert answer.converged, answer.sentence
    assert answer.record.phase2.algorithm == "Newton"
    slope = np.polynomial.Polynomial(total).deriv()
    assert abs(slope(answer.x[0])) < 1e-6
    assert abs(answer.x[0]) < 5
    effective = effective_costs(problem, BasisMasks(10.0, functions=basis))
    np.testing.assert_allclose(effective.theta.sum(axis=0), total, atol=1e-6)
    assert np.abs(effective.theta - problem.stack.theta).min() > 1e-6


def shared_logistic(basis):
    """Return logistic costs with their affine parts written in *basis*, and nothing affine beside it."""
    costs = [
        tacit.Expansion(basis, [0.0, *cost.affine], rest=cost.with_affine(np.zeros(3))) for cost in logistic().costs
    ]
    return tacit.Problem(GRAPH, costs)


def test_a_basis_that_covers_only_a_part_keeps_sums_out():
    basis = tacit.Monomials(dim=3, degree=1)
    masks, problem = BasisMasks(10.0, functions=basis), shared_logistic(basis)
    with pytest.raises(ProtectionError, match="one mask would serve all|reads a Hessian"):
        tacit.solve(problem, privacy=masks, algorithm="newton")
    step = tacit.algorithms.GradientTracking(step_size=0.05)
    slow = tacit.solve(problem, privacy=masks, algorithm=step, protect="affine")
    assert slow.converged, slow.sentence
    np.testing.assert_allclose(slow.x, tacit.solve(logistic()).x, atol=1e-6)


def test_costs_without_coefficients_in_the_basis_are_refused():
    """A mask on a lattice beside a gradient that is not on it would leave the gradient's low bits in the open."""
    with pytest.raises(tacit.TacitError, match="write it as an expansion"):
        tacit.solve(logistic(), privacy=BasisMasks(10.0, functions=tacit.Monomials(dim=3, degree=1)))


def test_affine_masks_are_basis_masks_over_linear_functions():
    """One mechanism: the same seed gives the same effective costs, bit for bit."""
    problem = ridge()
    one = effective_costs(problem, AffineMasks(7.0))
    other = effective_costs(problem, BasisMasks(7.0))
    np.testing.assert_array_equal(one.affine, other.affine)
