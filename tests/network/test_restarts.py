"""A member that is stopped and started again is nothing but that to its neighbours."""

import numpy as np
import pytest

from tacit.runtimes.peers.connections import Neighbour

GOSSIP = ["--cost", "ridge", "--level", "affine", "--sigma", "100", "--algorithm", "nids"]
GOSSIP += ["--setting", "step_size=0.002", "--l2", "1", "--unknowns", "4"]


@pytest.mark.network
def test_an_ordinary_restart_is_not_taken_for_a_later_agreement(members, until):
    rng = np.random.default_rng(6)
    tables = {name: rng.standard_normal((20, 5)) for name in ("anna", "bert", "cora")}
    made = members(tables, family="ridge", options=GOSSIP)
    made.fix_keys()
    expected = made.expected()
    logs = []
    for name in made.names:
        made.start(name, "--json")
    for name in ("anna", "cora", "bert", "anna"):
        assert until(lambda name=name: made.at_work(name) or made.running[name].poll() is not None, 120.0)
        made.kill(name)
        logs.append(made.err(name))
        made.start(name, "--json")
    answers = made.answers(seconds=300.0)
    assert np.array_equal(answers, expected.x)
    logs += [made.err(name) for name in made.names]
    assert not [log for log in logs if "takes no link" in log or "another agreement" in log or "Traceback" in log]


def test_only_refusals_in_a_row_are_counted():
    neighbour = Neighbour(name="east", host="", port=0, certificate=b"", dials=True, channel=None)
    for _ in range(2):
        neighbour.ended("closed", turned_away=True)
    assert neighbour.turned_away == 2
    neighbour.ended("Connection refused")
    assert neighbour.turned_away == 0
