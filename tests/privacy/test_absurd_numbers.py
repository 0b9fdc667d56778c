"""Numbers that no unit explains: refused where they are written, or said."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import CostError, MaskError, ProtocolError
from tacit.federation.sections import Masks
from tacit.protocol import payloads

PROBLEM = [tacit.Quadratic.distance([float(k)]) for k in range(4)]


@pytest.mark.parametrize("sigma", [1e13, 1e15, 1e30, 1e99])
@pytest.mark.parametrize("kind", [tacit.AffineMasks, tacit.QuadraticMasks])
def test_a_sigma_that_rounds_the_answer_away_is_refused(sigma, kind):
    with pytest.raises(MaskError, match="is more than float64 carries"):
        kind(sigma)
    with pytest.raises(MaskError, match="is more than float64 carries"):
        Masks(level="affine", sigma=sigma).mechanism()
    with pytest.raises(MaskError):
        tacit.calibrate(nx.complete_graph(4), any=1, epsilon=1.0 / sigma**2)


def test_a_large_sigma_beside_coefficients_as_large_is_none_of_that():
    masks = tacit.AffineMasks(1e15, bound=1e15)
    costs = [tacit.Quadratic([[2.0]], [-2e12 * k]) for k in range(4)]
    answer = tacit.solve(tacit.Problem(nx.complete_graph(4), costs), privacy=masks)
    assert answer.x[0] == pytest.approx(1.5e12, rel=1e-6)


def test_a_record_beyond_all_units_is_refused_by_its_owner():
    with pytest.raises(CostError, match="b has 1 value\\(s\\) beyond 1e\\+100, the first at \\[1\\]"):
        tacit.LeastSquares([[1.0], [2.0]], [0.0, 1e300])


def test_an_answer_beyond_all_units_is_not_called_converged():
    costs = [*PROBLEM[:3], tacit.Quadratic.distance([1e90])]
    for name in ("auto", "direct", "newton", "nids"):
        answer = tacit.solve(tacit.Problem(nx.complete_graph(4), costs), algorithm=name)
        assert answer.status == "diverged", name
        assert "no unit explains" in answer.sentence or "without bound" in answer.sentence


def test_a_peer_that_sends_a_number_beyond_all_units_is_refused():
    assert payloads.decode(payloads.encode(np.array([1e99]))) == 1e99
    for number in (1e300, -1e300, 2e100):
        numbers = np.array([1.0, number])
        with pytest.raises(ProtocolError, match="a peer sent a number beyond 1e\\+100"):
            payloads.decode(b"f" + numbers.tobytes())
        with pytest.raises(ProtocolError, match="the numbers of this member are beyond 1e\\+100"):
            payloads.encode(numbers)
