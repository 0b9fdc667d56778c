"""Costs from files: what is refused, and that a refusal shows nothing of anybody's records."""

import numpy as np
import pytest

from tacit.errors import CostError, FileError
from tacit.solving import CostsSection, read_cost
from tacit.solving.cost_files import read_costs

RECORDS = "31.75,0.125,4.5\n77.25,0.5,6.25\n"


@pytest.mark.parametrize(
    "text", [RECORDS, "\n" + RECORDS, "31.75,,4.5\n" + RECORDS, "31,12,4\n" + RECORDS, "31.75,ill,4\n"]
)
@pytest.mark.parametrize("target", [None, "effect"])
def test_a_file_without_names_of_columns_is_refused_and_not_shown(tmp_path, text, target):
    file, section = tmp_path / "mine.csv", CostsSection("ridge", target=target)
    file.write_text(text)
    for read in (
        lambda: read_cost(section, "north", file, agents=3),
        lambda: read_costs(CostsSection("ridge", files=["mine.csv"], target=target), ["north"], tmp_path),
    ):
        with pytest.raises(FileError, match="the first line must name the columns; it holds numbers") as caught:
            read()
        told = str(caught.value).replace(str(tmp_path), "")
        assert told == "/mine.csv: the first line must name the columns; it holds numbers."


def test_whole_numbers_may_stand_among_names(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("age,2019,2020\n" + RECORDS)
    assert read_cost(CostsSection("ridge"), "north", file, agents=3).dim == 2


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (CostsSection("lasso"), "lasso needs l1"),
        (CostsSection("elastic-net", l2=1.0), "elastic-net needs l1"),
        (CostsSection("ridge", l2=-1.0), "l2 = -1.0 must be zero or positive"),
        (CostsSection("ridge", l1=-1.0), "l1 = -1.0 must be zero or positive"),
        (CostsSection("ridge", l2=float("nan")), "l2 = nan must be zero or positive"),
        (CostsSection("distance", intercept=True), "intercept means nothing to a distance cost"),
        (CostsSection("cubic"), "no cost family is called 'cubic'"),
    ],
)
def test_one_members_cost_is_checked_as_everybodys_is(tmp_path, section, message):
    np.savez(tmp_path / "mine.npz", A=np.ones((3, 2)), y=np.ones(3))
    with pytest.raises(CostError, match=message):
        read_cost(section, "north", tmp_path / "mine.npz", agents=3)
