"""Noisy answers in a member's ledger: μ² adds up, too much is refused beforehand, and no record has a say in it."""

import math

import msgspec
import pytest

import tacit
from tacit.certificates import Release
from tacit.differential import AnswerBudget
from tacit.errors import RefusedError
from tacit.federation import Consent, Fitting, Hiding, Plan, draw_up, without
from tacit.federation.account import permit, refuse_unaffordable
from tacit.federation.epochs import Brought
from tacit.federation.leaving import leave_out
from tacit.federation.sections import Repeat
from tacit.federation.statements import statements_of
from tacit.federation.taking_in import take_in
from tacit.solving.cost_files import example
from tacit.solving.sections import AnswerSection

PROMISE = AnswerSection(1.0, 1e-6, clip=2.0, labels=3.0)
MU = PROMISE.promise().mu
TWICE = AnswerBudget(1.5, 1e-6)  # two runs, and not three


def plan(**more):
    hiding = {"level": "sums", "answer": PROMISE} | more.pop("hiding", {})
    return Plan(
        **({"unknowns": 3, "links": 3, "fitting": Fitting(cost="ridge", l2=1.0)} | more), hiding=Hiding(**hiding)
    )


@pytest.fixture
def manifest(cards):
    return draw_up(cards, plan(dropout="exclude"))


@pytest.fixture
def book(tmp_path):
    """Return a function that starts a ledger of north and returns its file."""

    def make(answers=TWICE, **terms):
        with tacit.Ledger(tmp_path / "book.sqlite", owner="north", answers=answers, **terms):
            return tmp_path / "book.sqlite"

    return make


def play(manifest, file, draw, *, number=1, **consent):
    manifest = msgspec.structs.replace(manifest, run=number)
    permit(manifest, "north", file, Consent(**consent), draw=lambda: draw).enter()


def spent(file):
    with tacit.Ledger(file) as ledger:
        return ledger.answered("1").mu_spent, len(ledger.entries())


def versions(word):
    return (("north", "all records", f"digest:{word}"),)


def test_squares_add_up_and_a_run_too_many_is_refused_before_it_begins(manifest, book):
    file = book()
    play(manifest, file, "one", number=1)
    play(manifest, file, "two", number=2)
    assert spent(file) == (pytest.approx(MU * math.sqrt(2.0)), 2)
    with pytest.raises(RefusedError, match=r"run 3.*would take the answers.*2 run\(s\) have spent"):
        play(manifest, file, "three", number=3)
    assert spent(file)[1] == 2, "nothing was entered"
    play(manifest, file, "four", number=4, cost_version="other people")


def test_the_same_draw_is_charged_once_and_a_fresh_one_again(manifest, book):
    """After a crash the state has the same key; after a lost state, or with other records in a new folder, it has not."""
    file = book()
    for _ in range(3):
        play(manifest, file, "one", versions=versions("a"))
    assert spent(file) == (pytest.approx(MU), 1)
    play(manifest, file, "fresh", versions=versions("b"))
    assert spent(file) == (pytest.approx(MU * math.sqrt(2.0)), 2)
    with pytest.raises(RefusedError, match="would take the answers"):
        play(manifest, file, "fresh again", versions=versions("c"))


def test_no_record_has_a_say_in_what_is_refused(manifest, book, tmp_path):
    """Whatever the digests of records say, runs are entered and refused alike, in the same words."""

    def sentences(words, folder):
        folder.mkdir()
        file = folder / "book.sqlite"
        with tacit.Ledger(file, owner="north", answers=TWICE):
            pass
        for k, word in enumerate(words[:2], 1):
            play(manifest, file, f"draw {k}", number=k, versions=versions(word))
        with pytest.raises(RefusedError) as refused:
            play(manifest, file, "draw 3", number=3, versions=versions(words[2]))
        return str(refused.value), spent(file)

    same = sentences(("a", "a", "a"), tmp_path / "same")
    assert sentences(("a", "b", "a"), tmp_path / "other") == same
    assert sentences(("a", "b", "c"), tmp_path / "new") == same


def test_exact_answers_and_noisy_ones_do_not_go_together_in_a_budget(manifest, book, cards):
    exact = draw_up(cards, plan(hiding={"answer": None}))
    file = book()
    with pytest.raises(RefusedError, match="its answer is exact, and no budget for answers covers that"):
        play(exact, file, "one")
    with tacit.Ledger(file) as ledger:
        release = Release.of("by hand", exact.network().graph, sigma=math.inf, basis="sums")
        ledger.add(release, anyway=True)
    with pytest.raises(RefusedError, match="run by hand has told its answer about these records exactly"):
        play(manifest, file, "two", number=2)


def test_noisy_runs_tell_nothing_by_subtraction(manifest, book, cards):
    """Records change, members leave and come: no exposure, nothing to accept, and a charge each."""
    file = book(AnswerBudget(3.0, 1e-6))
    play(manifest, file, "one", versions=versions("a"))
    play(manifest, file, "two", number=2, versions=versions("b"), changed=("south",))
    later = without(manifest, members=["west"])
    before = Brought(manifest, committed=True, draw="one")
    permit(later, "north", file, Consent(versions=versions("b")), draw=lambda: "three", before=before).enter()
    assert spent(file) == (pytest.approx(MU * math.sqrt(3.0)), 3)
    with tacit.Ledger(file) as ledger:
        assert ledger.exposed() == ()
        assert ledger.to_dict()["answers"]["spent"] == {"1": pytest.approx(MU * math.sqrt(3.0))}
        assert [run["answer"]["agents"] for run in ledger.to_dict()["runs"]] == [4, 4, 3]
    assert "nothing by subtraction" in leave_out(manifest, members=["west"]).costs[0]
    three = draw_up(cards[:3], plan(links=2))
    taken = take_in(three, cards[3:])
    assert taken.exposures == ()
    assert "Nothing is told by subtraction" in taken.costs[0]
    assert taken.after.earlier[0].answer == three.promised().guarantee
    permit(taken.after, "north", file, Consent(), draw=lambda: "four").enter()
    assert spent(file)[1] == 5, "the run before it, of which this ledger did not know, and this one"


def test_a_promise_against_fewer_than_the_ledger_guards_against_is_refused(manifest, book):
    with pytest.raises(RefusedError, match="private against any 1, and this ledger guards against any 2"):
        play(manifest, book(any=2), "one")


@pytest.mark.parametrize(("unit", "factor"), [("record", None), ("label", 1.0)])
def test_labels_are_no_records(cards, book, unit, factor):
    gossip = {"algorithm": "nids", "settings": {"step_size": 0.01}}
    labels = draw_up(cards, plan(hiding={"level": "affine", "sigma": 1e4}, **gossip))
    file = book(AnswerBudget(3.0, 1e-6, unit=unit), any=1)
    if factor is None:
        with pytest.raises(RefusedError, match="leaves features in the open"):
            play(labels, file, "one")
        return
    play(labels, file, "one")
    play(draw_up(cards, plan()), file, "two", number=2)
    assert spent(file)[0] == pytest.approx(MU * math.sqrt(1.0 + 4.0)), "a label replaced is a record out and one in"


def test_a_series_that_would_exceed_the_budget_is_refused_before_its_first_run(manifest, book):
    file = book()
    for runs, fits in ((2, True), (3, False)):
        series = msgspec.structs.replace(manifest, repeat=Repeat(runs=runs, every=60.0))
        if fits:
            refuse_unaffordable(series, file, Consent())
        else:
            with pytest.raises(RefusedError, match="these 3 runs would take the answers"):
                refuse_unaffordable(series, file, Consent())
        cost = example(series.model, unknowns=3)
        (line,) = [each for each in statements_of(series, "north", cost).lines if "add up to" in each]
        assert f"{runs} runs add up to μ = {MU * math.sqrt(runs):.4g}" in line


def test_words_of_a_noisy_run_are_true(manifest):
    """Nobody learns exact sums, and nobody is told that records were not counted."""
    lines = statements_of(manifest, "north", example(manifest.model, unknowns=3)).lines
    text = " ".join(lines)
    assert "learns the sums over all other agents with the noise of their shares, and nothing else" in text
    for false in ("can be subtracted", "which tell records that are few", "was not counted"):
        assert false not in text
    assert "Every record of every honest agent is protected" in text
