"""The exact divergence, its three readings, prior knowledge, bases and link scales."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, VacuousError
from tacit.masks import AffineMasks, Keystreams, agent_keys, draw, mask
from tacit.network import Network
from tacit.runtimes import Stacked

GRAPH = nx.random_regular_graph(4, 12, seed=5)


def zero_sum(rng, shape):
    change = rng.standard_normal(shape)
    return change - change.mean(axis=0)


@given(seed=st.integers(0, 10_000), sigma=st.floats(0.1, 50))
def test_divergence_equals_the_gaussian_formula(seed, sigma):
    """Against the density on the hyperplane, by an orthonormal basis of its range: a second method."""
    rng = np.random.default_rng(seed)
    law = tacit.leakage(GRAPH, {0, 5}, sigma=sigma)
    change = zero_sum(rng, (10, 3))
    values, vectors = np.linalg.eigh(law.laplacian)
    coordinates = vectors[:, 1:].T @ change
    expected = 0.5 * (coordinates**2 / (2 * sigma**2 * values[1:, None])).sum()
    assert law.divergence(change) == pytest.approx(expected, rel=1e-9)
    bound = tacit.certify(GRAPH, {0, 5}, sigma=sigma).epsilon * (change**2).sum()
    assert law.divergence(change) <= bound * (1 + 1e-9)


def test_the_fiedler_direction_attains_the_bound():
    law = tacit.leakage(GRAPH, {3}, sigma=2.0)
    fiedler = np.linalg.eigh(law.laplacian)[1][:, 1]
    assert law.divergence(3.0 * fiedler) == pytest.approx(law.collective(3.0), rel=1e-9)
    assert law.collective(1.0) == pytest.approx(tacit.certify(GRAPH, {3}, sigma=2.0).epsilon, rel=1e-9)


def test_sampled_views_agree_with_divergence_and_auc():
    """20 000 real masks: mean log-likelihood ratio = D_KL, ranking = AUC, within their errors."""
    samples, sigma = 20_000, 1.0
    network = Network(GRAPH)
    coalition = [0, 5]
    law = tacit.leakage(GRAPH, coalition, sigma=sigma)
    lattice = AffineMasks(sigma).lattice(agents=12, links=24)
    source = Keystreams(agent_keys(12, seed=2), network.degrees)
    r = draw(source, (48, 2 * samples), lattice)
    a = mask(r, Stacked(network))
    # the coalition removes the masks it shares with honest agents
    honest = [network.index[x] for x in law.agents]
    owner = np.repeat(np.arange(12), network.degrees)
    neighbour = np.concatenate([network.neighbours(i) for i in range(12)])
    incoming, outgoing = np.zeros_like(a), np.zeros_like(a)
    corrupted = [network.index[x] for x in coalition]
    from_coalition = np.isin(owner, corrupted)
    np.add.at(incoming, neighbour[from_coalition], r[from_coalition])
    to_coalition = np.isin(neighbour, corrupted)
    np.add.at(outgoing, owner[to_coalition], r[to_coalition])
    z = (a - incoming + outgoing)[honest]
    change = 1.2 * np.linalg.eigh(law.laplacian)[1][:, 1]
    score = np.linalg.pinv(law.laplacian) @ change / (2 * sigma**2)
    here, there = score @ z[:, :samples], score @ (z[:, samples:] + change[:, None])
    divergence = law.divergence(change)
    ratio = there - score @ change / 2
    assert ratio.mean() == pytest.approx(divergence, abs=4 * ratio.std() / math.sqrt(samples))
    auc = (np.searchsorted(np.sort(here), there)).mean() / samples
    assert auc == pytest.approx(tacit.certificates.TradeOff.at(divergence).auc, abs=4 * 0.5 / math.sqrt(samples))
    np.testing.assert_allclose(np.cov(z), 2 * sigma**2 * law.laplacian, atol=0.25)


def test_a_swap_is_priced_by_effective_resistance():
    law = tacit.leakage(GRAPH, {2}, sigma=1.5)
    change = np.zeros(11)
    change[[1, 6]] = 0.7, -0.7
    i, j = law.agents[1], law.agents[6]
    assert law.swap(i, j, 0.7) == pytest.approx(law.divergence(change), rel=1e-9)
    expected = nx.resistance_distance(GRAPH.subgraph(set(GRAPH) - {2}), i, j)
    assert law.resistance(i, j) == pytest.approx(expected, rel=1e-9)
    degree = np.diag(law.laplacian)
    mu = tacit.certify(GRAPH, {2}, sigma=1.0).mu
    assert 1 / (1 + degree[1]) + 1 / (1 + degree[6]) <= law.resistance(i, j) + 1e-12 <= 2 / mu + 2e-12
    assert law.resistance(i, i) == 0.0


def test_the_cheapest_story_for_one_agent():
    """Minimise over all zero-sum changes in which agent i moves by d: its neighbours share it."""
    law = tacit.leakage(GRAPH, (), sigma=1.0)
    i = 4
    best = law.laplacian[:, i] / law.laplacian[i, i] * 2.0
    assert law.divergence(best) == pytest.approx(law.story(law.agents[i], 2.0), rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(50):
        other = zero_sum(rng, 12)
        other *= 2.0 / other[i]
        assert law.divergence(other) >= law.story(law.agents[i], 2.0) - 1e-12


def test_uncertainty_is_the_posterior_deviation():
    law = tacit.leakage(GRAPH, {0}, sigma=3.0)
    for agent, deviation in law.deviations().items():
        degree = sum(neighbour != 0 for neighbour in GRAPH[agent])
        assert deviation == law.deviation(agent) == pytest.approx(3.0 * math.sqrt(2 * degree))
    assert law.posterior_deviation(5, prior=1e-3) == pytest.approx(
        1e-3 * math.sqrt(10 / 11), rel=1e-3
    )  # the sum is known
    assert law.posterior_deviation(5, prior=1e9) == pytest.approx(law.deviation(5), rel=1e-9)
    eigenvalues, vectors = np.linalg.eigh(law.laplacian)
    tau = 2.0
    shrunk = tau**2 * 18 * eigenvalues / (tau**2 + 18 * eigenvalues)
    expected = math.sqrt((vectors[4] ** 2 * shrunk).sum())
    assert law.posterior_deviation(law.agents[4], prior=tau) == pytest.approx(expected, rel=1e-9)


def test_known_costs_are_not_corruptions():
    """Kron reduction: conditioning the Gaussian on the known coefficients, by the precision matrix."""
    law = tacit.leakage(GRAPH, {0}, sigma=1.0)
    known = [law.agents[k] for k in (2, 3, 7)]
    less = law.knowing(known)
    keep = [k for k in range(11) if law.agents[k] not in known]
    inside = [k for k in range(11) if k not in keep]
    L = law.laplacian
    schur = (
        L[np.ix_(keep, keep)]
        - L[np.ix_(keep, inside)] @ np.linalg.inv(L[np.ix_(inside, inside)]) @ L[np.ix_(inside, keep)]
    )
    np.testing.assert_allclose(less.laplacian, schur, atol=1e-9)
    # a second method: regress the unknown noise on the known noise, and keep what is left of its covariance
    noise = 2 * law.laplacian
    slope = noise[np.ix_(keep, inside)] @ np.linalg.inv(noise[np.ix_(inside, inside)])
    residual = np.eye(11)[keep] - slope @ np.eye(11)[inside]
    np.testing.assert_allclose(residual @ noise @ residual.T, 2 * less.laplacian, atol=1e-9)
    mu = [np.linalg.eigvalsh(x.laplacian)[1] for x in (law, less)]
    assert mu[1] >= mu[0] - 1e-12
    i, j = law.agents[0], law.agents[1]
    pair = law.knowing(set(law.agents) - {i, j})
    assert pair.deviation(i) == pytest.approx(math.sqrt(2 / law.resistance(i, j)), rel=1e-6)
    with pytest.raises(VacuousError, match="all coefficients but one"):
        law.knowing(law.agents[1:])
    assert law.knowing(()) is law


def test_a_basis_has_a_sigma_per_function():
    """D_KL = ¼ Σ_l σ_l⁻² Δ_lᵀ L† Δ_l, and the smallest σ decides ε."""
    rng = np.random.default_rng(4)
    sigmas = (1.0, 2.0, 5.0)
    law = tacit.leakage(GRAPH, (), sigma=sigmas)
    change = zero_sum(rng, (12, 3))
    one_by_one = sum(tacit.leakage(GRAPH, (), sigma=s).divergence(change[:, k]) for k, s in enumerate(sigmas))
    assert law.divergence(change) == pytest.approx(one_by_one, rel=1e-12)
    assert tacit.certify(GRAPH, (), sigma=sigmas).epsilon == tacit.certify(GRAPH, (), sigma=1.0).epsilon
    with pytest.raises(InputError, match="2 columns"):
        law.divergence(change[:, :2])
    with pytest.raises(InputError, match="one row per honest agent"):
        law.divergence(change[1:])


def test_scaled_links():
    """A σ of its own per link: ε = 1/(4 μ₂(L_w)); all links scaled alike is another σ."""
    doubled = dict.fromkeys(GRAPH.edges(), 2.0)
    assert tacit.certify(GRAPH, {1}, sigma=1.0, link_scales=doubled).epsilon == pytest.approx(
        tacit.certify(GRAPH, {1}, sigma=2.0).epsilon, rel=1e-12
    )
    rng = np.random.default_rng(2)
    scales = {link: float(rng.uniform(0.5, 2)) for link in GRAPH.edges()}
    L = np.zeros((12, 12))
    for (i, j), s in scales.items():
        L[[i, j], [i, j]] += s**2
        L[i, j] -= s**2
        L[j, i] -= s**2
    certificate = tacit.certify(GRAPH, (), sigma=1.0, link_scales=scales)
    assert certificate.epsilon == pytest.approx(1 / (4 * np.linalg.eigvalsh(L)[1]), rel=1e-9)
    assert certificate.uncertainty[3] == pytest.approx(math.sqrt(2 * L[3, 3]))
    with pytest.raises(InputError, match="not linked"):
        tacit.certify(GRAPH, (), sigma=1.0, link_scales={(0, 0): 1.0})


def test_cuts_make_sums_exact_and_nothing_else():
    """Path 0-1-2-3-4 without 2: moving weight between the pieces is certain to be seen, inside them it is not."""
    law = tacit.leakage(nx.path_graph(5), {2}, sigma=1.0)
    assert law.agents == (0, 1, 3, 4)
    assert law.divergence([1.0, 0, -1.0, 0]) == math.inf
    assert law.divergence([1.0, -1.0, 0, 0]) == pytest.approx(1 / 4)
    assert law.resistance(0, 3) == math.inf
    assert law.collective(2.0) == pytest.approx(4 / 8)
    alone = tacit.leakage(nx.star_graph(3), {0}, sigma=1.0)
    assert alone.story(1, 1.0) == math.inf
    with pytest.raises(VacuousError, match="no two honest"):
        alone.collective(1.0)
    with pytest.raises(InputError, match="not an honest agent"):
        law.story(2, 1.0)


def test_a_certificate_takes_prior_knowledge():
    """ε stays, uncertainty shrinks to that of the Kron reduction, and the known agents drop out."""
    plain, informed = (tacit.certify(GRAPH, {0}, sigma=2.0, known=known) for known in ((), (3, 7)))
    assert informed.epsilon == plain.epsilon
    assert set(informed.uncertainty) == set(plain.uncertainty) - {3, 7}
    expected = tacit.leakage(GRAPH, {0}, sigma=2.0).knowing([3, 7]).deviations()
    assert informed.uncertainty == expected
    assert all(informed.uncertainty[a] <= plain.uncertainty[a] + 1e-9 for a in informed.uncertainty)
    with pytest.raises(InputError, match="one coalition"):
        tacit.certify(GRAPH, any=1, sigma=2.0, known=[3])
