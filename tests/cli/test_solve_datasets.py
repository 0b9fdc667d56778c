"""`tacit solve` on costs whose records stay in files or databases: the answer of the same records in memory."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

NAMES = ("north", "south", "west")
LOGISTIC = """
[graph]
links = [["north", "south"], ["south", "west"], ["west", "north"]]

[costs]
family = "{family}"
files = {files}
target = "relapse"
intercept = true
l2 = 0.5

[privacy]
level = "sums"
"""
DICTIONARY = """
[data]
target = "relapse"
gaps = "drop"

[[data.columns]]
name = "age"
low = -9.0
high = {high}

[[data.columns]]
name = "dose"

[[data.columns]]
name = "relapse"
type = "factor"
levels = ["no", "yes"]
"""


@pytest.fixture
def tables(tmp_path):
    rng, made = np.random.default_rng(4), {}
    for name in NAMES:
        X = np.round(rng.standard_normal((80, 2)), 3)
        y = (rng.random(80) < 1 / (1 + np.exp(-X @ [1.0, -0.5]))).astype(int)
        made[name] = table = {"age": X[:, 0], "dose": X[:, 1], "relapse": y}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet", row_group_size=17)
        lines = ["age,dose,relapse", *(f"{a},{b},{c}" for a, b, c in zip(*table.values(), strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    return made


@pytest.fixture
def solved(run, tables, tmp_path):
    def solve(files, family="logistic", more=""):
        (tmp_path / "p.toml").write_text(LOGISTIC.format(files=files, family=family) + more)
        code, out, err = run("solve", "p.toml", "--json", "-q")
        return (json.loads(out)["x"] if code == 0 else code), err

    return solve


@pytest.mark.parametrize("family", ["logistic", "ridge", "poisson"])
def test_datasets_give_the_answer_of_tables(solved, family):
    outside, err = solved('["north.parquet", "south.parquet", "west.parquet"]', family)
    mixed, more = solved('["north.csv", "south.parquet", "west.csv"]', family)
    loaded, _ = solved('"*.csv"', family)
    assert (err, more) == ("", "")
    np.testing.assert_allclose(outside, loaded, rtol=1e-8)
    np.testing.assert_allclose(mixed, loaded, rtol=1e-8)


def test_a_dictionary_holds_for_datasets(solved, tables, tmp_path):
    for name, table in tables.items():
        words = np.array(["no", "yes"])[table["relapse"]].astype(object)
        dose = table["dose"].astype(object)
        if name == "south":
            words[3], dose[7] = None, None
        columns = {"dose": dose, "further": dose, "age": table["age"], "relapse": words}
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=17)
        texts = [["" if value is None else str(value) for value in column] for column in columns.values()]
        lines = [",".join(columns), *(",".join(fields) for fields in zip(*texts, strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    outside, err = solved('"*.parquet"', more=DICTIONARY.format(high=9.0))
    assert err == ""
    np.testing.assert_allclose(outside, solved('"*.csv"', more=DICTIONARY.format(high=9.0))[0], rtol=1e-8)
    code, err = solved('"*.parquet"', more=DICTIONARY.format(high=1.0))
    assert code == 2
    assert "column 'age': has values beyond the limits in the dictionary" in err
    code, err = solved('"*.parquet"', more=DICTIONARY.format(high=9.0).replace('"yes"', '"ja"'))
    assert code == 2
    assert "has labels that are no levels of the dictionary" in err


def test_what_does_not_fit_is_one_sentence(solved, tables, tmp_path):
    others = '["north.parquet", "south.parquet", "west.parquet"]'
    west = dict(tables["west"])
    for change, sentence in (
        ({"relapse": west["relapse"] + 7}, "agent west: the labels of a logistic cost must be 0 and 1"),
        ({"dose": np.where(west["age"] > 1, np.nan, west["dose"])}, "column 'dose': has values that are missing"),
        ({"dose": west["dose"].astype(str)}, "column 'dose': holds string, and not numbers"),
        ({"further": west["dose"]}, "has a column 'further', which"),
    ):
        columns = west | change
        order = [name for name in columns if name != "relapse"] + ["relapse"]
        arrays = {name: pa.array(columns[name], from_pandas=False) for name in order}
        pq.write_table(pa.table(arrays), tmp_path / "west.parquet")
        code, err = solved(others)
        assert (code, sentence in err, err.count("\n")) == (2, True, 1), err
    pq.write_table(pa.table(west), tmp_path / "west.parquet")
    code, err = solved(others, "huber")
    assert code == 2
    assert "load them" in err


def test_databases_give_the_answer_of_tables(solved, tables, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "all.duckdb")) as connection:
        for name in NAMES:
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet('{tmp_path / name}.parquet')")
    files = [f"duckdb:all.duckdb::SELECT relapse, dose, age FROM {name}" for name in NAMES]
    outside, err = solved(json.dumps(files))
    assert err == ""
    np.testing.assert_allclose(np.array(outside)[[1, 0, 2]], solved('"*.csv"')[0], rtol=1e-8)
