"""What takes a statement back is data: a reason, the agents concerned, and whether it voids the promise."""

import networkx as nx
import numpy as np

import tacit
from tacit import AffineMasks
from tacit.solving import RunRecord


def test_a_stamp_travels_through_the_record_and_its_file():
    problem = tacit.Problem(nx.path_graph(3), [tacit.Quadratic.distance([float(i)]) for i in range(3)])
    record = tacit.solve(problem, privacy=AffineMasks(10.0, seed=1)).record
    assert [stamp.reason for stamp in record.stamps] == ["seed", "one neighbour"]
    assert record.stamps[1].agents == ("0", "2")
    assert not record.private
    assert RunRecord.from_json(record.to_json()).stamps == record.stamps


def test_a_run_without_stamps_is_private():
    points = np.random.default_rng(1).normal(size=(6, 2))
    problem = tacit.Problem(nx.complete_graph(6), [tacit.Quadratic.distance(p) for p in points])
    record = tacit.solve(problem, privacy=AffineMasks(10.0)).record
    assert record.private
    assert record.stamps == []
