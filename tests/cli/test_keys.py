"""`tacit keygen --follows`, `tacit federation rekey`, and what checks say of last days: thin, and in one voice."""

from pathlib import Path

import pytest

from tacit.federation import Manifest

NEW = ("federation", "new", "f.toml", "north.card", "south.card", "west.card", "--unknowns", "2", "--cost", "ridge")


@pytest.fixture
def made(run):
    for k, name in enumerate(("north", "south", "west")):
        assert (
            run("keygen", "--name", name, "--address", f"127.0.0.1:{7601 + k}", "--days", str(20 + 400 * k))[0] == 0
        )
    assert run(*NEW)[0] == 0


def test_a_next_key_is_made_by_its_owner_and_accepted_by_one_command(run, made):
    code, out, _ = run("keygen", "--follows", "north.key")
    assert code == 0
    assert "Wrote north.2.key (keep it), north.2.crt and north.2.card (send it)." in out
    code, out, _ = run("federation", "rekey", "f.toml", "g.toml", "north.2.card")
    assert code == 0
    assert "run 1, epoch 1" in out
    assert Manifest.read("g.toml").members["north"].signed
    code, out, _ = run("federation", "rekey", "f.toml", "h.toml", "north.2.card", "--run", "2", "--json")
    assert '"epoch": 0' in out
    for words, why in [
        (("g.toml", "i.toml", "north.2.card"), "has this key of north already"),
        (("f.toml", "i.toml", "south.card"), "has this key of south already"),
        (("f.toml", "g.toml", "north.2.card"), "g.toml"),
    ]:
        code, _, err = run("federation", "rekey", *words)
        assert code == 2
        assert why in err
    assert not Path("i.toml").exists()


def test_a_check_warns_of_a_last_day(run, made):
    _, out, _ = run("federation", "check", "f.toml")
    assert "Warning: the key of north ends in 19 days, on " in out
    assert "south" not in out.partition("Warning")[2].split("\n")[0]
    _, out, _ = run("federation", "check", "f.toml", "--json")
    assert '"warnings"' in out


def test_a_key_has_a_name_or_follows_another(run):
    for words in ((), ("--name", "north", "--follows", "north.key")):
        code, _, err = run("keygen", *words)
        assert code == 2
        assert "needs the name of a member, or the key that it follows" in err
