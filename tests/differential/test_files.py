"""Promises in problem files: what they say, and what a command may not take back."""

import numpy as np
import pytest

import tacit
from tacit.solving import load_problem, overridden

FILE = """
[graph]
generator = "complete_graph"
arguments = {{ n = 4 }}

[costs]
family = "least-squares"
files = "clinic-*.csv"

[privacy]
level = "{level}"
{sigma}

[privacy.answer]
epsilon = {epsilon}
delta = 1e-6
clip = 2.0
labels = 3.0
{more}
"""


@pytest.fixture
def write(tmp_path):
    rng = np.random.default_rng(5)
    for k in range(4):
        A = rng.normal(size=(40, 3))
        table = np.column_stack([A, A.sum(axis=1)])
        np.savetxt(tmp_path / f"clinic-{k}.csv", table, delimiter=",", header="a,b,c,y", comments="")

    def written(level="sums", sigma="", epsilon=1.0, more=""):
        path = tmp_path / "problem.toml"
        path.write_text(FILE.format(level=level, sigma=sigma, epsilon=epsilon, more=more))
        return path

    return written


@pytest.mark.parametrize(
    ("level", "sigma"), [("sums", ""), ("quadratic", "sigma = 1e4"), ("affine", "sigma = 1e4")]
)
def test_a_file_promises_what_python_does(write, level, sigma):
    task = load_problem(write(level, sigma))
    assert task.privacy.answer == tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=2.0, labels=3.0)
    assert task.solve().guarantee.unit == ("label" if level == "affine" else "record")


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"level": "none"}, "needs masks"),
        ({"more": "chips = 1.0"}, "chips"),
        ({"more": "any = 3"}, "honest"),
        ({"more": "records = 2000000"}, "1/2000000"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused(write, settings, word):
    with pytest.raises(tacit.TacitError, match=word):
        load_problem(write(**settings)).solve()


def test_other_masks_from_the_command_line_keep_the_promise(write):
    affine = load_problem(write("affine", "sigma = 1e4"))
    assert overridden(affine, sums=True).privacy.answer == affine.privacy.answer
    assert overridden(affine, sigma=1e3).privacy.answer == affine.privacy.answer
