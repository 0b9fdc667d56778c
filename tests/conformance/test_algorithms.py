"""Every algorithm through the public kit."""

import dataclasses

import msgspec
import pytest

from tacit.algorithms import ALGORITHMS, Landscape
from tacit.testing import check_algorithm, small_problem

UNKNOWNS = {"bracket": 1}  # it looks at every unknown by itself


def tuned(name):
    problem, kind = small_problem(unknowns=UNKNOWNS.get(name, 3)), ALGORITHMS[name]
    return kind.tuned(Landscape(problem.stack, problem.network, kind.weights))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_conforms(name):
    algorithm = tuned(name)
    check_algorithm(algorithm, exact=algorithm.exact, weights=algorithm.weights, unknowns=UNKNOWNS.get(name, 3))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_settings_survive_a_round_trip_through_the_wire(name):
    """Peers compare settings at their handshake: they must come back equal, and hash alike."""
    algorithm = tuned(name)
    sent = msgspec.json.encode(dataclasses.asdict(algorithm))
    received = msgspec.convert(msgspec.json.decode(sent), type(algorithm))
    assert received == algorithm
    assert hash(received) == hash(algorithm)


def test_the_kit_catches_what_is_wrong():
    """A kit that cannot fail proves nothing: a biased method, one with hidden state."""
    dgd = tuned("dgd")
    with pytest.raises(AssertionError, match="from the optimum|fixed point"):
        check_algorithm(dgd, exact=True)

    class Hidden(type(dgd)):
        rounds = 0

        def step(self, state, peers, cost):
            type(self).rounds += 1
            following = super().step(state, peers, cost)
            return following._replace(x=following.x + 1e-3 * type(self).rounds)

    with pytest.raises(AssertionError):
        check_algorithm(Hidden(dgd.step_size), exact=False)
