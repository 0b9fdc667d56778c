"""Manifests are drawn up from Python as the command does it, by typed records instead of options."""

import math
from pathlib import Path

import networkx as nx
import pytest

import tacit
from tacit.errors import FileError, InputError
from tacit.federation import Fitting, Hiding, Manifest, Plan, Stop, draw_up
from tacit.federation.cards import read_card, write_card
from tacit.federation.fitting import dictionary_like
from tacit.federation.gathering import read_cards
from tacit.tables.sheet import read_sheet

GOSSIP = {"algorithm": "nids", "settings": {"step_size": 0.01}}


def test_what_is_drawn_up_can_be_written_read_and_run(cards, tmp_path):
    plan = Plan(unknowns=3, fitting=Fitting(cost="ridge", l2=1.0), stop=Stop(patience=60.0), title="clinics")
    manifest = draw_up(cards, plan)
    assert (manifest.title, manifest.unknowns, list(manifest.members)) == ("clinics", 3, [c.name for c in cards])
    assert manifest.algorithm == {"name": "standardised", "inner": "newton", "intercept": False}
    assert (manifest.privacy.bound, manifest.privacy.words) == (2.0**60, 2), "for records in anybody's units"
    assert manifest.stop.floor > 0
    file = tmp_path / "federation.toml"
    file.write_bytes(manifest.to_toml())
    assert Manifest.read(file).session() == manifest.session()


def test_sigma_is_chosen_where_only_a_guess_is_given(cards):
    hiding = Hiding(level="affine", guess=0.55, hide=5.0, any=2)
    masks = draw_up(cards, Plan(unknowns=2, hiding=hiding, **GOSSIP)).privacy
    assert math.isclose(masks.sigma, tacit.calibrate(nx.complete_graph(4), any=2, guess=0.55, hide=5.0))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(), "say how many unknowns"),
        (Plan(unknowns=2, links=1), "links = 1: a member with one neighbour"),
        (Plan(unknowns=2, dropout="never"), "dropout = 'never' is not one of wait and exclude"),
        (Plan(unknowns=2, hiding=Hiding(level="secret")), "level = 'secret' is not one of"),
        (Plan(unknowns=2, hiding=Hiding(sigma=3.0)), "sigma means nothing to level = 'sums'"),
        (Plan(unknowns=2, hiding=Hiding(level="none", pairing="seeds"), **GOSSIP), "pairing means nothing"),
        (Plan(unknowns=2, hiding=Hiding(any=3)), "at least two must be honest"),
        (Plan(unknowns=2, links=2, hiding=Hiding(any=2)), "could cut the others apart"),
        (Plan(unknowns=2, fitting=Fitting(l2=1.0)), "l2 needs a cost"),
        (Plan(unknowns=2, fitting=Fitting(cost="lasso")), "a lasso cost needs l1"),
        (Plan(unknowns=2, algorithm="magic"), "no algorithm is called 'magic'"),
        (Plan(unknowns=2, count_columns=True), "counting columns goes with regressions"),
        (Plan(unknowns=2, stop=Stop(patience=0.0)), "patience = 0.0 must be positive"),
    ],
)
def test_a_plan_that_cannot_be_agreed_on_is_refused(cards, plan, message):
    with pytest.raises(InputError, match=message):
        draw_up(cards, plan)


def test_masks_that_would_hide_nothing_are_refused(cards):
    plan = Plan(unknowns=2, hiding=Hiding(level="affine", sigma=9.0), fitting=Fitting(cost="huber"), **GOSSIP)
    with pytest.raises(InputError, match="affine masks hide nothing"):
        draw_up(cards, plan)


def test_too_few_members_and_two_of_one_name_are_refused(cards):
    with pytest.raises(InputError, match="at least three"):
        draw_up(cards[:2], Plan(unknowns=2))
    with pytest.raises(InputError, match="two members called east"):
        draw_up([*cards, cards[0]], Plan(unknowns=2))


def test_a_file_suggests_what_columns_mean(cards, tmp_path):
    path = tmp_path / "like.csv"
    path.write_text("age,site,effect\n30,a,1\n40,b,2\n50,a,3.5\n")
    fitting = Fitting(cost="ridge", target="effect", intercept=True)
    suggested = dictionary_like(read_sheet(path), fitting.model(), missing="drop")
    manifest = draw_up(cards, Plan(fitting=fitting, data=suggested.dictionary))
    assert manifest.unknowns == len(suggested.dictionary.names) + 1
    assert manifest.data.gaps == "drop"
    with pytest.raises(InputError, match="leave it out"):
        draw_up(cards, Plan(unknowns=9, fitting=fitting, data=suggested.dictionary))


def test_a_new_member_has_a_key_a_certificate_and_a_card_or_nothing(tmp_path):
    files = write_card(tmp_path, "north", "north.example:7300")
    card = read_card(files.card)
    assert (card.name, card.address) == ("north", "north.example:7300")
    assert card.certificate == files.certificate.read_text()
    assert files.key.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileError, match="already there"):
        write_card(tmp_path, "north", "north.example:7300")
    with pytest.raises(InputError, match="host:port"):
        write_card(tmp_path, "south", "nowhere")
    assert not list(Path(tmp_path).glob("south.*"))
    (tmp_path / "again.card").write_text(files.card.read_text())
    with pytest.raises(FileError, match=r"north.card and .*again.card: there are two members called north"):
        read_cards([files.card, tmp_path / "again.card"])
