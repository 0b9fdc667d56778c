"""What a manifest promises of the answer: what is refused before anybody reads a file, and what is said."""

import contextlib
import dataclasses
import math

import msgspec
import numpy as np
import pytest

from tacit.algorithms import NoisyDirect, NoisyNewton
from tacit.errors import RefusedError, TacitError
from tacit.federation import Fitting, Hiding, Manifest, Plan, check, draw_up
from tacit.federation.numbering import numbered
from tacit.federation.own_data import cost_of, feature_names, sheet_of
from tacit.federation.promising import answer_section
from tacit.federation.repeating import Series, Turn
from tacit.federation.sections import Repeat
from tacit.federation.statements import statements_of
from tacit.masks import clipped_to
from tacit.solving.sections import AnswerSection

SQUARES, ODDS = Fitting(cost="ridge", l2=1.0), Fitting(cost="logistic", l2=1.0)
PROMISE = AnswerSection(1.0, 1e-6, clip=2.0, labels=3.0)


def plan(answer=PROMISE, fitting=SQUARES, *, level="sums", any=1, **more):
    hiding = Hiding(level=level, any=any, answer=answer, sigma=None if level == "sums" else 1e4)
    return Plan(unknowns=3, links=3, fitting=fitting, hiding=hiding, **more)


@pytest.mark.parametrize(
    ("made", "algorithm"),
    [
        (plan(), NoisyDirect),
        (plan(msgspec.structs.replace(PROMISE, sums=5), ODDS), NoisyNewton),
        (plan(level="quadratic"), NoisyDirect),
    ],
)
def test_algorithm_and_shares_follow_from_the_promise(cards, tmp_path, made, algorithm):
    manifest = draw_up(cards, made)
    (tmp_path / "federation.toml").write_bytes(manifest.to_toml())
    read = Manifest.read(tmp_path / "federation.toml")
    assert read == manifest
    job = read.job()
    assert type(job.algorithm) is algorithm
    assert job.privacy.answer == made.hiding.answer.promise()
    assert job.algorithm.noise == pytest.approx(math.sqrt(4 / 3) / job.privacy.answer.mu, rel=1e-3)


def test_members_are_told_who_is_protected_against_whom_and_at_which_price(cards):
    manifest = draw_up(cards, plan(any=2))
    guarantee = check(manifest).guarantee
    assert manifest.privacy.promise.any == 2
    assert (guarantee.unit, guarantee.any, guarantee.agents) == ("record", 2, 4)
    for words in (
        "Every record",
        "one record is there or not",
        "(1, 1e-06)",
        "any 2 agents",
        "54.7 %",
        "1.41 times",
    ):
        assert words in guarantee.statement()
    assert check(manifest).to_dict()["answer"]["mu"] == guarantee.mu


def test_a_manifest_without_a_promise_is_the_one_that_it_always_was(cards):
    """A field that says nothing is not there: sessions of earlier versions stay."""
    manifest = draw_up(cards, plan(None))
    assert b"answer" not in manifest.to_toml()
    assert "answer" not in msgspec.to_builtins(manifest.privacy)
    assert check(manifest).guarantee is None


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (plan(msgspec.structs.replace(PROMISE, epsilon=0.0)), "epsilon = 0.0 must be positive"),
        (plan(msgspec.structs.replace(PROMISE, clip=None)), "clip is missing"),
        (plan(msgspec.structs.replace(PROMISE, labels=None)), "labels is missing"),
        (plan(msgspec.structs.replace(PROMISE, delta=1e-3, records=2000)), "is not below 1/2000"),
        (plan(any=3), "at least two must be honest"),
        (plan(fitting=Fitting(cost="huber")), "no bounded sensitivity"),
        (plan(fitting=Fitting(cost="poisson")), "no bounded sensitivity"),
        (plan(fitting=Fitting(cost="lasso", l1=1.0)), "no bounded sensitivity"),
        (plan(fitting=Fitting()), r"needs a \[model\]"),
        (plan(fitting=Fitting(cost="ridge", records=30)), "nobody can tell"),
        (plan(algorithm="fista"), "'direct', over a spanning tree"),
        (plan(level="quadratic", dropout="exclude"), "left with its own noise share"),
        (plan(level="none"), "needs masks"),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused_in_a_sentence(cards, made, words):
    if made.hiding.level == "none":
        made = plan(level="sums")
        manifest = draw_up(cards, made)
        masks = msgspec.structs.replace(manifest.privacy, level="none")
        (sentence,) = set(msgspec.structs.replace(manifest, privacy=masks).problems())
        assert words in sentence
        return
    with pytest.raises(TacitError, match=words):
        draw_up(cards, made)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": None, "delta": None, "clip": 1.0}, "clip belongs to a promise"),
        ({"epsilon": None, "delta": None, "clip": 1.0, "labels": 2.0}, "clip and labels belong to a promise"),
        ({"epsilon": 1.0, "delta": None, "clip": 1.0}, "delta is missing"),
        ({"epsilon": -1.0, "delta": 1e-6, "clip": 1.0}, "epsilon = -1.0 must be positive"),
        ({"epsilon": 1.0, "delta": 1e-6}, "clip is missing"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, words):
    with pytest.raises(TacitError, match=words):
        answer_section(given.pop("epsilon"), given.pop("delta"), **given)


ODD = [
    "",
    "1e300,-1e300,1e200,1e250",
    "abc,NaN,,inf",
    '"0.5,-0.2',
    "-inf,inf,0,-inf",
    "1,2",
    "1,2,3,4,5,6",
    "1;2;3;4",
]


@pytest.mark.parametrize("line", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("fitting", [SQUARES, ODDS, Fitting(cost="ridge", l2=1.0, intercept=True)])
@pytest.mark.parametrize("more", ["", "0.3,0.2,0.1,1\n"], ids=["alone", "among others"])
def test_no_record_makes_a_member_refuse_warn_or_differ(cards, tmp_path, line, fitting, more):
    """What a member does before a run is the same whatever one of its records is, and without it."""
    made = plan(fitting=fitting)
    manifest = draw_up(cards, dataclasses.replace(made, unknowns=3 + fitting.intercept))
    seen = []
    for text in (f"{line}\n", "0.1,0.2,0.3,0\n", ""):
        file = tmp_path / "records.csv"
        file.write_text(f"a,b,c,y\n{more}{text}")
        sheet = sheet_of(manifest, file)
        cost = clipped_to(cost_of(manifest, "north", sheet), manifest.privacy.promise)
        assert np.isfinite(cost.grad(np.zeros(cost.dim))).all()
        seen.append((sheet.assumption, feature_names(manifest, sheet), statements_of(manifest, "north", cost)))
    assert seen[0] == seen[1] == seen[2]


def test_arrays_are_taken_as_they_are(cards, tmp_path):
    manifest = draw_up(cards, plan())
    for A, y in (([[np.nan, np.inf, 1e300]], [np.nan]), (np.zeros((0, 3)), np.zeros(0))):
        np.savez(tmp_path / "records.npz", A=A, y=y)
        cost = clipped_to(cost_of(manifest, "north", tmp_path / "records.npz"), manifest.privacy.promise)
        assert np.isfinite(cost.grad(np.ones(3))).all()


def test_a_series_of_noisy_answers_takes_records_as_they_come(cards, tmp_path):
    """That records have changed would be a bit without noise."""
    for answer, refused in ((PROMISE, False), (None, True)):
        manifest = draw_up(cards, plan(answer, repeat=Repeat(runs=2, every=60.0)))
        (tmp_path / str(refused)).mkdir()
        series = Series(manifest, me="north", folder=tmp_path / str(refused), clock=lambda: 1.0)
        first, second = (Turn(k, numbered(manifest, k), 0.0) for k in (1, 2))
        series.begin(first, "these records")
        with pytest.raises(RefusedError) if refused else contextlib.nullcontext():
            series.begin(second, "others")
