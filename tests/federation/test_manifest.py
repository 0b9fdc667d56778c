"""The session of a manifest is a hash of what it says: pinned, since state files and greetings carry it."""

import msgspec
import pytest

from tacit.errors import FileError, InputError
from tacit.federation import Manifest, Masks, Member, Model, Plan, Stop, draw_up, read_card


def manifest():
    """Return one that says something in every part; it cannot be run, because nobody has these certificates."""
    return Manifest(
        title="clinics",
        run=3,
        unknowns=2,
        links=[("east", "north"), ("north", "south")],
        members={
            name: Member(f"{name}.example:7300", f"certificate of {name}") for name in ("east", "north", "south")
        },
        privacy=Masks("affine", sigma=9.0, bound=4096.0, pairing="seeds", any=2, hide=5.0),
        algorithm={"name": "nids", "step_size": 0.01},
        x0=[1.0, 2.0],
        model=Model("ridge", target="y", l2=1.5, shares=4, records=20),
        stop=Stop(tolerance=1e-7, patience=60.0),
        dropout="exclude",
        epoch=1,
        previous="ab" * 32,
    )


def test_the_same_file_has_the_same_session_in_every_version():
    assert manifest().session() == "c2086ffd59dc6bdbcde2367c04d99f514acd0a444c42b090c044c19a848f5ca1"


def test_parts_are_named_as_the_fields_of_the_file():
    assert list(manifest().parts()) == [
        "title", "run", "unknowns", "links", "members", "privacy", "algorithm", "x0", "model", "data", "stop",
        "dropout", "epoch", "previous", "left", "protocol", "relay", "follows", "earlier", "repeat",
    ]  # fmt: skip


def test_a_file_survives_being_written_and_read(tmp_path):
    written = msgspec.toml.decode(manifest().to_toml(), type=Manifest)
    assert (written, written.session()) == (manifest(), manifest().session())


CURSOR = "\x1b[1A\x1b[2K"  # moves up and wipes a line: it could hide a fingerprint, or invent one


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("title", f"clinics{CURSOR}"),
        ("title", "clinics, run 3, session\n  fake-fake"),
        ("name", f"north{CURSOR}"),
        ("name", "north, 10.0.0.1:7300\nsouth"),
        ("address", f"north.example{CURSOR}:7300"),
        ("address", 'north.example"\nname = "south:7300'),
    ],
)
def test_what_somebody_else_has_written_cannot_write_on_the_readers_terminal(cards, part, value):
    """Whoever draws up a manifest prints cards, and whoever checks it prints the manifest."""
    first = cards[0]
    changed = first if part == "title" else msgspec.structs.replace(first, **{part: value})
    plan = Plan(unknowns=2, title=value if part == "title" else "clinics")
    with pytest.raises(InputError) as refusal:
        draw_up([changed, *cards[1:]], plan)
    assert str(refusal.value).isprintable()
    good = draw_up(cards, Plan(unknowns=2))
    members = {changed.name: Member(changed.address, changed.certificate), **dict(list(good.members.items())[1:])}
    links = [tuple(changed.name if end == first.name else end for end in link) for link in good.links]
    (problem,) = msgspec.structs.replace(good, title=plan.title, members=members, links=links).problems()
    assert problem.isprintable()


def test_nothing_in_a_file_that_is_read_acts_on_the_terminal_whatever_it_is_called(cards, tmp_path):
    """A member called "certificate", a field that does not exist, a column, a setting: all are spelled out."""
    good, path = msgspec.to_builtins(draw_up(cards, Plan(unknowns=2))), tmp_path / "f.toml"
    good = {name: value for name, value in good.items() if value is not None}
    good["privacy"] = {name: value for name, value in good["privacy"].items() if value is not None}
    east = good["members"].pop("east")
    for wrong in (
        {"members": good["members"] | {"certificate": {**east, "address": f"east{CURSOR}:7300"}}},
        {f"titel{CURSOR}": "clinics"},
        {"algorithm": {"name": "newton", f"inner{CURSOR}": "x"}},
        {"algorithm": {"name": f"newton{CURSOR}"}},
        {"links": [["east", f"moon{CURSOR}"]]},
        {"dropout": f"never{CURSOR}"},
        {"title": "left to \u202eright"},
    ):
        path.write_bytes(msgspec.toml.encode(good | {"members": good["members"] | {"east": east}} | wrong))
        with pytest.raises(FileError) as refusal:
            Manifest.read(path)
        assert str(refusal.value).isprintable(), wrong


def test_a_card_that_acts_on_the_terminal_is_refused_when_it_is_read(cards, tmp_path):
    path = tmp_path / "east.card"
    for changed in ({"name": f"east{CURSOR}"}, {"address": f"east{CURSOR}:1"}, {f"more{CURSOR}": "x"}):
        path.write_bytes(msgspec.toml.encode(msgspec.to_builtins(cards[0]) | changed))
        with pytest.raises(FileError) as refusal:
            read_card(path)
        assert str(refusal.value).isprintable(), changed
