"""Taking part with a file of records, from Python: four members as threads, over real links."""

import threading
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import FileError, InputError, MismatchError, RefusedError
from tacit.federation import Consent, Fitting, Hiding, Plan, draw_up, participate, read_card, write_card
from tacit.federation.own_data import cost_of, feature_names, versions_of
from tacit.federation.statements import statements_of
from tacit.runtimes.peers.local import free_ports
from tacit.tables import read_sheet

NAMES = ("east", "north", "south")
FITTING = Fitting(cost="ridge", l2=1.0, target="effect")


@pytest.fixture
def manifest(tmp_path):
    """Make three members with records, and their manifest."""
    files = [
        write_card(tmp_path, name, f"127.0.0.1:{port}") for name, port in zip(NAMES, free_ports(3), strict=True)
    ]
    for k, name in enumerate(NAMES):
        table = np.random.default_rng(k).standard_normal((9, 3))
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header="age,dose,effect", comments="")
    return draw_up([read_card(each.card) for each in files], Plan(unknowns=2, fitting=FITTING))


def part_of(manifest, folder, name, **more):
    return participate(manifest, folder / f"{name}.csv", me=name, key=folder / f"{name}.key", **more)


def pooled(folder):
    """Return the ridge regression on all records."""
    tables = [np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1) for name in NAMES]
    A, y = np.vstack([t[:, :2] for t in tables]), np.concatenate([t[:, 2] for t in tables])
    return np.linalg.solve(A.T @ A + np.eye(2), A.T @ y)


def test_three_members_agree_and_each_hears_what_was_hidden(manifest, tmp_path):
    with tacit.Ledger(tmp_path / "book.sqlite", owner="north"):
        pass
    parts = {name: part_of(manifest, tmp_path, name) for name in NAMES if name != "north"}
    parts["north"] = part_of(manifest, tmp_path, "north", ledger=tmp_path / "book.sqlite")
    outcomes = {}

    def run(name):
        outcomes[name] = parts[name].run()

    threads = [threading.Thread(target=run, args=(name,)) for name in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outcome in outcomes.values():
        np.testing.assert_allclose(outcome.x, pooled(tmp_path), rtol=1e-9)
    north = parts["north"]
    assert north.columns == ("age", "dose")
    statements = north.statements()
    assert statements.is_private
    assert statements.lines[0] == "north's masks hide whole costs."
    assert statements.to_dict()["privacy"] == statements.lines
    with tacit.Ledger(tmp_path / "book.sqlite") as book:
        (entry,) = book.entries()
    assert entry.release.participants == NAMES
    again = part_of(manifest, tmp_path, "north", ledger=tmp_path / "book.sqlite")
    assert again.permit is None, "the run is over"
    np.testing.assert_array_equal(again.run().x, outcomes["north"].x)
    assert again.statements().lines == statements.lines


def test_a_ledger_that_refuses_leaves_nothing_behind(manifest, tmp_path):
    with tacit.Ledger(tmp_path / "of-south.sqlite", owner="south"):
        pass
    with pytest.raises(InputError, match="is the ledger of south, not of north"):
        part_of(manifest, tmp_path, "north", ledger=tmp_path / "of-south.sqlite")
    with pytest.raises(FileError, match="there is no ledger"):
        part_of(manifest, tmp_path, "north", ledger=tmp_path / "nowhere.sqlite")
    with pytest.raises(InputError, match="moon is said to have changed and is no member"):
        part_of(
            manifest, tmp_path, "south", ledger=tmp_path / "of-south.sqlite", consent=Consent(changed=("moon",))
        )
    assert not list(tmp_path.glob("*.state"))


def test_no_budget_covers_a_run_without_masks(manifest, tmp_path):
    cards = [tacit.federation.Card(name, m.address, m.certificate) for name, m in manifest.members.items()]
    plan = Plan(
        unknowns=2, fitting=FITTING, hiding=Hiding(level="none"), algorithm="nids", settings={"step_size": 0.01}
    )
    with tacit.Ledger(tmp_path / "book.sqlite", owner="north"):
        pass
    with pytest.raises(RefusedError, match="hides nothing"):
        part_of(draw_up(cards, plan), tmp_path, "north", ledger=tmp_path / "book.sqlite")


def test_records_that_do_not_match_are_refused_and_nobody_need_be_there(manifest, tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.runtimes.peers.refusing._TOLD_WITHIN", 0.1)
    (tmp_path / "north.csv").write_text("age,effect\n1,2\n3,4\n")
    with pytest.raises((MismatchError, InputError), match="the manifest says 2"):
        part_of(manifest, tmp_path, "north")
    with pytest.raises(InputError, match="'moon' is no member"):
        part_of(manifest, tmp_path, "moon")
    assert not list(tmp_path.glob("*.state"))


def test_a_cost_is_read_as_the_manifest_says(manifest, tmp_path):
    sheet = read_sheet(tmp_path / "north.csv")
    cost = cost_of(manifest, "north", sheet)
    table = np.loadtxt(tmp_path / "north.csv", delimiter=",", skiprows=1)
    own = tacit.LeastSquares(table[:, :2], table[:, 2], l2=1.0 / 3)
    np.testing.assert_allclose(cost.grad(np.ones(2)), own.grad(np.ones(2)))
    assert feature_names(manifest, sheet) == ("age", "dose")
    with pytest.raises(InputError, match="cost = 'logistic', and the manifest has 'ridge'"):
        cost_of(manifest, "north", sheet, family="logistic")


def test_versions_follow_records_and_key_and_show_neither(manifest, tmp_path):
    sheet = read_sheet(tmp_path / "north.csv")
    one, other = (versions_of(manifest, "north", sheet, key=tmp_path / f"{k}.key") for k in ("north", "south"))
    assert one == versions_of(manifest, "north", sheet, key=tmp_path / "north.key")
    assert one != other, "nobody without the key can tell whether records are the same"
    first = Path(tmp_path / "north.csv").read_text().splitlines()[1].split(",")[0]
    assert first not in repr(one)


def test_a_member_whose_neighbours_may_all_collude_is_told_so(manifest, tmp_path):
    cards = [tacit.federation.Card(name, m.address, m.certificate) for name, m in manifest.members.items()]
    wary = draw_up(cards, Plan(unknowns=2, fitting=FITTING))
    bare = draw_up(
        cards, Plan(unknowns=2, hiding=Hiding(level="none"), algorithm="nids", settings={"step_size": 0.01})
    )
    cost = cost_of(wary, "north", read_sheet(tmp_path / "north.csv"))
    assert statements_of(wary, "north", cost).is_private
    open_ = statements_of(bare, "north", cost)
    assert not open_.is_private
    assert open_.lines == ["NOT PRIVATE: nothing of north was hidden, and east, south can read its cost."]
