"""The law of a member's ledger, without agents: what is entered, what is refused, and what a later epoch costs."""

import pytest

import tacit
from tacit.errors import InputError, RefusedError
from tacit.federation import Consent, Hiding, Plan, draw_up, without
from tacit.federation.account import permit
from tacit.federation.epochs import Brought

GAUSSIAN = {"hiding": Hiding(level="affine", sigma=100.0), "algorithm": "nids", "settings": {"step_size": 0.01}}


@pytest.fixture
def book(tmp_path):
    """Return the file of a new ledger of north."""
    with tacit.Ledger(tmp_path / "book.sqlite", owner="north", budget=1.0):
        return tmp_path / "book.sqlite"


@pytest.fixture(params=[{}, GAUSSIAN], ids=["sums", "affine"])
def manifest(request, cards):
    return draw_up(cards, Plan(unknowns=2, dropout="exclude", **request.param))


def entries(book):
    with tacit.Ledger(book) as ledger:
        return ledger.entries()


def is_gaussian(manifest):
    return manifest.privacy.level == "affine"


def test_a_run_is_entered_once_whatever_is_restarted(book, manifest):
    first = permit(manifest, "north", book, Consent(), draw=lambda: "")  # the masks are drawn later
    assert not entries(book), "asking enters nothing"
    drawn = permit(manifest, "north", book, Consent(), draw=lambda: "one draw")
    drawn.enter()
    drawn.enter()
    permit(manifest, "north", book, Consent(), draw=lambda: "one draw").enter()
    (entry,) = entries(book)
    assert entry.release.run == f"a federation, run 1, session {manifest.session()[:16]}"
    assert entry.release.key == "one draw"
    assert first.accepted == ()


def test_the_masks_are_asked_for_when_the_entry_is_written(book, manifest):
    names = iter(["", "drawn by now"])
    permit(manifest, "north", book, Consent(), draw=lambda: next(names)).enter()
    assert entries(book)[0].release.key == "drawn by now"


def test_fresh_masks_are_another_run(book, manifest):
    for draw in ("one", "two", "three"):
        permit(manifest, "north", book, Consent(), draw=lambda: draw).enter()
    name = f"a federation, run 1, session {manifest.session()[:16]}"
    assert [entry.release.run for entry in entries(book)] == [name, f"{name}, again 2", f"{name}, again 3"]


def test_a_run_beyond_the_budget_is_refused_and_not_entered(tmp_path, cards):
    narrow = draw_up(cards, Plan(unknowns=2, **{**GAUSSIAN, "hiding": Hiding(level="affine", sigma=0.5)}))
    with tacit.Ledger(tmp_path / "small.sqlite", owner="north", budget=1e-3):
        pass
    with pytest.raises(RefusedError, match="above the budget"):
        permit(narrow, "north", tmp_path / "small.sqlite", Consent(), draw=lambda: "x")
    assert not entries(tmp_path / "small.sqlite")


def test_changed_records_must_be_accepted_in_so_many_words(book, manifest):
    old, new = (Consent(versions=(("north", "", digest),)) for digest in ("a" * 32, "b" * 32))
    permit(manifest, "north", book, old, draw=lambda: "one").enter()
    with pytest.raises(RefusedError, match="accept it and start again"):
        permit(manifest, "north", book, new, draw=lambda: "two")
    accepted = permit(manifest, "north", book, new._replace(accept_change=True), draw=lambda: "two")
    assert [exposure.agent for exposure in accepted.accepted] == ["north"]
    accepted.enter()
    restarted = permit(manifest, "north", book, new, draw=lambda: "two")
    assert restarted.accepted == accepted.accepted, "what was accepted is said again after a restart"


def test_strangers_and_other_peoples_ledgers_are_refused(book, manifest):
    with pytest.raises(InputError, match="moon is said to have changed and is no member"):
        permit(manifest, "north", book, Consent(changed=("moon",)), draw=lambda: "")
    with pytest.raises(InputError, match="is the ledger of north, not of south"):
        permit(manifest, "south", book, Consent(), draw=lambda: "")


@pytest.mark.parametrize("committed", [False, True])
def test_going_on_without_somebody_must_be_accepted(book, manifest, committed):
    permit(manifest, "north", book, Consent(), draw=lambda: "one").enter()
    after = without(manifest, members=["south"])
    before = Brought(manifest, committed=committed, draw="one")
    with pytest.raises(RefusedError, match="to go on without south exposes what south brought in"):
        permit(after, "north", book, Consent(), draw=lambda: "two", before=before)
    consent = Consent(accept_exposure=True)
    permit(after, "north", book, consent, draw=lambda: "two", before=before).enter()
    first, second = entries(book)
    assert second.release.participants == ("east", "north", "west")
    carried = is_gaussian(manifest) and committed
    assert (second.release.key == "two") == (not carried), "masks that stay are known by the old draw"
    if carried:
        assert second.epsilon < first.epsilon, "the same view again: only what the smaller graph costs more"


def test_a_link_left_out_shows_nothing_new_where_masks_stay(book, manifest):
    permit(manifest, "north", book, Consent(), draw=lambda: "one").enter()
    after = without(manifest, links=[("east", "west")])
    before = Brought(manifest, committed=True, draw="one")
    permit(after, "north", book, Consent(), draw=lambda: "two", before=before).enter()
    assert len(entries(book)) == (1 if is_gaussian(manifest) else 2)


def test_an_epoch_that_nobody_entered_is_made_up_for(book, manifest):
    """Something was published before there was a ledger: it is entered first, whatever the budget says."""
    after = without(manifest, members=["south"])
    before = Brought(manifest, committed=True, draw="one")
    permit(after, "north", book, Consent(accept_exposure=True), draw=lambda: "two", before=before)
    (entry,) = entries(book)
    assert (entry.release.key, entry.release.participants) == ("one", ("east", "north", "south", "west"))
