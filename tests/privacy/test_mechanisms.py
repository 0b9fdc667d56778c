"""A mechanism answers as data what others must know of it, and one of somebody's own does so too."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing.conduct import _certificate
from tacit.auditing.experiments import settle
from tacit.auditing.experiments.finite import candidates
from tacit.costs import Function, Functions
from tacit.coverage import GENERAL
from tacit.errors import VacuousError
from tacit.masks import (
    LEVELS,
    AffineMasks,
    BasisMasks,
    Hidden,
    Lattice,
    Linear,
    Mechanism,
    QuadraticMasks,
    Quadratics,
    SumMasks,
    Terms,
    drawn_afresh,
    drawn_once,
    effective_sigma,
    has_sigma,
    level_of,
    mask,
    masks_at,
    misfits,
    refuse_other,
    with_seed,
    with_sigma,
)
from tacit.masks.mechanism import EVERY_ROW
from tacit.network import Network
from tacit.runtimes import Stacked
from tacit.solving.solve import NotPrivateWarning
from tacit.testing import check_mechanism

GRAPH = nx.circulant_graph(6, [1, 2])
PROBLEM = tacit.Problem(GRAPH, [tacit.Quadratic(np.eye(2) * (1 + i), [float(i), -1.0]) for i in range(6)])
TERMS = Terms(bound=2.0**16, step=2.0**-20, noise=1e-9)
EVERY = [AffineMasks(3.0), QuadraticMasks(3.0), BasisMasks(3.0), SumMasks(words=2)]


@dataclass(frozen=True)
class Dice(Mechanism):
    """Whole numbers below 2²¹ as masks on affine parts: somebody's own, and of no law that a theorem is about."""

    law: Terms = TERMS
    seed: int | None = None

    @property
    def kind(self):
        return "affine"

    def coverage(self, cost):
        return GENERAL["affine"]

    def refuses(self, algorithm, cost=None):
        return "it adds up." if algorithm.sums else None

    def terms(self, network, dim):
        return self.law

    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        rolled = source.words(peers.links * cost.dim).reshape(peers.links, cost.dim) >> np.uint64(43)
        return Hidden(cost.with_affine(cost.affine + mask(rolled.astype(float), peers)), peers)


@pytest.mark.parametrize("masks", EVERY, ids=lambda masks: type(masks).__name__)
def test_every_mechanism_is_drawn_in_one_of_two_ways(masks):
    refuse_other(masks)
    assert drawn_once(masks) != drawn_afresh(masks)
    terms = masks.terms(Network(GRAPH), 2)
    assert (masks.basis is None) == (masks.sigma is None) == (terms.sigma is None) == drawn_afresh(masks)
    assert masks.words == terms.words
    assert effective_sigma(terms) == (terms.sigma or np.inf)
    assert masks.kind == masks.coverage(PROBLEM.stack).kind if masks.kind != "basis" else True


def test_nothing_is_drawn_in_no_way():
    assert not drawn_once(None)
    assert not drawn_afresh(None)


def test_what_masks_over_a_basis_are_follows_from_the_basis_and_not_from_the_class():
    assert BasisMasks(3.0, functions=Linear()).kind == "affine"
    assert BasisMasks(3.0, functions=Quadratics()).kind == "quadratic"


def test_masks_over_equal_functions_are_equal_settings():
    """They were compared by identity, although settings are values."""
    cubic = BasisMasks(3.0, functions=tacit.Monomials(2, 3))
    assert BasisMasks(3.0) == BasisMasks(3.0, functions=Linear())
    assert BasisMasks(3.0) != BasisMasks(3.0, functions=Quadratics())
    assert (
        cubic
        == BasisMasks(3.0, functions=tacit.Monomials(2, 3))
        != BasisMasks(3.0, functions=tacit.Monomials(2, 2))
    )
    assert len({cubic, BasisMasks(3.0, functions=tacit.Monomials(2, 3))}) == 1
    assert cubic.basis == BasisMasks(4.0, functions=tacit.Monomials(2, 3)).basis
    assert "0x" not in repr(BasisMasks(3.0)) + repr(cubic)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_stands_for_masks_and_masks_for_their_level(level):
    masks = masks_at(level, sigma=7.0 if has_sigma(level) else None, bound=2.0**15, words=2, pairing="seeds")
    assert level_of(masks) == level
    if masks is not None:
        assert (masks.bound, masks.pairing) == (2.0**15, "seeds")
        assert masks.sigma == (7.0 if has_sigma(level) else None)
        assert masks.words == (None if has_sigma(level) else 2)


def test_a_level_without_what_it_needs_is_refused_and_masks_without_a_word_for_them_too():
    with pytest.raises(tacit.TacitError, match="level = 'affine' needs sigma"):
        masks_at("affine")
    for masks in (BasisMasks(3.0, functions=tacit.Monomials(2, 1)), AffineMasks(1.0, link_scales={(0, 1): 2.0})):
        with pytest.raises(tacit.TacitError, match="have a level"):
            level_of(masks)


def test_settings_that_mean_nothing_to_a_level_are_named():
    assert not misfits("affine", sigma=1.0)
    assert not misfits("sums", words=2)
    assert "has no sigma" in misfits("sums", sigma=1.0)[0]
    assert "words goes with" in misfits("quadratic", sigma=1.0, words=2)[0]


def test_another_sigma_or_seed_leaves_the_rest_as_it_was():
    masks = QuadraticMasks(3.0, bound=2.0**17, pairing="seeds")
    assert with_sigma(masks, 5.0) == QuadraticMasks(5.0, bound=2.0**17, pairing="seeds")
    assert with_seed(masks, 4) == QuadraticMasks(3.0, bound=2.0**17, seed=4, pairing="seeds")
    assert with_sigma(None, 5.0) == AffineMasks(5.0)
    with pytest.raises(tacit.TacitError, match="Dice has no setting 'sigma' that could be changed"):
        with_sigma(Dice(), 5.0)


def test_a_mechanism_of_somebodys_own_runs_and_promises_nothing_that_no_theorem_says():
    with pytest.warns(NotPrivateWarning, match="neither Gaussian nor uniform"):
        answer = tacit.solve(PROBLEM, privacy=Dice())
    np.testing.assert_allclose(answer.x, tacit.solve(PROBLEM).x, atol=1e-6)
    assert [stamp.reason for stamp in answer.record.stamps][:1] == ["no theorem"]
    assert not answer.record.private
    assert not answer.protection()["private"]
    assert "of no known law" in str(answer.record.phase1)
    with pytest.raises(VacuousError, match="no theorem here"):
        answer.certificate(any=1)
    with pytest.raises(VacuousError, match="no theorem here"):
        tacit.audit(PROBLEM, any=1, privacy=Dice(), seed=1)


def test_the_sigma_that_somebodys_own_mechanism_states_is_certified():
    stated = Dice(law=TERMS._replace(sigma=4.0))
    answer = tacit.solve(PROBLEM, privacy=stated)
    same = tacit.solve(PROBLEM, privacy=AffineMasks(4.0))
    assert answer.certificate(any=1).epsilon == same.certificate(any=1).epsilon
    with pytest.raises(tacit.TacitError, match="the audit knows Gaussian masks and secret sums, and no Dice"):
        tacit.audit(PROBLEM, any=1, privacy=stated, games=100)


def test_words_without_fresh_masks_for_every_sum_are_no_perfect_secrecy():
    claims = Dice(law=TERMS._replace(words=1, sum_error=1e-9))
    with pytest.warns(NotPrivateWarning, match="no theorem here"):
        answer = tacit.solve(PROBLEM, privacy=claims)
    assert not answer.certificate(any=1).is_private
    assert not answer.protection()["private"]


@pytest.mark.parametrize("masks", [*EVERY, Dice()], ids=lambda masks: type(masks).__name__)
def test_every_mechanism_passes_the_kit(masks):
    check_mechanism(masks, PROBLEM)


@dataclass(frozen=True)
class Uncancelled(Dice):
    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        hidden = super().hide(cost, peers, source, network=network, rows=rows)
        return Hidden(hidden.cost.with_affine(hidden.cost.affine + 1.0), hidden.peers)


@dataclass(frozen=True)
class OffTheLattice(Dice):
    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        hidden = super().hide(cost, peers, source, network=network, rows=rows)
        alternating = np.where(np.arange(len(cost.affine)) % 2, 2.0**-21, -(2.0**-21))[:, None]
        return Hidden(hidden.cost.with_affine(hidden.cost.affine + alternating), hidden.peers)


@dataclass(frozen=True)
class Nothing(Dice):
    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        return Hidden(cost, peers)


@dataclass(frozen=True)
class Again(SumMasks):
    def hide(self, cost, peers, source, *, network, rows=EVERY_ROW):
        class Same:
            def words(self, count):
                return np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

            def turn(self, total):
                pass

        return super().hide(cost, peers, Same(), network=network, rows=rows)


@pytest.mark.parametrize(
    ("masks", "reason"),
    [
        (Uncancelled(), "the masks do not cancel"),
        (OffTheLattice(), "off the lattice"),
        (Nothing(), "somebody's gradient is as it was"),
        (Again(), "two sums have the same masks"),
        (Dice(seed=1), "without a seed"),
        (Dice(law=TERMS._replace(words=1)), "its words and those in its terms differ"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_the_kit_finds_a_mechanism_that_is_broken(masks, reason):
    with pytest.raises(AssertionError, match=reason):
        check_mechanism(masks, PROBLEM)


def test_a_mechanism_that_lacks_an_answer_is_told_which():
    class Bare:
        def hide(self, *args, **settings):
            raise AssertionError("it is refused before anything is masked")

    with pytest.raises(
        tacit.TacitError, match=r"Bare has no kind, .*basis.*; derive it from tacit\.masks\.Mechanism"
    ):
        tacit.solve(PROBLEM, privacy=Bare())

    class Half(Dice):
        @property
        def fresh_each_sum(self):
            return True

    with pytest.raises(tacit.TacitError, match="Half has no fixed_point"):
        tacit.solve(PROBLEM, privacy=Half())
    with pytest.raises(TypeError, match="abstract"):
        type("Empty", (Mechanism,), {})()


def two_slopes():
    """Return x₁ and x₂ as a basis, with masks a quarter as wide on the second."""

    def slope(unit, scale):
        return Function(
            lambda x: x @ unit,
            lambda x: np.broadcast_to(unit, x.shape),
            lambda x: np.zeros((*x.shape, 2)),
            scale=scale,
        )

    return BasisMasks(8.0, functions=Functions([slope(np.eye(2)[0], 1.0), slope(np.eye(2)[1], 0.25)]))


def test_the_audits_certificate_is_about_the_thinnest_masks():
    """Certifying σ itself promised a sixteenth of the leakage that masks on a function of scale ¼ allow."""
    masks = two_slopes()
    certificate, _ = _certificate(PROBLEM, masks, {0}, None)
    assert certificate.sigma == masks.terms(PROBLEM.network, 2).sigma == 2.0
    assert certificate.epsilon == tacit.certify(GRAPH, {0}, sigma=2.0).epsilon


def test_functions_of_ones_own_can_be_attacked_in_bulk():
    setting = settle(two_slopes(), PROBLEM.network, (0,), columns=200, seed=5)
    done = setting.released(setting.secrets())
    assert done.secrets.shape == (6, 200)
    assert candidates(setting).status == "skipped", "two coefficients divide the trials, and are no affine masks"


def test_lattice_and_terms_agree_on_the_step():
    network = Network(GRAPH)
    lattice = AffineMasks(3.0).lattice(agents=6, links=len(network.links))
    assert isinstance(lattice, Lattice)
    assert AffineMasks(3.0).terms(network, 2).step == lattice.step
    assert Stacked(network).links == 2 * len(network.links)
