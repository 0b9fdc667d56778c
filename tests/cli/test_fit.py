"""`tacit fit` as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

SIZES = {"north": 60, "south": 1, "east": 45, "west": 30}
PLANTED = "31337.25"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write one file per hospital, and return what somebody with all of them has."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    pooled = []
    for name, size in SIZES.items():
        age, dose = rng.normal(60, 10, size).round(1), rng.normal(2, 1, size).round(2)
        chance = 1 / (1 + np.exp(-(0.08 * (age - 60) - 0.7 * (dose - 2))))
        relapse, days = (rng.random(size) < chance).astype(int), rng.poisson(np.exp(0.02 * age - 0.1 * dose))
        table = np.column_stack([age, dose, relapse, days])
        lines = [",".join(f"{value:g}" for value in row) for row in table]
        Path(f"{name}.csv").write_text("\n".join(["age,dose,relapse,days", *lines]) + "\n", encoding="utf-8")
        pooled.append(table)
    return np.vstack(pooled)


CSV = [f"{name}.csv" for name in SIZES]


def test_the_table_is_that_of_statsmodels(run, files):
    code, out, err = run("fit", *CSV, "--target", "relapse", "--model", "logistic", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    X = np.column_stack([files[:, [0, 1, 3]], np.ones(len(files))])
    reference = sm.Logit(files[:, 2], X).fit(disp=0, tol=1e-12)
    rows = found["coefficients"]
    assert [row["name"] for row in rows] == ["age", "dose", "days", "(intercept)"]
    np.testing.assert_allclose([row["coef"] for row in rows], reference.params, rtol=1e-6)
    np.testing.assert_allclose([row["std_err"] for row in rows], reference.bse, rtol=1e-5)
    np.testing.assert_allclose([row["p_value"] for row in rows], reference.pvalues, rtol=1e-5)
    assert found["observations"] == 136
    assert found["parties"] == 4
    assert found["warnings"] == []
    assert any("learns the sums over all other agents, and nothing else" in said for said in found["privacy"])


@pytest.mark.parametrize("model", ["linear", "ridge", "lasso", "elastic-net", "poisson", "huber"])
def test_every_model_prints(model, run, files):
    code, out, err = run("fit", *CSV, "--target", "days", "--model", model)
    assert (code, err) == (0, "")
    assert "(intercept)" in out
    assert "status:       converged." in out
    assert "told:         number of records, and sums of all columns" in out
    assert "privacy:      secret sums" in out
    assert ("std err" in out) == (model in ("linear", "ridge", "poisson"))


def test_words_as_classes(run, files):
    for name in SIZES:
        text = Path(f"{name}.csv").read_text()
        words = ["age,dose,relapse,days"] + [
            ",".join([*line.split(",")[:2], "yes" if line.split(",")[2] == "1" else "no", line.split(",")[3]])
            for line in text.splitlines()[1:]
        ]
        Path(f"{name}.csv").write_text("\n".join(words))
    code, out, _ = run("fit", *CSV, "--target", "relapse", "--model", "logistic", "--C", "1")
    assert code == 0
    assert "log-odds of class yes" in out
    code, _, err = run("fit", *CSV, "--target", "relapse", "--model", "linear")
    assert code == 2
    assert "party north: line 2, column 'relapse': is not a number" in err


def test_each_party_as_a_process(run, files):
    _, stacked, _ = run("fit", *CSV, "--target", "days", "--json")
    code, peers, _ = run("fit", *CSV, "--target", "days", "--runtime", "peers", "--json")
    assert code == 0
    assert json.loads(peers)["coefficients"] == json.loads(stacked)["coefficients"]


def test_a_pattern_stands_for_all_files(run, files):
    code, out, _ = run("fit", "*.csv", "--target", "days")
    assert code == 0
    assert "Parties: 4" in out
    here = Path.cwd()
    assert "Parties: 2" in run("fit", str(here / "*th.csv"), "--target", "days")[1]


def test_without_masks_it_says_so(run, files):
    _, out, _ = run("fit", *CSV, "--target", "days", "--no-masks")
    assert "privacy:      NOT PRIVATE: nothing was hidden" in out


def test_two_parties_are_warned(run, files):
    code, out, _ = run("fit", "north.csv", "east.csv", "--target", "days")
    assert code == 0
    assert out.count("NOT PRIVATE: of two agents") == 1
    code, _, err = run("fit", "north.csv", "--target", "days")
    assert code == 2
    assert "nobody to hide anything from" in err


def test_a_ledger_is_asked(run, files):
    assert run("fit", *CSV, "--target", "days", "--ledger", "book.ledger")[0] == 0
    code, _, err = run("fit", *CSV[:1], *CSV[2:], "--target", "days", "--ledger", "book.ledger")
    assert code == 1
    assert "exposed: agent south" in err


def test_a_record_less_is_refused_until_it_is_accepted_by_name(run, files):
    words = ("fit", *CSV, "--target", "days", "--ledger", "book.ledger")
    assert run(*words)[0] == 0
    lines = Path("east.csv").read_text().splitlines()
    Path("east.csv").write_text("\n".join(lines[:-1]) + "\n")
    code, _, err = run(*words)
    assert code == 1
    assert "exposed: what changed at agent east between run" in err
    assert run(*words, "--accept-change", "west")[0] == 1
    code, out, _ = run(*words, "--accept-change", "east")
    assert code == 0
    assert "NOT PRIVATE: exposed: what changed at agent east" in out


def _change(name, line, column, text):
    path = Path(f"{name}.csv")
    lines = [row.split(",") for row in path.read_text().splitlines()]
    lines[line - 1][column] = text
    path.write_text("\n".join(",".join(row) for row in lines))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (("east", 3, 1, ""), "party east: line 3, column 'dose': is missing"),
        (("east", 3, 1, "NaN"), "party east: line 3, column 'dose': is missing"),
        (("west", 2, 0, "about " + PLANTED), "party west: line 2, column 'age': is not a number"),
        (("west", 2, 3, ""), "party west: line 2, column 'days': is missing"),
        (("west", 1, 1, "drug"), "party west: has no column 'dose'; it has age, drug"),
        (("west", 1, 3, "nights"), "party west has no column 'days'"),
        (("west", 1, 1, "age"), "party west: has two columns 'age'"),
        (("west", 4, 1, f"1,{PLANTED}"), "party west, line 4: 5 fields, where the header has 4"),
    ],
)
def test_bad_files(damage, expected, run, files):
    _change("north", 2, 0, PLANTED)
    _change(*damage)
    code, out, err = run("fit", *CSV, "--target", "days")
    assert code == 2
    assert out == ""
    assert expected in err
    assert "31337" not in err
    assert "Traceback" not in err


def test_other_bad_input(run, files):
    for name in SIZES:
        text = Path(f"{name}.csv").read_text().splitlines()
        Path(f"{name}.csv").write_text("\n".join([text[0] + ",unit", *(row + "," + PLANTED for row in text[1:])]))
    code, out, _ = run("fit", *CSV, "--target", "days")
    assert code == 0
    assert "warning:      column 'unit' is the same number in all records of every party" in out
    assert "31337" not in out
    assert "given twice" in run("fit", "north.csv", "north.csv", "--target", "days")[2]
    assert "cannot be read" in run("fit", "north.csv", "moon.csv", "--target", "days")[2]
    assert "matches no file" in run("fit", "moon/*.csv", "--target", "days")[2]
    assert "no model is called 'tree'" in run("fit", *CSV, "--target", "days", "--model", "tree")[2]
    assert (
        "C means nothing to a ridge model"
        in run("fit", *CSV, "--target", "days", "--model", "ridge", "--C", "1")[2]
    )


def test_the_rest_of_the_commands_do_not_load_scikit_learn():
    code = "import sys, tacit, tacit.cli; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_as_hospitals_have_them(run, files):
    """Semicolons, decimal commas, Latin-1, an identifier, factors, dates and gaps: the same fit as without them."""
    sexes = {}
    for k, name in enumerate(SIZES):
        lines = Path(f"{name}.csv").read_text().splitlines()[1:]
        rows = [
            [*line.split(","), ["f", "m"][(j + k) % 2], f"{1 + j % 28:02}.03.2024"] for j, line in enumerate(lines)
        ]
        sexes[name] = [row[4] for row in rows]
        gaps = [["99", "", "0", "3", "f", "01.03.2024"]] * (k + 1)
        order = (5, 4, 1, 0, 3) if k % 2 else (0, 1, 3, 4, 5)
        head = ["age", "dose", "relapse", "days", "sex", "seen"]
        text = [";".join(["", "id", *(head[j] for j in order)])]
        for j, row in enumerate([*rows, *gaps]):
            text.append(
                ";".join([str(j), f"p{j}", *(row[m].replace(".", ",") if m < 4 else row[m] for m in order)])
            )
        Path(f"{name}.csv").write_bytes("\r\n".join(text).encode("latin-1"))
    words = ("fit", *CSV, "--target", "days", "--json", "--drop", "id")
    code, _, err = run(*words)
    assert (code, "column 'dose': is missing" in err) == (2, True)
    code, out, err = run(*words, "--missing", "drop")
    assert code == 0, err
    assert "semicolons between columns, decimal commas" in err
    assert "seen: dates of the form %d.%m.%Y become days since 2000-01-01" in err
    told = json.loads(out)
    assert (told["observations"], told["left out"]) == (136, 10)
    assert "number of records left out because of gaps" in [entry["what"] for entry in told["told"]]
    sex = np.concatenate([np.array(sexes[name]) == "m" for name in SIZES])
    seen = np.concatenate([np.arange(size) % 28 for size in SIZES.values()])
    X = np.column_stack([files[:, :2], sex, seen + 8826.0, np.ones(len(files))])
    reference = sm.OLS(files[:, 3], X).fit()
    rows = {row["name"]: row for row in told["coefficients"]}
    assert list(rows) == ["age", "dose", "sex[m]", "seen", "(intercept)"]
    np.testing.assert_allclose([row["coef"] for row in rows.values()], reference.params, rtol=1e-6)
    np.testing.assert_allclose([row["std_err"] for row in rows.values()], reference.bse, rtol=1e-6)
    code, out, _ = run("fit", *CSV, "--target", "days", "--json", "--columns", "age,sex", "--missing", "drop")
    assert [row["name"] for row in json.loads(out)["coefficients"]] == ["age", "sex[m]", "(intercept)"]


def test_json_says_as_data_whether_a_fit_is_private(run, files):
    for parties, private in ((CSV, None), (CSV[:2], False)):
        _, out, _ = run("fit", *parties, "--target", "days", "--columns", "age", "--json")
        found = json.loads(out)
        voids = [stamp for stamp in found["stamps"] if stamp["voids"]]
        assert found["private"] == (not voids)
        assert private is None or found["private"] == private
        assert found["certificate"] is None or found["certificate"]["private"] == found["private"]
        assert "hidden_difference" in found
        assert not any("nothing but sums" in line for line in found["privacy"])
