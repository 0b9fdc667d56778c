"""How good answers are at ε = 1, on records that scikit-learn carries, on made-up ones, and on a9a where it is given.

`TACIT_A9A=folder make test-large` measures on the files a9a and a9a.t of that folder, in the format of svmlight.
"""

import os

import numpy as np
import pytest
from benchmarks.private_answers import breast_cancer, census

from tacit.learning import LabelledRecords, like_a9a, load_a9a

pytestmark = pytest.mark.large


def test_breast_cancer_over_twenty_agents():
    reached = breast_cancer()
    accuracy, area = reached["tacit"]
    assert accuracy >= 93.5
    assert area >= 98.0
    assert np.all(np.subtract(reached["tacit"], reached["local noise"]) > 1.0)


def test_made_up_records_of_the_shape_of_a9a_over_fifty_agents():
    made = like_a9a(40_000, seed=4)
    first, last = (LabelledRecords(made.X[k], made.y[k]) for k in (slice(32_561), slice(32_561, None)))
    reached = census(first, last)
    assert np.all(np.subtract(reached["no noise"], reached["tacit"]) < 1.0)
    assert np.all(np.abs(np.subtract(reached["curator"], reached["tacit"])) < 0.3)
    assert np.all(np.subtract(reached["tacit"], reached["local noise"]) > 1.0)


@pytest.mark.skipif("TACIT_A9A" not in os.environ, reason="TACIT_A9A names no folder with the files a9a and a9a.t")
def test_a9a_over_fifty_agents():
    reached = census(*load_a9a(os.environ["TACIT_A9A"]))
    accuracy, area = reached["tacit"]
    assert accuracy >= 84.7
    assert area >= 89.8
    assert np.all(np.subtract(reached["curator"], reached["tacit"]) < 0.4)
