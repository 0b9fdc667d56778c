"""A sketch is a value: every gesture returns another one."""

import networkx as nx
import pytest

from tacit import certify
from tacit.explore.insight import look_at
from tacit.explore.sketch import Sketch

BRIDGE = nx.barbell_graph(4, 1)


def test_a_click_corrupts_and_another_one_takes_it_back():
    sketch = Sketch.of(BRIDGE)
    assert sketch.clicked(4).coalition == (4,)
    assert sketch.clicked(4).clicked(4).coalition == ()


def test_what_is_said_of_a_coalition_is_what_certify_says():
    sketch = Sketch.of(BRIDGE, sigma=7.0).clicked(4).clicked(0)
    insight, certificate = look_at(sketch), certify(BRIDGE, {0, 4}, sigma=7.0)
    assert insight.sentence == certificate.statement()
    assert insight.sentence.startswith(insight.first)
    assert insight.sums == (("1", "2", "3"), ("5", "6", "7", "8"))
    assert insight.roles["1"] == "in a sum that is learnt"


def test_an_agent_between_corrupted_ones_is_exposed():
    insight = look_at(Sketch.of(nx.path_graph(5)).clicked(1).clicked(3))
    assert [name for name, role in insight.roles.items() if role == "exposed"] == ["0", "2", "4"]
    assert insight.learnt == "Learnt exactly: 0, 2, 4."


def test_links_are_added_and_removed_and_pieces_are_said():
    sketch = Sketch.of(nx.path_graph(4))
    assert look_at(sketch.joined(0, 3).clicked(1)).good
    apart = look_at(sketch.joined(1, 2))
    assert "falls into 2 pieces" in apart.sentence
    assert not apart.good


def test_agents_come_under_a_free_name_and_go_with_their_links():
    sketch = Sketch.of(nx.path_graph(4)).with_agent((0.5, 0.5))
    assert sketch.agents[-1] == 4
    assert sketch.joined(4, 0).without_agent(4) == Sketch.of(nx.path_graph(4))


def test_too_many_corrupted_agents_are_said_and_not_raised():
    insight = look_at(Sketch.of(nx.path_graph(3)).clicked(0).clicked(1))
    assert "smaller coalition" in insight.sentence
    assert insight.certificate is None


@pytest.mark.parametrize("sums", [False, True])
def test_numbers_are_those_of_the_certificate(sums):
    sketch = Sketch.of(nx.complete_graph(6), sigma=20.0, hide=3.0, sums=sums).clicked(0)
    certificate = certify(nx.complete_graph(6), {0}, sigma=sketch.width)
    values = dict(look_at(sketch).numbers)
    assert values["hidden difference"] == ("∞" if sums else f"{certificate.hidden_difference():.6g}")
    assert values["a guess at a difference of 3 is right"] == f"{100 * certificate.guess(3.0):.6g} %"
