"""`tacit fit` on records that stay in files: Parquet, Feather, folders of them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from tacit.learning import PrivateLogisticRegression

SIZES = {"north": 90, "south": 50, "west": 60}
COLUMNS = ["age", "dose", "length"]
MODEL = ["--target", "relapse", "--model", "logistic"]


@pytest.fixture(scope="module")
def tables():
    rng, parts = np.random.default_rng(3), {}
    for name, size in SIZES.items():
        X = rng.standard_normal((size, 3)) * [1.0, 20.0, 0.01] + [0.0, 100.0, 1.0]
        y = (rng.random(size) < 1 / (1 + np.exp((X - [0.0, 100.0, 1.0]) @ [-0.7, 0.02, -30.0]))).astype(int)
        parts[name] = pd.DataFrame(X, columns=COLUMNS).assign(relapse=y)
    return parts


@pytest.fixture
def fit(run, tables, tmp_path):
    """Return a function that runs `tacit fit` in a folder with the three parties' files."""
    for name, table in tables.items():
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / f"{name}.parquet")
    return lambda *words: run("fit", *words, *MODEL)


def test_files_and_folders_give_the_coefficients_of_their_records(fit, tables, tmp_path):
    folder = tmp_path / "south"
    folder.mkdir()
    for number, start in enumerate(range(0, 50, 20)):
        part = tables["south"].iloc[start : start + 20]
        feather.write_feather(pa.Table.from_pandas(part, preserve_index=False), folder / f"part-{number}.feather")
    code, out, err = fit("north.parquet", "south", "west.parquet", "--json")
    assert code == 0, err
    coefficients = [row["coef"] for row in json.loads(out)["coefficients"]]
    parties = {name: (table[COLUMNS], table["relapse"]) for name, table in tables.items()}
    loaded = PrivateLogisticRegression(C=np.inf).fit_parties(parties)
    np.testing.assert_allclose(coefficients, [*loaded.coef_[0], loaded.intercept_[0]], rtol=1e-9)


def test_a_file_that_is_not_there_is_named(fit):
    code, _, err = fit("north.parquet", "south.parquet", "nowhere.parquet")
    assert (code, err.strip()) == (2, "tacit: nowhere.parquet: there is no such file or folder.")


def test_a_column_of_words_is_named_without_its_words(fit, tables, tmp_path):
    pq.write_table(pa.Table.from_pandas(tables["west"].assign(length="secretword")), tmp_path / "west.parquet")
    code, out, err = fit("north.parquet", "south.parquet", "west.parquet")
    assert code == 2
    assert "column 'length': holds" in err
    assert "secretword" not in err + out


def test_a_party_without_records_is_named(fit, tables, tmp_path):
    pq.write_table(pa.Table.from_pandas(tables["west"].iloc[:0]), tmp_path / "west.parquet")
    code, _, err = fit("north.parquet", "south.parquet", "west.parquet")
    assert (code, err.strip()) == (2, "tacit: party west has no records; leave it out.")


def test_databases_are_parties_too(fit, tables, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "south.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (age DOUBLE, dose DOUBLE, length DOUBLE, relapse INTEGER)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", tables["south"].to_numpy().tolist())
    plain = fit("north.parquet", "west.parquet", "duckdb:south.duckdb::visits", "--json")
    query = "duckdb:south.duckdb::SELECT relapse::int AS relapse, length, dose, age FROM visits"
    other = fit("north.parquet", "west.parquet", query, "--json")
    assert plain[0] == other[0] == 0, plain[2] + other[2]
    coefficients = [[row["coef"] for row in json.loads(out)["coefficients"]] for _, out, _ in (plain, other)]
    parties = {name: (tables[name][COLUMNS], tables[name]["relapse"]) for name in ("north", "west", "south")}
    loaded = PrivateLogisticRegression(C=np.inf).fit_parties(parties)
    for each in coefficients:
        np.testing.assert_allclose(each, [*loaded.coef_[0], loaded.intercept_[0]], rtol=1e-9)
    code, out, err = fit("north.parquet", "west.parquet", "duckdb:south.duckdb::visit")
    assert (code, out) == (2, "")
    assert err.startswith("tacit: table visit of south.duckdb: there is no such table. Did you mean 'visits'?")
    code, _, err = fit("duckdb:south.duckdb::visits", "duckdb:south.duckdb::visits", "west.parquet")
    assert (code, err.strip()) == (
        2, "tacit: two parties would be called south, after their databases: each is one party.",
    )  # fmt: skip
