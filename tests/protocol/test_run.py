"""The run as a table: every stage with every event, what is refused, and what a record looks like from outside."""

import itertools

import msgspec
import pytest

from tacit.errors import FileError, TacitError
from tacit.protocol import run
from tacit.protocol.record import VERSION, Carried, Mark, Record, Stage
from tacit.protocol.run import (
    MAY_SAY,
    TABLE,
    Begin,
    Commit,
    Draw,
    End,
    Erase,
    Forget,
    Goodbyes,
    Publish,
    Reuse,
    Supersede,
    Word,
    carry,
    step,
)  # fmt: skip

KEY, COST, CARRIED_KEY = b"k" * 32, b"digest of a cost", b"c" * 32
BEGIN = Begin("s0", COST, b"agreed", ("east", "west"), KEY)
CARRIED = Carried(b"agreed before", CARRIED_KEY, [[b"mask"], []], COST, True, b"")
END = End([Mark(3, 4), Mark(5, 6)], b"the answer")
WAY = [BEGIN, Draw(), Commit(), Publish(), END, Goodbyes(["east"]), Goodbyes(["west"]), Erase()]
STAGES = ["KEYED", "MASKED", "COMMITTED", "ROUNDS", "ENDED", "ENDED", "PARTED", "ERASED"]


def after(*events, record=None):
    for event in events:
        record = step(record or Record(), event)
    return record


def test_a_run_goes_through_all_its_stages():
    assert [record.stage.name for record in itertools.accumulate(WAY, step, initial=Record())][1:] == STAGES


def at(stage):
    """Return a record at a stage."""
    if stage is Stage.FRESH:
        return Record()
    if stage is Stage.SUPERSEDED:
        return after(BEGIN, Draw(), Commit(), Supersede("s1", "s0", COST))
    return after(*WAY[: STAGES.index(stage.name) + 1])


EVENTS = [*WAY[:6], Erase(), Reuse(), Supersede("s1", "s0", COST), Forget()]
POSSIBLE = {
    Begin: "FRESH KEYED MASKED COMMITTED ROUNDS ENDED PARTED",
    Draw: "KEYED MASKED COMMITTED ROUNDS",
    Reuse: "",
    Commit: "MASKED COMMITTED ROUNDS",
    Publish: "COMMITTED ROUNDS",
    End: "ROUNDS",
    Goodbyes: "ENDED PARTED",
    Erase: "PARTED ERASED",
    Supersede: "KEYED MASKED COMMITTED ROUNDS SUPERSEDED",
    Forget: "SUPERSEDED",
}


@pytest.mark.parametrize("stage", Stage, ids=lambda stage: stage.name)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_at_every_stage_is_possible_or_refused(stage, event):
    """A second reading of the table, written down by hand."""
    if stage.name in POSSIBLE[type(event)].split():
        step(at(stage), event)
    else:
        with pytest.raises(TacitError):
            step(at(stage), event)


def test_the_table_has_a_line_for_every_event():
    assert {*TABLE} == {*run.Event.__args__}
    assert {*MAY_SAY} == {*Stage}


@pytest.mark.parametrize("event", [BEGIN, Draw(), Commit(), Publish()], ids=lambda event: type(event).__name__)
def test_what_happens_again_after_a_restart_changes_nothing(event):
    record = after(*WAY[:4])
    assert step(record, event) is record


def test_a_key_that_is_there_is_kept():
    assert after(BEGIN, record=Record(key=CARRIED_KEY)).key == CARRIED_KEY
    assert after(BEGIN, BEGIN._replace(key=CARRIED_KEY)).key == KEY


@pytest.mark.parametrize("stage", [s for s in Stage if s.name in STAGES[:-1]], ids=lambda stage: stage.name)
def test_masks_serve_one_cost_and_one_manifest(stage):
    with pytest.raises(TacitError, match="begun with other data"):
        step(at(stage), BEGIN._replace(cost=b"another"))
    with pytest.raises(TacitError, match="another agreement"):
        step(at(stage), BEGIN._replace(session="other"))
    with pytest.raises(TacitError, match="has its answer" if at(stage).has_ended else "begun with other data"):
        step(at(stage), Supersede("s1", "s0", b"another"))
    with pytest.raises(TacitError, match="begun with other data"):
        after(BEGIN._replace(carried=CARRIED, cost=b"another"))


def test_whoever_has_published_draws_no_second_masks_unless_they_serve_one_sum():
    begun = after(BEGIN._replace(carried=CARRIED))
    with pytest.raises(TacitError, match="second view"):
        step(begun, Draw())
    assert step(begun, Draw(once=True)).drawn
    reused = step(begun, Reuse())
    assert (reused.stage, reused.drawn) == (Stage.MASKED, False)
    with pytest.raises(TacitError, match="second view"):
        step(reused, Draw(once=True))
    with pytest.raises(TacitError, match="masks of its own"):
        step(step(begun, Draw(once=True)), Reuse())
    with pytest.raises(TacitError, match="no masks of an earlier epoch"):
        after(BEGIN, Reuse())


@pytest.mark.parametrize("stage", [Stage.KEYED, Stage.MASKED, Stage.COMMITTED, Stage.ROUNDS], ids=lambda s: s.name)
def test_a_next_epoch_knows_whether_something_was_published_before_and_after_it_was_marked(stage):
    for record in (at(stage), step(at(stage), Supersede("s1", "s0", COST))):
        brought = carry(record, by="s1", previous="s0", journal=[[b"m"], []], x=b"")
        assert brought.committed == (stage.name not in ("KEYED", "MASKED"))
        assert (brought.key, brought.agreement) == (KEY, b"agreed")


@pytest.mark.parametrize("stage", [Stage.ENDED, Stage.PARTED], ids=lambda stage: stage.name)
def test_whoever_has_its_answer_is_left_out_of_the_next_epoch(stage):
    """Its neighbours may have ended too and erased everything: they could not go on, and it would wait for them."""
    with pytest.raises(TacitError, match="has its answer"):
        carry(at(stage), by="s1", previous="s0", journal=[[], []], x=b"")
    with pytest.raises(TacitError, match="has its answer"):
        step(at(stage), Supersede("s1", "s0", COST))


def test_masks_are_carried_from_where_they_were_drawn():
    begun = after(Begin("s1", COST, b"agreed later", ("east",), KEY, CARRIED))
    further = {"by": "s2", "previous": "s1", "journal": [[b"new"]], "x": b"x"}
    assert carry(step(begun, Reuse()), **further) == msgspec.structs.replace(CARRIED, x=b"x")
    own = carry(step(begun, Draw(once=True)), **further)
    assert (own.key, own.agreement, own.journal, own.committed) == (KEY, b"agreed later", [[b"new"]], False)


def test_there_is_no_way_back_from_a_later_epoch_and_no_second_one():
    gone = at(Stage.SUPERSEDED)
    for record in (gone, step(gone, Forget())):
        with pytest.raises(TacitError, match="cannot go back"):
            step(record, BEGIN)
        with pytest.raises(TacitError, match="gone on under another agreement, session s1"):
            step(record, Supersede("s2", "s0", COST))
    assert step(gone, Supersede("s1", "s0", COST)) == gone
    with pytest.raises(TacitError, match="epoch before this one"):
        step(step(gone, Forget()), Supersede("s1", "s0", COST))
    with pytest.raises(TacitError, match="epoch before this one"):
        step(at(Stage.ROUNDS), Supersede("s1", "another", COST))


def test_nobody_parts_before_every_neighbour_has_said_goodbye():
    ended = at(Stage.ENDED)
    assert step(ended, Goodbyes([])).stage is Stage.ENDED
    assert step(ended, Goodbyes(["west"])).goodbyes == ("west",)
    assert step(ended, Goodbyes(["west", "east"])).stage is Stage.PARTED
    with pytest.raises(TacitError, match="no neighbour"):
        step(ended, Goodbyes(["moon"]))


def test_an_end_speaks_of_every_link():
    with pytest.raises(TacitError, match=r"2 link\(s\), and 1"):
        step(at(Stage.ROUNDS), End([Mark(1, 1)], b""))


@pytest.mark.parametrize("record", [at(Stage.ERASED), step(at(Stage.SUPERSEDED), Forget())], ids=repr)
def test_no_secret_is_left_where_a_run_is_over(record):
    begun = after(BEGIN._replace(carried=CARRIED), Reuse(), Commit(), Publish())
    end = [END, Goodbyes(["east", "west"]), Erase()]
    later = after(*(end if record.stage is Stage.ERASED else [Supersede("s1", "s0", COST), Forget()]), record=begun)
    for data in (record.encode(), later.encode()):
        assert not any(secret in data for secret in (KEY, CARRIED_KEY, COST, b"mask"))
    assert (later.outcome == b"the answer") == (later.stage is Stage.ERASED)


def test_every_stage_says_what_the_one_before_may_say_until_the_end():
    ways = [MAY_SAY[Stage[name]] for name in ("FRESH", "KEYED", "MASKED", "COMMITTED", "ROUNDS", "ENDED")]
    assert all(less <= more for less, more in itertools.pairwise(ways))
    assert Word.ROUND not in MAY_SAY[Stage.COMMITTED]
    assert Word.GOODBYE not in MAY_SAY[Stage.ROUNDS]
    assert not MAY_SAY[Stage.SUPERSEDED]


@pytest.mark.parametrize("stage", Stage, ids=lambda stage: stage.name)
def test_a_record_comes_back_as_it_was_written_and_shows_no_secret(stage):
    record = at(stage)
    assert Record.decode(record.encode()) == record
    assert repr(record) == f"Record({stage.name}, …)"
    assert repr(CARRIED) == "Carried(…)"


@pytest.mark.parametrize(
    "data",
    [
        msgspec.msgpack.encode({"version": VERSION + 1, "stage": "new"}),
        msgspec.msgpack.encode({"stage": "fresh"}),
        msgspec.msgpack.encode({"version": 1, "stage": "rounds"}),
        msgspec.msgpack.encode({"version": VERSION + 1, "stage": "erased"}),
        msgspec.msgpack.encode([b"x", 4, None]),
    ],
    ids=["a later one", "no version", "the one before", "an answer of a later one", "an earlier one"],
)
def test_a_record_of_another_version_is_refused(data):
    with pytest.raises(FileError, match="another version of tacit"):
        Record.decode(data)


def test_an_answer_of_the_version_before_is_read():
    """Nothing follows from it any more: what has changed since is how a run goes on."""
    answer = msgspec.structs.replace(at(Stage.ERASED), version=1)
    assert Record.decode(answer.encode()) == answer


def test_a_record_that_is_cut_short_is_damaged():
    data = at(Stage.ENDED).encode()
    for size in range(len(data)):
        with pytest.raises((msgspec.DecodeError, FileError)):
            Record.decode(data[:size])
