"""Masks that look right one by one: the audit notices that they depend on each other, on secrets, or end somewhere."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import EXPERIMENTS, settle
from tacit.auditing.experiments.run_sums import every_sum
from tacit.auditing.experiments.single_words import SINGLE_WORDS, attack_single_words, draw_words
from tacit.auditing.recording.release import Keys
from tacit.auditing.recording.watch import public_knowledge, watch_effective
from tacit.solving import prepare

NETWORK = tacit.Network(nx.random_regular_graph(4, 10, seed=2))
LARGE = pytest.mark.large  # relatives of others that stay
FOLDED, SINGLE, PAIRS, BITS, TWICE = (
    "masks folded in", "every mask by itself", "masks in pairs", "bits of masks", "masks that come twice"
)  # fmt: skip


@pytest.mark.parametrize(
    ("masks", "experiment", "more"),
    [
        ("Broadcast", TWICE, {}),
        ("EvenFunctions", PAIRS, {}),
        ("EvenFunctionOfKnown", PAIRS, {}),
        ("SameMagnitudes", PAIRS, {}),
        pytest.param("SameMagnitudes", TWICE, {}, marks=LARGE),
        ("SameMagnitudeAsKnown", TWICE, {}),
        ("SameMagnitudesBesideEachOther", TWICE, {}),
        pytest.param("SameMagnitudesBesideEachOther", PAIRS, {}, marks=LARGE),
        ("SameMagnitudesFarApart", TWICE, {}),
        ("Autoregressive", PAIRS, {"rho": 0.01}),
        ("AlternatingVariances", SINGLE, {}),
        ("ScaleOfARun", SINGLE, {}),
        ("ScaleOfACoordinate", SINGLE, {}),
        ("ShiftedStream", TWICE, {}),
        ("OverlappingCounters", TWICE, {}),
        ("OverlappingNormals", TWICE, {}),
        pytest.param("OverlappingNormals", PAIRS, {}, marks=LARGE),
        ("ShiftedAndBlurred", PAIRS, {}),
        pytest.param("IrwinHall", SINGLE, {}, marks=LARGE),
        ("IrwinHall", SINGLE, {"count": 12}),
        pytest.param("Truncated", SINGLE, {}, marks=LARGE),
        ("Truncated", SINGLE, {"cut": 4.0}),
        pytest.param("SharedLowBits", BITS, {}, marks=LARGE),
        ("SharedLowBits", BITS, {"bits": 1}),
        ("LowBitsAddUp", BITS, {}),
        ("SignsMultiplyToOne", BITS, {}),
        ("OtherRunPermuted", TWICE, {}),
        ("RunsGoTogether", PAIRS, {}),
        ("SignOfTheSecret", PAIRS, {}),
        ("SizeOfTheSecret", PAIRS, {}),
        ("LowBitsOfTheSecret", BITS, {}),
        ("SignError", FOLDED, {}),
        ("Stratified", SINGLE, {}),
        ("Biased", SINGLE, {}),
        ("OnePlaceInTheOpen", SINGLE, {}),
        ("MultipleOfATurn", PAIRS, {}),
        ("ThreeTurns", PAIRS, {}),
        ("SignsFromARegister", BITS, {}),
        ("LittleOfTheSecret", PAIRS, {}),
        ("ReversedByHalf", PAIRS, {}),
        ("PermutedAndBlurred", PAIRS, {}),
        ("ThreeTurnsAcross", PAIRS, {}),
        ("FourSigns", PAIRS, {}),
        ("SkipsZeros", SINGLE, {}),
        ("SkipsConstants", TWICE, {}),
        ("OneMaskPerValue", TWICE, {}),
    ],
)
def test_gaussian_masks_that_go_together_or_end_are_noticed(masks, experiment, more, dependent):
    kind, long = getattr(dependent, masks), 20_000 if masks in ("Truncated", "Autoregressive", "Biased") else 4000
    setting = settle(kind(100.0, **more), NETWORK, (3,), seed=11, longest=long)
    verdict = EXPERIMENTS[experiment](setting)
    assert verdict.is_red, verdict


@pytest.mark.parametrize("graph", [nx.complete_graph(3), nx.complete_graph(6)], ids=["3 agents", "6 agents"])
@pytest.mark.parametrize(("masks", "experiment"), [("OverlappingCounters", TWICE), ("SharedLowBits", BITS)])
def test_small_networks_are_looked_at_as_closely(masks, experiment, graph, dependent):
    setting = settle(getattr(dependent, masks)(100.0), tacit.Network(graph), (0,), seed=11, longest=4000)
    assert EXPERIMENTS[experiment](setting).status == "beaten"


@pytest.mark.parametrize(
    ("masks", "attack", "more"),
    [
        ("OneWordToAllNeighbours", TWICE, {}),
        ("OddMultiples", TWICE, {}),
        ("LargeOddMultiples", TWICE, {}),
        ("AffineWords", BITS, {}),
        ("XorShift", BITS, {}),
        ("TurnedWords", TWICE, {}),
        ("ShiftedWords", TWICE, {}),
        ("NearWords", PAIRS, {}),
        ("SameLowWords", BITS, {}),
        ("OneBitInCommon", BITS, {}),
        ("HalvesElsewhere", TWICE, {}),
        ("SumOfOthers", BITS, {}),
        ("TopBitZero", SINGLE, {}),
        ("LowBitOne", SINGLE, {}),
        ("EqualHalves", BITS, {}),
        ("FiftyPlacesLater", TWICE, {}),
        ("Counters", TWICE, {}),
        ("ReversedAcrossAgents", TWICE, {}),
        ("MasksAgainLater", TWICE, {}),
        pytest.param("MasksAgainLater", TWICE, {"lag": 5}, marks=LARGE),
        pytest.param("MasksAgainLater", TWICE, {"lag": 40}, marks=LARGE),
        ("MasksAgainLater", TWICE, {"lag": 256}),
        ("ReversedAffine", BITS, {}),
        ("ReversedXor", BITS, {}),
        ("ComplaintUnmasked", TWICE, {}),
        ("PiecesInTheOpen", TWICE, {}),
        ("ComplaintInTheOpen", FOLDED, {}),
        ("MultiplesLater", TWICE, {"lag": 1}),
        pytest.param("MultiplesLater", BITS, {"lag": 7}, marks=LARGE),
        ("MoreLater", TWICE, {"lag": 1}),
        ("OneWordToAllNeighbours", TWICE, {"words": 2}),
        pytest.param("LargeOddMultiples", BITS, {"words": 2}, marks=LARGE),
        pytest.param("NearWords", PAIRS, {"words": 2}, marks=LARGE),
        pytest.param("MasksAgainLater", TWICE, {"words": 2, "lag": 3}, marks=LARGE),
    ],
)
def test_words_that_follow_from_others_are_noticed(masks, attack, more, dependent_words):
    rng = np.random.default_rng(3)
    drawn = draw_words(getattr(dependent_words, masks)(**more), NETWORK, keys=Keys(3), rng=rng)
    verdict = SINGLE_WORDS[attack](drawn, rng)
    assert verdict.status == "beaten", verdict


@pytest.mark.parametrize("network", [NETWORK, tacit.Network(nx.complete_graph(3))], ids=["10 agents", "a triangle"])
@pytest.mark.parametrize(
    "masks",
    [
        tacit.AffineMasks(100.0),
        tacit.AffineMasks(1e-3),
        tacit.AffineMasks(100.0, pairing="one-sided"),
        tacit.AffineMasks(100.0, pairing="seeds"),
        tacit.QuadraticMasks(100.0),
        tacit.BasisMasks(100.0, functions=tacit.Monomials(2, 3)),
    ],
    ids=["affine", "thin", "one-sided", "seeds", "quadratic", "basis"],
)
def test_every_mask_that_is_shipped_passes(masks, network):
    setting = settle(masks, network, (0,), seed=11, longest=10_000)
    for experiment in (FOLDED, SINGLE, PAIRS, BITS, TWICE):
        verdict = EXPERIMENTS[experiment](setting)
        assert verdict.status == "within", verdict


@pytest.mark.parametrize(
    "masks",
    [tacit.SumMasks(), tacit.SumMasks(words=2, pairing="one-sided"), tacit.SumMasks(pairing="seeds")],
    ids=repr,
)
def test_every_word_that_is_shipped_passes(masks):
    rng = np.random.default_rng(4)
    for verdict in attack_single_words(draw_words(masks, NETWORK, keys=Keys(4), rng=rng), rng):
        assert verdict.status == "within", verdict


def test_every_sum_of_a_run_is_looked_at_and_not_the_first_alone(dependent_words):
    rng = np.random.default_rng(5)
    costs = [tacit.Logistic(rng.normal(size=(40, 5)), rng.integers(0, 2, 40), l2=0.1) for _ in range(10)]
    for masks, status in ((dependent_words.LaterInTheOpen(), "beaten"), (tacit.SumMasks(), "within")):
        problem = tacit.Problem(nx.random_regular_graph(4, 10, seed=2), costs)
        job = prepare(problem, privacy=masks, algorithm="newton", max_rounds=40).job
        view, _, _ = watch_effective(job, [3])
        assert every_sum(view, public_knowledge(problem, job)).status == status
