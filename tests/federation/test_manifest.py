"""The session of a manifest is a hash of what it says: pinned, since state files and greetings carry it."""

import msgspec

from tacit.federation import Manifest, Masks, Member, Model, Stop


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
        "dropout", "epoch", "previous",
    ]  # fmt: skip


def test_a_file_survives_being_written_and_read(tmp_path):
    written = msgspec.toml.decode(manifest().to_toml(), type=Manifest)
    assert (written, written.session()) == (manifest(), manifest().session())
