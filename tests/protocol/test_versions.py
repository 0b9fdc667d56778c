"""Versions: who can talk to whom, what a greeting of another tacit is worth, and what a run is pinned to."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

from tacit.errors import FileError, InputError, ProtocolError
from tacit.federation import Card, Manifest, draw_up, join
from tacit.federation.drawing_up import Plan
from tacit.protocol import Channel, Dialogue, Frame, Kind, Phase
from tacit.protocol.versions import EDITIONS, PROTOCOL, SOFTWARE, SPOKEN, Edition, common
from tacit.runtimes.peers.identity import generate

ROOT = Path(__file__).parents[2]


def channel(me="north", neighbour="south", **more):
    return Channel(me=me, neighbour=neighbour, session="s", parts={"title": "aa"}, limit=64, **more)


def greeting(**changes):
    """What south says to north, with some fields changed, added, or (None) left out."""
    fields = msgspec.json.decode(channel("south", "north").hello().body) | changes
    body = {name: value for name, value in fields.items() if value is not None}
    return Frame(Kind.HELLO, 0, 0, msgspec.json.encode(body)).encode()


def test_the_version_in_greetings_is_that_of_the_package():
    assert version("tacit") == SOFTWARE
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == SOFTWARE


def test_releases_are_in_order_and_the_last_one_is_this_one():
    numbers = [tuple(map(int, release.software.split("."))) for release in EDITIONS]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] <= tuple(map(int, SOFTWARE.split(".")))
    assert (EDITIONS[-1].protocols, max(EDITIONS[-1].protocols)) == (SPOKEN, PROTOCOL)


def test_releases_without_a_common_protocol_cannot_talk():
    assert common(Edition("0.1.0", (1,)), Edition("0.9.0", (3, 4))) is None


def test_a_greeting_carries_both_versions():
    said = msgspec.json.decode(channel().hello().body)
    assert (said["protocol"], said["software"]) == (PROTOCOL, SOFTWARE)


def test_fields_that_a_later_tacit_has_added_are_ignored():
    north = Dialogue(channel())
    north.feed(greeting(software="9.1.0", compression=["zstd"], shoe_size=44))
    assert north.phase is Phase.OPEN


@pytest.mark.parametrize(
    ("pinned", "theirs", "software", "sentence"),
    [
        (3, 2, "0.4.1", "south speaks protocol 2, this run is pinned to 3: ask south to upgrade tacit (it has 0.4.1)."),
        (1, 2, "7.0.0", "south speaks protocol 2, this run is pinned to 1: ask south for a tacit that speaks 1 (it has 7.0.0)."),
        (1, 2, "\x1b[2Kliar", "south speaks protocol 2, this run is pinned to 1: ask south for a tacit that speaks 1 (it has an unknown version)."),
        (1, 0, "9" * 400, "south speaks protocol 0, this run is pinned to 1: ask south to upgrade tacit (it has an unknown version)."),
    ],
)  # fmt: skip
def test_another_protocol_is_refused_by_name_and_a_hostile_version_is_not_printed(
    pinned, theirs, software, sentence
):
    north = Dialogue(channel(protocol=pinned))
    with pytest.raises(ProtocolError) as refusal:
        north.feed(greeting(protocol=theirs, software=software))
    assert str(refusal.value) == sentence
    assert north.phase is Phase.NEW


def test_a_later_protocol_is_named_even_where_its_greeting_means_something_else():
    body = msgspec.json.encode({"protocol": 7, "software": "3.0.0", "session": {"by": "blake3"}, "wanted": "all"})
    with pytest.raises(ProtocolError, match="south speaks protocol 7"):
        Dialogue(channel()).feed(Frame(Kind.HELLO, 0, 0, body).encode())


def test_a_tacit_from_before_versions_is_asked_to_upgrade():
    with pytest.raises(ProtocolError, match="ask south to upgrade tacit \\(it has an unknown version\\)"):
        Dialogue(channel()).feed(greeting(protocol=None, software=None))


@pytest.mark.parametrize("protocol", ["1", 1.5, [1], {"a": 1}, True])
def test_a_version_that_is_no_number_is_a_violation(protocol):
    with pytest.raises(ProtocolError, match="cannot be read"):
        Dialogue(channel()).feed(greeting(protocol=protocol))


def test_both_sides_refuse_and_name_each_other():
    north, south = channel("north", "south", protocol=3), channel("south", "north", protocol=PROTOCOL)
    north.speaks = 3  # a made-up newer tacit
    for one, other, sentence in (
        (north, south, f"south speaks protocol {PROTOCOL}, this run is pinned to 3"),
        (south, north, f"north speaks protocol 3, this run is pinned to {PROTOCOL}"),
    ):
        with pytest.raises(ProtocolError, match=sentence):
            Dialogue(one).feed(other.hello().encode())


def test_a_tacit_that_cannot_take_part_greets_with_what_it_speaks():
    assert msgspec.json.decode(channel(protocol=PROTOCOL + 1).hello().body)["protocol"] == PROTOCOL


# manifests --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn_up():
    cards = [Card(name, "127.0.0.1:7601", generate(name)[1].decode()) for name in ("east", "north", "south")]
    return draw_up(cards, Plan(unknowns=2))


def test_a_new_run_is_pinned_to_the_current_protocol(drawn_up):
    assert drawn_up.protocol == PROTOCOL
    assert f"protocol = {PROTOCOL}\n" in drawn_up.to_toml().decode()


def test_the_protocol_is_part_of_what_all_agree_on(drawn_up):
    later = msgspec.structs.replace(drawn_up, protocol=PROTOCOL + 1)
    assert later.session() != drawn_up.session()
    assert [k for k, v in later.parts().items() if drawn_up.parts()[k] != v] == ["protocol"]


def test_a_file_that_does_not_say_is_of_the_first_protocol(drawn_up, tmp_path):
    text = drawn_up.to_toml().decode().replace(f"protocol = {PROTOCOL}\n", "")
    (tmp_path / "f.toml").write_text(text)
    assert Manifest.read(tmp_path / "f.toml").protocol == 1


def test_a_file_of_a_later_protocol_says_so_before_its_fields_are_found_strange(drawn_up, tmp_path):
    text = drawn_up.to_toml().decode().replace(f"protocol = {PROTOCOL}\n", 'protocol = 9\nquorum = "two thirds"\n')
    (tmp_path / "f.toml").write_text(text)
    with pytest.raises(
        FileError, match=f"pinned to protocol 9, and this tacit \\({SOFTWARE}\\) speaks 1: upgrade it"
    ):
        Manifest.read(tmp_path / "f.toml")


def test_nobody_joins_a_run_whose_protocol_it_does_not_speak(drawn_up):
    later = msgspec.structs.replace(drawn_up, protocol=PROTOCOL + 1)
    with pytest.raises(InputError, match=f"pinned to protocol {PROTOCOL + 1}, and this tacit"):
        join(later, None, me="north", key="north.key")
