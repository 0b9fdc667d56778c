"""Keys, cards and manifests, as a coordinator for a minute makes them."""

from pathlib import Path


def test_cards_become_a_manifest_that_can_be_checked(run):
    for k, name in enumerate(("north", "south", "west", "east")):
        code, out, _ = run("keygen", "--name", name, "--address", f"127.0.0.1:{7601 + k}")
        assert code == 0
        assert "Fingerprint" in out
        assert Path(f"{name}.key").stat().st_mode & 0o777 == 0o600
    assert run("keygen", "--name", "north")[0] == 2
    code, out, _ = run("federation", "new", "f.toml", "--unknowns", "2", "--cost", "ridge", "--links", "3")
    assert code == 0
    assert "4 members, 6 links" in out
    code, out, _ = run("federation", "check", "f.toml", "--any", "1")
    assert code == 0
    assert "learns the sums over all other agents, and nothing else" in out
    assert "PRIVATE KEY" not in Path("f.toml").read_text()


def test_mistakes_of_a_coordinator_get_one_sentence(run):
    for name in ("north", "south", "west"):
        run("keygen", "--name", name)
    for words, message in (
        (("federation", "new", "f.toml"), "--unknowns"),
        (("federation", "new", "f.toml", "--unknowns", "2", "--level", "affine", "--sigma", "9"), "agree on one"),
        (("federation", "new", "f.toml", "north.card", "--unknowns", "2"), "at least three"),
        (("federation", "check", "nowhere.toml"), "cannot be read"),
    ):
        code, _, err = run(*words)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1
