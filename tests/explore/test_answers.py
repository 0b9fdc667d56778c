"""What takes a while is a public function each, can be watched, and can be stopped."""

import networkx as nx
import pytest

import tacit
from tacit.explore import answers
from tacit.explore.insight import look_at
from tacit.explore.sketch import Sketch
from tacit.explore.undertaking import NotWantedError, Undertaking

GRAPH = nx.random_regular_graph(3, 30, seed=2)


def unheard(share, step=""):
    """Take progress."""


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_worst_coalition_is_the_one_that_certify_finds(size):
    advice = answers.worst(Sketch.of(GRAPH), size, unheard)
    certificate = tacit.certify(GRAPH, any=size, sigma=10.0)
    assert set(advice.sketch.coalition) == set(certificate.coalition)
    assert advice.sentence == certificate.statement()


def test_links_that_would_help_are_those_of_augment_and_help():
    sketch = Sketch.of(nx.barbell_graph(4, 1)).clicked(4)
    advice = answers.helping_links(sketch, 1, unheard)
    assert advice.sketch.suggested == tacit.augment(nx.barbell_graph(4, 1), any=1).links
    for link in advice.sketch.suggested:
        sketch = sketch.joined(*link)
    assert look_at(sketch).good


def test_a_guess_read_off_at_sigma_leads_calibrate_back_to_that_sigma():
    sketch = Sketch.of(GRAPH, sigma=12.5, hide=4.0).clicked(3)
    guess = look_at(sketch).certificate.guess(sketch.hide)
    assert tacit.calibrate(GRAPH, {3}, guess=guess, hide=4.0) == pytest.approx(12.5, rel=1e-9)
    advice = answers.reach(sketch, hide=4.0, guess=guess, size=None, on_progress=unheard)
    assert advice.sketch.sigma == pytest.approx(12.5, rel=1e-9)


def test_what_is_stopped_ends_at_its_next_word():
    undertaking = Undertaking()
    undertaking.cancel()
    assert (
        undertaking.do(
            lambda: answers.worst(Sketch.of(nx.random_regular_graph(5, 30, seed=1)), 2, undertaking.on_share)
        )
        is None
    )
    with pytest.raises(NotWantedError):
        undertaking.on_share(0.5)
