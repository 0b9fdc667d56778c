"""What a manifest guarantees, and what going on without somebody costs: as data, from Python."""

import socket

import msgspec
import pytest

from tacit.errors import InputError
from tacit.federation import Fitting, Hiding, Member, Plan, check, draw_up, leave_out
from tacit.federation.guarantees import certified, coverage_of
from tacit.runtimes.peers.local import free_ports

GOSSIP = {"algorithm": "nids", "settings": {"step_size": 0.01}}


def moved(manifest, ports):
    """Return the manifest with other ports."""
    members = {
        name: Member(f"127.0.0.1:{port}", member.certificate)
        for (name, member), port in zip(manifest.members.items(), ports, strict=True)
    }
    return msgspec.structs.replace(manifest, members=members)


def test_a_good_manifest_has_a_certificate_and_no_problems(cards):
    result = check(draw_up(cards, Plan(unknowns=2, hiding=Hiding(any=2))))
    assert (result.is_exposed, result.problems, result.reached) == (False, [], {})
    assert result.certificate.is_private
    assert result.telling is None, "the manifest does not say how many records there are"
    assert result.to_dict()["private"]


def test_more_colluders_than_a_network_bears_are_a_problem(cards):
    manifest = draw_up(cards, Plan(unknowns=2, links=2))
    result = check(manifest, any=2)
    assert result.is_exposed
    assert result.problems == [
        "A coalition would learn something exactly: make a manifest with more links, or against fewer members."
    ]


def test_without_masks_there_is_nothing_to_certify(cards):
    result = check(draw_up(cards, Plan(unknowns=2, hiding=Hiding(level="none"), **GOSSIP)))
    assert (result.certificate, result.is_exposed) == (None, False)
    assert result.problems[0].startswith("NOT PRIVATE: nothing was hidden")
    assert not result.to_dict()["private"]


def test_neighbours_are_tried_and_those_who_are_silent_are_named(cards):
    manifest = draw_up(cards, Plan(unknowns=2))
    with socket.create_server(("127.0.0.1", 0)) as there:
        ports = [*free_ports(3), there.getsockname()[1]]
        result = check(moved(manifest, ports), me="east")
    assert result.reached == {"north": False, "south": False, "west": True}
    assert [sentence.split(" ")[0] for sentence in result.problems] == ["north", "south"]
    with pytest.raises(InputError, match="'moon' is no member"):
        check(manifest, me="moon")


def test_what_the_answer_tells_is_counted_once_and_is_in_the_certificate(cards):
    plan = Plan(unknowns=3, fitting=Fitting(cost="logistic", l2=1.0, records=1))
    result = check(draw_up(cards, plan))
    assert result.telling.stamps, "one record of everybody is told"
    assert tuple(result.telling.stamps) == result.certificate.stamps
    assert result.is_exposed
    assert result.problems == [str(stamp) for stamp in result.telling.stamps if stamp.voids]


def test_what_masks_hide_of_a_model_is_known_before_anybody_reads_a_file(cards):
    of_sums = draw_up(cards, Plan(unknowns=2, fitting=Fitting(cost="huber")))
    assert coverage_of(of_sums).keeps_a_secret
    assert coverage_of(draw_up(cards, Plan(unknowns=2))) is None, "everybody chooses a cost of its own"
    assert certified(of_sums).coverage == coverage_of(of_sums)


@pytest.mark.parametrize("level", ["sums", "affine", "none"])
def test_leaving_says_what_it_costs_and_whom_it_exposes(cards, level):
    hiding = Hiding(level=level, sigma=9.0 if level == "affine" else None)
    gossip = {} if level == "sums" else GOSSIP
    step = leave_out(
        draw_up(cards, Plan(unknowns=2, hiding=hiding, dropout="exclude", **gossip)), members=["south", "south"]
    )
    assert (step.members, step.after.epoch, step.warnings) == (("south",), 1, [])
    assert step.headline == "Without south: 3 of 4 members stay, and 3 of 6 links."
    assert ("Nothing is hidden" in step.costs[0]) == (level == "none")
    assert ("effective costs" in step.costs[0]) == (level == "affine")
    assert step.to_dict()["session"] == step.after.session()


def test_those_who_stay_are_warned_where_they_would_not_be_private(cards):
    manifest = draw_up(cards, Plan(unknowns=2, hiding=Hiding(any=2), dropout="exclude"))
    three = leave_out(manifest, members=["south"])
    assert three.warnings == ["2 members may collude, and 3 would stay: fewer than two of them are honest then."]
    two = leave_out(three.after, members=["west"])
    assert two.warnings == ["two members would stay, and each learns the other's part from the sum."]
    ring = draw_up(cards, Plan(unknowns=2, links=2))
    path = leave_out(ring, links=[ring.links[0]])
    assert path.warnings[0].startswith("some 1 of those who stay can cut the others apart")


def test_a_link_alone_costs_nothing_under_gaussian_masks(cards):
    manifest = draw_up(cards, Plan(unknowns=2, hiding=Hiding(level="affine", sigma=9.0), **GOSSIP))
    step = leave_out(manifest, links=[("east", "north")])
    assert step.costs[0].startswith("What the link costs: nothing, once anything was published")
    assert step.headline == "Without the link of east and north: 4 of 4 members stay, and 5 of 6 links."
