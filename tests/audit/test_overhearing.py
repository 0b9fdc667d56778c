"""What a coalition believes, without the verdicts: exact without masks, off by the masks with them."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import overhear

NUMBERS = {"north": 12.5, "south": 31.0, "east": 18.0, "west": 9.5, "harbour": 44.0}


@pytest.fixture
def rows():
    graph = nx.relabel_nodes(nx.complete_graph(len(NUMBERS)), dict(enumerate(NUMBERS)))
    costs = [tacit.Quadratic(np.eye(1), [-number]) for number in NUMBERS.values()]
    return overhear(tacit.Problem(graph, costs), ["east"], privacy=tacit.AffineMasks(sigma=1e4, seed=3))


def test_everybody_else_is_in_a_row(rows):
    assert [row.agent for row in rows] == [name for name in NUMBERS if name != "east"]
    assert [row.truth for row in rows] == [[-NUMBERS[row.agent]] for row in rows]


def test_without_masks_all_are_read_and_with_masks_nobody(rows):
    for row in rows:
        assert row.without_masks.value == pytest.approx(row.truth, abs=1e-9)
        assert row.without_masks.deviation < 1e-9
        assert row.with_masks.deviation == pytest.approx(row.predicted)
        assert row.predicted > 1e4


def test_the_picture_says_what_the_rows_say(rows):
    figures = pytest.importorskip("tacit.report.figures", reason="pip install 'tacit[report]'")
    figure = figures.believed(rows, who="east")
    assert figure.layout.title.text == "Without masks east reads 4 of 4 others; with masks none"
    agents, truth, without, masked = figure.data[0].cells.values
    assert list(truth) == ["−12.5", "−31", "−9.5", "−44"]
    assert all(cell.endswith(", exactly") for cell in without)
    assert all("give or take" in cell for cell in masked)
    assert len(agents) == 4
