"""What every test of an audit may be wrong by: p-values are uniform, and levels add up to one in a thousand."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import kstest

import tacit
from tacit.auditing import EXPERIMENTS, audit, settle, statistics
from tacit.auditing.experiments.secret_sums import attack_words
from tacit.auditing.judging.verdict import LEVEL, judge_gaussian, judge_mean
from tacit.auditing.recording.release import Keys
from tacit.auditing.statistics.ranks import bits_of
from tacit.auditing.statistics.repeats import multiples, pairs_of, ratios, turned
from tacit.auditing.statistics.shapes import ones
from tacit.auditing.statistics.statistic import worst_of

TINY = 1e-6
GRAPH = nx.random_regular_graph(4, 10, seed=2)
TRIANGLE = tacit.Network(nx.complete_graph(3))


def uniform(p):
    """Return the chance that p-values of as many tests are as far from uniform; seeds are constants."""
    return kstest(np.array(p), "uniform").pvalue


def normals(rng):
    return rng.standard_normal((12, 400))


def shares(rng):
    return rng.random((12, 400))


def words(rng):
    return rng.integers(0, 2**64, (12, 400), dtype=np.uint64)


LOOKS = {
    "squares": lambda rng: statistics.squares("", np.square(normals(rng)).sum(axis=1), 400),
    "evenness": lambda rng: statistics.evenness("", np.square(normals(rng)).sum(axis=0), 12),
    "shape": lambda rng: statistics.shape(normals(rng), ""),
    "tails": lambda rng: statistics.tails(normals(rng).repeat(2, axis=0)[::2], "", rng),
    "uniform": lambda rng: statistics.uniform(words(rng), ""),
    "cells": lambda rng: statistics.cells(rng.integers(0, 2**64, (12, 1000), dtype=np.uint64), 16, ""),
    "joint": lambda rng: statistics.joint(normals(rng)),
    "apart": lambda rng: statistics.apart(normals(rng), normals(rng), ""),
    "correlations": lambda rng: statistics.correlations(statistics.waves(shares(rng), (1, 2)), rows=12, says=""),
    "correlations with secrets": lambda rng: statistics.correlations(
        statistics.waves(shares(rng), (1,)), normals(rng), says=""
    ),
    "shifts": lambda rng: statistics.shifts(shares(rng), np.array([[0, 1], [2, 5], [3, 4]]), ""),
    "triples": lambda rng: statistics.triples(shares(rng)[:6], ""),
    "fours": lambda rng: statistics.fours(rng.random((6, 2000)) < 0.5, ""),
    "means": lambda rng: statistics.means("", normals(rng)),
    "shared": lambda rng: statistics.shared(normals(rng), ""),
}


@pytest.mark.parametrize("name", LOOKS)
def test_the_p_of_every_look_is_uniform(name):
    rng = np.random.default_rng(31)
    seen = [LOOKS[name](rng) for _ in range(300)]
    assert all(len(each) == len(seen[0]) >= 1 for each in seen)
    for k in range(len(seen[0])):
        assert uniform([each[k].p for each in seen]) > TINY, seen[0][k].says


def test_the_p_of_shares_and_means_is_uniform_although_they_are_discrete():
    rng = np.random.default_rng(32)
    coins = [judge_mean("", rng.random(40) < 0.3, rng.random(160) < 0.3, says="", rng=rng).p for _ in range(400)]
    few = [rng.integers(0, 4, (2, 60)).astype(float) for _ in range(100)]
    means = [judge_mean("", one, other, says="", rng=rng).p for one, other in few]
    assert uniform(coins) > TINY
    assert uniform(means) > TINY


def test_the_p_of_a_gaussian_attack_is_uniform_though_its_looks_are_at_the_same_numbers():
    rng, laplacian = np.random.default_rng(35), nx.laplacian_matrix(nx.circulant_graph(9, [1, 2])).toarray() * 1.0
    values, vectors = np.linalg.eigh(laplacian)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    found = [judge_gaussian("", root @ rng.standard_normal((9, 300)), laplacian).p for _ in range(300)]
    assert uniform(found) > 0.01


def test_the_worst_of_many_counts_as_the_worst_of_many():
    assert worst_of(0.5, 2) == pytest.approx(0.75)
    assert worst_of(1e-12, 1000) == pytest.approx(1e-9)
    assert worst_of(1.0, 3) == 1.0
    assert worst_of(0.3, 0) == 1.0
    assert statistics.together([statistics.Statistic(1.0, "beaten", "", certain=True)]) is None


def test_bits_that_follow_from_others_lower_a_rank_and_fresh_ones_do_not():
    rng = np.random.default_rng(33)
    bits = bits_of(words(rng)[:3], 64)
    known = rng.integers(0, 2, (5, 400)).astype(bool)
    (free,) = statistics.relations(bits, known, says="")
    assert free.p == 1.0
    bits[70] = bits[3] ^ bits[100] ^ ~known[2]
    (tied,) = statistics.relations(bits, known, says="")
    assert tied.p < 1e-9
    assert statistics.relations(bits[:, :50], says="") == []  # too few samples to say anything


@pytest.mark.parametrize("columns", [3, 70_000])
def test_ones_are_counted_in_every_place(columns):
    rng = np.random.default_rng(36)
    some = rng.integers(0, 2**64, (3, columns), dtype=np.uint64)
    some[0] = 2**64 - 1
    places = np.arange(64, dtype=np.uint64)[:, None]
    counts = np.stack([((row >> places) & np.uint64(1)).sum(axis=1) for row in some], axis=1)
    np.testing.assert_array_equal(ones(some), counts)
    np.testing.assert_array_equal(ones(some.view(np.int64)), counts)


def test_products_some_rows_at_a_time_are_those_of_all_at_once():
    rng = np.random.default_rng(37)
    y, rows = rng.standard_normal((600, 50)), 300
    a, b = np.triu_indices(len(y), 1)
    z = (y @ y.T / np.linalg.norm(y, axis=1))[a, b]
    for each, kept in ((0, np.ones(len(a), dtype=bool)), (rows, b - a != rows)):
        (seen,) = statistics.correlations(y, rows=each, says="")
        assert seen.p == pytest.approx(statistics.normal(z[kept], "").p, rel=1e-9)
    (seen,) = statistics.correlations(y[:500], y[500:], says="")
    plain = y[:500] @ y[500:].T / np.linalg.norm(y[500:], axis=1)
    assert seen.p == pytest.approx(statistics.normal(plain, "").p, rel=1e-9)


def test_words_that_follow_from_others_repeat():
    rng = np.random.default_rng(34)
    first, second = words(rng), words(rng)
    third, fifth = first * np.uint64(3), first * np.uint64(5)
    assert statistics.repeats(multiples(np.stack([third, ~fifth + np.uint64(1)])), 0.0, "").p < 1e-9
    assert statistics.repeats(multiples(np.stack([first, second])), pairs_of(16 * first.size * 2, 63), "").p == 1.0
    moved = (first << np.uint64(9)) | (first >> np.uint64(55))
    np.testing.assert_array_equal(turned(moved), turned(first))
    assert set(ratios(third, first).tolist()) == {3}


def test_p_values_of_audits_of_real_masks_are_uniform():
    """Small audits of a triangle; `python -m benchmarks levels` makes 200 of ten agents."""
    names = ("law of the masks", "every link by itself", "every mask by itself", "masks in pairs", "low-order bits")
    found = {name: [] for name in names}
    for seed in range(15):
        setting = settle(tacit.AffineMasks(100.0), TRIANGLE, [2], seed=seed, columns=500, longest=500, releases=40)
        for name in names:
            found[name].append(EXPERIMENTS[name](setting).p)
    for name, p in found.items():
        assert uniform(p) > TINY, name


@pytest.mark.large
@pytest.mark.parametrize("kind", ["affine", "sums"])
def test_p_values_of_200_audits_are_uniform(kind):
    found = {}
    for seed in range(200):
        if kind == "affine":
            setting = settle(tacit.AffineMasks(100.0), tacit.Network(GRAPH), [3], seed=seed)
            verdicts = [attack(setting) for name, attack in EXPERIMENTS.items() if name != "seed enumeration"]
        else:
            rng = np.random.default_rng(seed)
            verdicts = attack_words(tacit.SumMasks(), tacit.Network(GRAPH), [3], keys=Keys(seed), rng=rng)
        for verdict in verdicts:
            if verdict.p is not None:
                found.setdefault(verdict.attack, []).append(verdict.p)
    for attack, p in found.items():
        assert uniform(p) > TINY, attack


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("masks", [tacit.AffineMasks(100.0), tacit.SumMasks()], ids=["affine", "sums"])
def test_the_levels_of_all_tests_of_an_audit_add_up_to_one_in_a_thousand(masks, monkeypatch):
    monkeypatch.delitem(EXPERIMENTS, "seed enumeration")
    costs = [tacit.Quadratic.distance(point) for point in np.random.default_rng(0).normal(size=(10, 2))]
    report = audit(tacit.Problem(GRAPH, costs), [3], privacy=masks, games=2000, seed=5)
    assert 0.0 < report.level <= LEVEL == 1e-3
    assert f'"level": {report.level}' in report.to_json()
    judged = [verdict for verdict in report.with_masks if verdict.p is not None]
    assert len(judged) >= 5
    assert all(verdict.level > 0.0 for verdict in judged)
