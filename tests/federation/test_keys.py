"""Keys: locked with a passphrase, with a last day, and followed by the next one."""

import datetime
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

import tacit
from tacit.errors import FileError, InputError
from tacit.federation import (
    Manifest,
    Masks,
    Member,
    check,
    join,
    last_days,
    read_card,
    rekeyed,
    write_card,
    write_next_card,
)
from tacit.federation.epochs import refuse_unrelated, without
from tacit.federation.expiry import refuse_ended
from tacit.federation.gathering import read_cards
from tacit.federation.rotation import key_of
from tacit.federation.statements import statements_of
from tacit.runtimes.peers import keys
from tacit.runtimes.peers.digests import digest_of_cost
from tacit.runtimes.peers.identity import context
from tacit.runtimes.peers.keys import PASSPHRASE_FILE, derived, read_key, root_of

SECRET = "correct horse battery staple"  # noqa: S105
NAMES = ["north", "south", "east"]
TODAY = datetime.datetime(2030, 6, 1, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Stretch passphrases less, for tests that try many."""
    monkeypatch.setattr(keys, "_ITERATIONS", 100_000)


@pytest.fixture
def passphrase(tmp_path, monkeypatch):
    """Return a file with a passphrase that the environment names."""
    file = tmp_path / "passphrase"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    monkeypatch.setenv(PASSPHRASE_FILE, str(file))
    return file


def manifest_of(cards, **more):
    links = [("north", "south"), ("south", "east"), ("north", "east")]
    members = {card.name: Member(card.address, card.certificate) for card in cards}
    algorithm = {"name": "nids", "step_size": 0.1}
    return Manifest("a run", 1, 2, links, members, Masks(level="affine", sigma=10.0), algorithm, **more)


@pytest.fixture
def made(tmp_path):
    """Return a manifest of three members, whose keys are in the folder."""
    files = [write_card(tmp_path, name, f"127.0.0.1:{7300 + k}") for k, name in enumerate(NAMES)]
    return manifest_of([read_card(each.card) for each in files])


# passphrases ----------------------------------------------------------------------------------------------------


def test_a_key_with_a_passphrase_is_of_use_with_it_and_with_it_alone(tmp_path, passphrase, monkeypatch):
    files = write_card(tmp_path, "north", "127.0.0.1:7300", passphrase_file=passphrase)
    assert files.key.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert files.key.stat().st_mode & 0o777 == 0o600
    assert read_key(files.key).public_key() is not None
    context(files.key, files.certificate, [files.certificate.read_text()], server=True)
    passphrase.write_text("wrong horse battery\n")
    for use in (read_key, root_of, lambda key: context(key, files.certificate, [], server=True)):
        with pytest.raises(FileError) as error:
            use(files.key)
        assert "passphrase" in str(error.value)
        assert "horse" not in str(error.value)
    monkeypatch.delenv(PASSPHRASE_FILE)
    with pytest.raises(FileError, match="has a passphrase. Put it into a file that only you can read"):
        read_key(files.key)


def test_openssl_opens_a_locked_key_too(tmp_path, passphrase):
    files = write_card(tmp_path, "north", "127.0.0.1:7300", passphrase_file=passphrase)
    words = ["openssl", "pkey", "-in", str(files.key), "-passin", f"file:{passphrase}", "-noout"]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no openssl here")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_passphrase_that_others_can_read_is_refused(tmp_path, passphrase, mode):
    passphrase.chmod(mode)
    with pytest.raises(FileError, match="others can read the passphrase; use chmod 600"):
        write_card(tmp_path, "north", "127.0.0.1:7300", passphrase_file=passphrase)
    assert not list(tmp_path.glob("north*"))


@pytest.mark.parametrize("text", ["", "\n", "short\n", "x" * 1025])
def test_a_passphrase_that_is_none_is_refused_and_not_shown(tmp_path, passphrase, text):
    passphrase.write_text(text)
    with pytest.raises(FileError, match="a passphrase has 12 to 1024 characters") as error:
        write_card(tmp_path, "north", "127.0.0.1:7300", passphrase_file=passphrase)
    assert "short" not in str(error.value)


def test_a_passphrase_is_in_no_message_no_log_and_no_list_of_processes(tmp_path, made, passphrase, caplog):
    """Wrong ones are refused before anything else is done."""
    caplog.set_level("DEBUG")
    folder = tmp_path / "locked"
    folder.mkdir()
    files = write_card(folder, "north", "127.0.0.1:7300", passphrase_file=passphrase)
    changed = {**made.members, "north": Member("127.0.0.1:7300", files.certificate.read_text())}
    manifest = msgspec.structs.replace(made, members=changed)
    cost = tacit.Quadratic.distance(np.zeros(2))
    agent = join(manifest, cost, me="north", key=files.key, folder=folder)
    assert SECRET not in repr(vars(agent))
    passphrase.write_text(f"{SECRET} but wrong")
    with pytest.raises(FileError, match=r"north\.key: is not unlocked by the passphrase in ") as error:
        join(manifest, cost, me="north", key=files.key, folder=folder)
    assert SECRET not in str(error.value) + repr(error.value) + caplog.text
    assert error.value.__cause__ is None
    script = "import sys; from tacit.cli import main; main()"
    words = [sys.executable, "-P", "-c", script, "fingerprint", "north.key"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr + " ".join(words)


# last days ------------------------------------------------------------------------------------------------------


def ending(made, tmp_path, end):
    folder = tmp_path / "ending"
    folder.mkdir(exist_ok=True)
    files = write_card(folder, "north", "127.0.0.1:7300", until=end)
    changed = {**made.members, "north": Member("127.0.0.1:7300", files.certificate.read_text())}
    return msgspec.structs.replace(made, members=changed), files


@pytest.mark.parametrize(("days", "left"), [(0.5, "today"), (1.2, "tomorrow"), (29.5, "in 29 days")])
def test_a_last_day_is_said_ahead(made, tmp_path, days, left):
    manifest, _ = ending(made, tmp_path, TODAY + datetime.timedelta(days=days))
    (sentence,) = last_days(manifest, TODAY)
    assert sentence.startswith(f"the key of north ends {left}, on 2030-06-")
    refuse_ended(manifest, TODAY)


def test_keys_without_a_last_day_and_those_with_a_distant_one_are_not_spoken_of(made, tmp_path):
    manifest, _ = ending(made, tmp_path, TODAY + datetime.timedelta(days=31))
    assert last_days(made, TODAY) == last_days(manifest, TODAY) == []


def test_after_its_last_day_a_key_is_refused_by_checks_and_agents_in_the_same_words(made, tmp_path):
    manifest, files = ending(made, tmp_path, datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC))
    cost = tacit.Quadratic.distance(np.zeros(2))
    said = set()
    for use in (
        lambda: check(manifest),
        lambda: join(manifest, cost, me="north", key=files.key, folder=tmp_path),
        lambda: join(manifest, cost, me="south", key=tmp_path / "south.key", folder=tmp_path),
    ):
        with pytest.raises(InputError, match="the key of north ended on 2020-01-02") as error:
            use()
        said.add(str(error.value))
    assert len(said) == 1


def test_a_key_that_has_ended_signs_no_next_one(made, tmp_path):
    manifest, files = ending(made, tmp_path, TODAY)
    card = read_card(write_next_card(files.key).card)
    with pytest.raises(InputError, match="ended on 2030-06-01"):
        rekeyed(manifest, card, now=TODAY + datetime.timedelta(days=1))
    _, over = ending(made, tmp_path.joinpath("ending"), datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC))
    with pytest.raises(InputError, match="can sign no next key"):
        write_next_card(over.key)


# the next key ---------------------------------------------------------------------------------------------------


def test_a_next_key_is_taken_into_the_manifest_and_everybody_makes_the_same_file(made, tmp_path):
    files = write_next_card(tmp_path / "north.key")
    assert [each.name for each in files] == ["north.2.key", "north.2.crt", "north.2.card"]
    card = read_card(files.card)
    assert card.address == "127.0.0.1:7300"
    after, again = rekeyed(made, card), rekeyed(made, read_card(files.card))
    assert after.to_toml() == again.to_toml()
    assert (after.epoch, after.previous, after.run) == (1, made.session(), 1)
    refuse_unrelated(made, after)
    path = tmp_path / "after.toml"
    path.write_bytes(after.to_toml())
    assert Manifest.read(path) == after
    assert key_of(made, "north", tmp_path).name == "north.key"
    assert key_of(after, "north", tmp_path).name == "north.2.key"
    new = rekeyed(made, card, run=2)
    assert (new.epoch, new.previous, new.run) == (0, "", 2)
    with pytest.raises(InputError, match="a new run has another number"):
        rekeyed(made, card, run=1)


def test_a_manifest_without_new_keys_has_the_session_that_it_always_had(made):
    assert "signed" not in made.to_toml().decode()
    assert b"signed" not in msgspec.json.encode(made)


def test_a_key_can_be_followed_again_and_old_cards_fit_no_more(made, tmp_path):
    second = read_card(write_next_card(tmp_path / "north.key").card)
    third = read_card(write_next_card(tmp_path / "north.2.key").card)
    assert (tmp_path / "north.3.key").exists()
    first = rekeyed(made, second)
    after = rekeyed(first, third)
    refuse_unrelated(first, after)
    for manifest, card, why in [
        (first, second, "has this key of north already"),
        (after, second, "is not signed by the one that the manifest has"),
        (made, third, "is not signed by the one that the manifest has"),
    ]:
        with pytest.raises(InputError, match=why):
            rekeyed(manifest, card)


def forged(made, tmp_path, signer):
    """Return a card of north with a key that somebody else has signed."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "north.key").write_bytes(signer.read_bytes())
    (folder / "north.key").chmod(0o600)
    (folder / "north.crt").write_text(signer.with_suffix(".crt").read_text())
    card = read_card(write_next_card(folder / "north.key", address="127.0.0.1:7300").card)
    return msgspec.structs.replace(card, name="north")


def test_a_card_that_a_wrong_key_has_signed_is_refused(made, tmp_path):
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    key = write_card(stranger, "north", "127.0.0.1:7300").key
    card = forged(made, tmp_path, key)
    with pytest.raises(InputError, match="is not signed by the one that the manifest has"):
        rekeyed(made, card)
    unsigned = {**made.members, "north": Member(card.address, card.certificate, card.signed)}
    after = msgspec.structs.replace(made, members=unsigned, epoch=1, previous=made.session())
    with pytest.raises(InputError, match="is not signed by the one that the manifest has"):
        refuse_unrelated(made, after)


@pytest.mark.parametrize("signed", ["", "00", "no hexadecimal", "Ω"])
def test_a_card_that_nobody_has_signed_is_refused(made, tmp_path, signed):
    card = msgspec.structs.replace(read_card(write_next_card(tmp_path / "north.key").card), signed=signed)
    with pytest.raises(InputError, match="is not signed by the one that the manifest has"):
        rekeyed(made, card)


def test_no_member_can_give_another_a_key_or_take_its_own(made, tmp_path):
    """South signs a key under north's name; north signs south's certificate as its own; a signature moves nowhere."""
    souths = read_card(write_next_card(tmp_path / "south.key").card)
    with pytest.raises(InputError, match="is not signed"):
        rekeyed(made, msgspec.structs.replace(souths, name="north"))
    norths = read_card(write_next_card(tmp_path / "north.key").card)
    with pytest.raises(InputError, match="is not signed"):
        rekeyed(made, msgspec.structs.replace(norths, certificate=souths.certificate))
    with pytest.raises(InputError, match="is not signed"):
        rekeyed(made, msgspec.structs.replace(souths, signed=norths.signed))
    with pytest.raises(InputError, match="'west' is no member"):
        rekeyed(made, msgspec.structs.replace(norths, name="west"))


def test_an_epoch_with_a_new_key_and_something_else_is_refused(made, tmp_path):
    after = rekeyed(made, read_card(write_next_card(tmp_path / "north.key").card))
    with pytest.raises(InputError, match="does not follow"):
        refuse_unrelated(made, msgspec.structs.replace(after, unknowns=3))
    marked = {**after.members, "south": msgspec.structs.replace(after.members["south"], signed="00")}
    with pytest.raises(InputError, match="does not follow"):
        refuse_unrelated(made, msgspec.structs.replace(after, members=marked))


def test_with_its_next_key_a_member_knows_its_cost_and_its_records_again(tmp_path, passphrase):
    """The root goes along, sealed under the new key, and tells nothing of the old one."""
    write_card(tmp_path, "north", "127.0.0.1:7300")
    old = tmp_path / "north.key"
    locked = write_next_card(old, passphrase_file=passphrase).key
    last = write_next_card(locked).key
    cost = tacit.Quadratic.distance(np.ones(2))
    for new in (locked, last):
        assert derived(new, "versions of records") == derived(old, "versions of records")
        assert digest_of_cost(cost, np.zeros(2), new) == digest_of_cost(cost, np.zeros(2), old)
        assert read_key(new).private_numbers() != read_key(old).private_numbers()
        assert root_of(old) not in new.read_bytes()
        certificate = new.with_suffix(".crt")
        context(new, certificate, [certificate.read_text()], server=False)
    text = locked.read_text()
    start = text.index("ROOT-----\n") + 20
    locked.write_text(text[:start] + ("A" if text[start] != "A" else "B") + text[start + 1 :])
    with pytest.raises(FileError, match="the root of its digests is damaged"):
        root_of(locked)


def test_a_signature_is_of_this_statement_and_of_no_other(made, tmp_path):
    """Evidence and cards are signed with the same key: one never passes for the other."""
    card = read_card(write_next_card(tmp_path / "north.key").card)
    key = read_key(tmp_path / "north.key")
    signed = key.sign(b"tacit: what was told\0{}", ec.ECDSA(hashes.SHA256())).hex()
    with pytest.raises(InputError, match="is not signed"):
        rekeyed(made, msgspec.structs.replace(card, signed=signed))
    assert Path(tmp_path / "north.2.key").stat().st_mode & 0o777 == 0o600


# cards of one member in a folder --------------------------------------------------------------------------------


def test_of_the_cards_of_one_member_the_newest_is_taken_whatever_the_files_are_called(made, tmp_path):
    second = write_next_card(tmp_path / "north.key")
    third = write_next_card(second.key)
    third.card.rename(tmp_path / "a.card")
    second.card.rename(tmp_path / "zz.card")
    cards = {card.name: card for card in read_cards(sorted(tmp_path.glob("*.card")))}
    assert sorted(cards) == sorted(NAMES)
    assert cards["north"].certificate == third.certificate.read_text()
    assert cards["south"].certificate == made.members["south"].certificate


@pytest.mark.parametrize("case", ["strangers", "a gap", "two that follow one", "one card twice"])
def test_cards_that_no_signature_joins_are_refused_by_name(made, tmp_path, case):
    if case == "strangers":
        (tmp_path / "stranger").mkdir()
        write_card(tmp_path / "stranger", "north", "127.0.0.1:7300").card.rename(tmp_path / "north.new.card")
    elif case == "a gap":
        second = write_next_card(tmp_path / "north.key")
        write_next_card(second.key)
        second.card.unlink()
    elif case == "two that follow one":
        card = write_next_card(tmp_path / "north.key").card
        card.rename(tmp_path / "other.card")
        for file in tmp_path.glob("north.2.*"):
            file.unlink()
        write_next_card(tmp_path / "north.key")
    else:
        (tmp_path / "again.card").write_bytes((tmp_path / "north.card").read_bytes())
    with pytest.raises(FileError, match="neither has signed the other. Move away the card") as refused:
        read_cards(sorted(tmp_path.glob("*.card")))
    assert "north.card" in str(refused.value)


# who has left ---------------------------------------------------------------------------------------------------


def test_an_epoch_with_a_new_key_says_that_nobody_has_left_and_a_later_one_remembers_who_has(made, tmp_path):
    """Also where the key is new after somebody has left; a new run begins with nobody missing."""
    four = [read_card(tmp_path / f"{name}.card") for name in NAMES]
    four.append(read_card(write_card(tmp_path, "west", "127.0.0.1:7310").card))
    links = [("north", "south"), ("south", "east"), ("north", "east"), ("west", "north"), ("west", "south")]
    first = msgspec.structs.replace(manifest_of(four, dropout="exclude"), links=links)
    cost = tacit.LeastSquares(np.eye(2), np.ones(2))
    second_key = read_card(write_next_card(tmp_path / "north.key").card)
    rotated = rekeyed(first, second_key)
    alone = without(rotated, members=["west"])
    later = rekeyed(alone, read_card(write_next_card(tmp_path / "south.key").card))
    sentences = [
        [line for line in statements_of(each, "north", cost).lines if line.startswith("This was epoch")]
        for each in (first, rotated, alone, later)
    ]
    assert sentences[0] == []
    assert sentences[1] == [
        "This was epoch 1: nobody has left the run since it began, so that nothing can be told by subtraction."
    ]
    for epoch, (sentence,) in zip((2, 3), sentences[2:], strict=True):
        assert sentence.startswith(
            f"This was epoch {epoch}: if anything was published before it, what west brought"
        )
    assert (rotated.left, alone.left, later.left) == ([], ["west"], ["west"])
    assert msgspec.structs.replace(later, left=[]).session() != later.session()
    with pytest.raises(InputError, match="does not follow"):
        refuse_unrelated(rotated, msgspec.structs.replace(alone, left=[]))
    assert rekeyed(alone, read_card(tmp_path / "south.2.card"), run=2).left == []
