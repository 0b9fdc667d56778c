"""Tables and queries of DuckDB, SQLite and PostgreSQL are the records that are in them, and are only read."""

import os
import pickle
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from tacit.errors import FileError, InputError, TacitError
from tacit.records import DatabaseAddress, Dataset, is_dataset, open_source
from tacit.records.digest import columns_of

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("duckdb_extension_sqlite_scanner")
pytest.importorskip("duckdb_extension_postgres_scanner")

COUNT = 5000
PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
PASSWORD = "hunter2-of-the-clinic"  # noqa: S105


def _rows(count=COUNT):
    rng = np.random.default_rng(8)
    a, b = rng.integers(-4096, 4096, count) / 1024, rng.integers(0, 9, count)  # exact in decimal digits
    return [(float(x), int(n), "ja" if n % 2 else "nein") for x, n in zip(a, b, strict=True)]


ROWS = _rows()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("databases")
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (a DOUBLE, b INTEGER, label VARCHAR, taken DATE)")
        connection.execute("CREATE VIEW recent AS SELECT * FROM visits")
        connection.executemany(
            "INSERT INTO visits SELECT ?, ?, ?, DATE '2026-01-01'", [list(row) for row in ROWS[:50]]
        )
        values = ", ".join(f"({a!r}, {b}, '{w}', DATE '2026-01-01')" for a, b, w in ROWS[50:])
        connection.execute(f"INSERT INTO visits VALUES {values}")
    with sqlite3.connect(folder / "b.sqlite") as connection:
        connection.execute("CREATE TABLE visits (a REAL, b INTEGER, label TEXT, taken TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, '2026-01-01')", ROWS)
    connection.close()
    return folder


@pytest.fixture(scope="module")
def server(postgres):
    values = ", ".join(f"({a!r}, {b}, '{w}', DATE '2026-01-01')" for a, b, w in ROWS)
    postgres.do(
        "CREATE TABLE visits (a double precision, b integer, label text, taken date); "
        f"INSERT INTO visits VALUES {values}"
    )
    return postgres


def _collected(dataset):
    parts = []
    dataset.joined(lambda batch: parts.append(batch) or 1, lambda a, b: a + b)
    return np.concatenate([part.columns for part in parts], axis=1)


def _is_all(data):
    dataset = Dataset.at(data, "label", drop=["taken"] * ("taken" in open_source(data).schema.names), workers=1)
    assert dataset.features == ("a", "b")
    assert dataset.count() == COUNT
    np.testing.assert_array_equal(_collected(dataset), np.array([row[:2] for row in ROWS]).T)
    assert dataset.levels().labels.tolist() == ["ja", "nein"]
    return columns_of(dataset, target=True)


@pytest.mark.parametrize("name", ["a.duckdb", "b.sqlite"])
@pytest.mark.parametrize("what", ["visits", "SELECT label, b, a, taken FROM visits;"])
def test_tables_and_queries_of_files_are_their_records(name, what, files):
    address = f"duckdb:{files / name}::{what}"
    assert is_dataset(address)
    dataset = Dataset.at(address, "label", columns=["a", "b"], workers=1)
    again = dataset.features if what == "visits" else ("b", "a")
    assert dataset.features == again
    columns = _collected(dataset)
    np.testing.assert_array_equal(columns[again.index("a")], [row[0] for row in ROWS])


def test_the_digest_is_of_the_records_and_not_of_where_they_are(files, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(dict(zip("ab", zip(*[r[:2] for r in ROWS], strict=True), strict=True), label=[r[2] for r in ROWS])), tmp_path / "c.parquet")  # fmt: skip
    found = [_is_all(f"duckdb:{files / name}::visits") for name in ("a.duckdb", "b.sqlite")]
    found.append(_is_all(tmp_path / "c.parquet"))
    found.append(_is_all(f"duckdb:SELECT * FROM '{tmp_path / 'c.parquet'}'"))
    for other in found[1:]:
        for name, values in found[0].items():
            np.testing.assert_array_equal(values, other[name])


def test_views_schemas_and_another_process_work(files):
    dataset = Dataset.at(f"duckdb:{files / 'a.duckdb'}::main.recent", "label", columns=["a"])
    assert dataset.levels().counts.sum() == COUNT
    assert pickle.loads(pickle.dumps(dataset)).count() == COUNT  # noqa: S301


@pytest.mark.network
def test_postgres_is_read_by_a_variable_or_a_service(server, monkeypatch, tmp_path):
    monkeypatch.setenv("CLINIC", server.string)
    table = _is_all("duckdb:env:CLINIC::public.visits")
    query = _is_all("duckdb:env:CLINIC::SELECT a, b::int AS b, label FROM visits WHERE label <> 'x'")
    services = tmp_path / "services"
    services.write_text(f"[clinic]\nhost=127.0.0.1\nport={server.port}\nuser=tacit\ndbname=postgres\n")
    passwords = tmp_path / "passwords"
    passwords.write_text(f"*:*:*:tacit:{PASSWORD}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    service = _is_all("duckdb:service:clinic::visits")
    url = f"postgresql://tacit:{PASSWORD}@127.0.0.1:{server.port}/postgres"
    monkeypatch.setenv("CLINIC", url)
    assert Dataset.at("duckdb:env:CLINIC::visits", "label", columns=["a"]).count() == COUNT
    for other in (query, service):
        for name, values in table.items():
            np.testing.assert_array_equal(values, other[name])


@pytest.mark.network
def test_all_passes_see_the_records_of_the_same_moment(server, monkeypatch):
    monkeypatch.setenv("CLINIC", server.string)
    server.do("CREATE TABLE moment AS SELECT 1.5::float8 AS a, 1 AS label FROM generate_series(1, 10)")
    before = Dataset.at("duckdb:env:CLINIC::moment", "label")
    assert before.count() == 10
    server.do("INSERT INTO moment VALUES (2.5, 0)")
    assert before.count() == before.levels().counts.sum() == 10
    assert Dataset.at("duckdb:env:CLINIC::moment", "label").count() == 11


@pytest.mark.network
def test_a_database_is_only_read(server, files, monkeypatch, tmp_path):
    monkeypatch.setenv("CLINIC", server.string)
    server.do("CREATE FUNCTION enter() RETURNS int LANGUAGE sql AS 'INSERT INTO visits VALUES (1, 1) RETURNING 1'")
    with pytest.raises(TacitError):
        Dataset.at("duckdb:env:CLINIC::SELECT enter() AS a, 1 AS label", "label").count()
    for statement in ("DELETE FROM visits", "SELECT * FROM visits); DELETE FROM visits; SELECT (1"):
        with pytest.raises(TacitError):
            Dataset.at(f"duckdb:env:CLINIC::{statement}", "label").count()
    assert Dataset.at("duckdb:env:CLINIC::visits", "label", columns=["a"]).count() == COUNT
    copy = f"SELECT 1 AS label) TO '{tmp_path / 'x.csv'}'; SELECT (1"
    for query in (copy, "SELECT * FROM read_csv('/etc/passwd')"):
        with pytest.raises(TacitError):
            Dataset.at(f"duckdb:{files / 'a.duckdb'}::{query}", "label")
    assert not list(tmp_path.iterdir())


@pytest.mark.network
def test_no_sentence_holds_a_password_a_query_or_a_value(server, files, monkeypatch):
    monkeypatch.setenv("CLINIC", server.string)
    monkeypatch.setenv("WRONG", server.string.replace(PASSWORD, "wrong-" + PASSWORD))
    monkeypatch.setenv("NOWHERE", server.string.replace(str(server.port), "1"))
    path = files / "a.duckdb"
    server.do("CREATE TABLE odd AS SELECT 'secretword' AS a, 1 AS label")
    wrong = {
        f"duckdb:postgresql://tacit:{PASSWORD}@h/d::visits": "a connection string is not typed",
        f"duckdb:host=h password={PASSWORD}::visits": "a connection string is not typed",
        "duckdb:env:WRONG::visits": "the database of WRONG: cannot be reached; check host, port, user and password",
        "duckdb:env:NOWHERE::visits": "the database of NOWHERE: cannot be reached",
        "duckdb:service:nobody::visits": "service nobody: cannot be reached",
        "duckdb:env:UNSET::visits": "the environment variable UNSET is not set",
        "duckdb:env:CLINIC::vists": r"there is no such table\. Did you mean 'visits'",
        f"duckdb:{path}::vists": r"table vists of .*a\.duckdb: there is no such table\. Did you mean 'visits'",
        f"duckdb:{path}::SELECT nope AS label FROM visits WHERE label = 'secretword'": "cannot answer",
        "duckdb:env:CLINIC::SELECT nope FROM visits WHERE label = 'secretword'": "cannot answer",
        "duckdb:env:CLINIC::SELECT a::int AS a, label FROM odd": "could not be read to its end",
        f"duckdb:{path}::SELECT ('secretword' || label)::int AS a, label FROM visits": "not of the type",
        "duckdb:env:CLINIC::odd": "column 'a': holds string, and not numbers",
        f"duckdb:{path}::visits": "column 'taken': holds date32",
        f"duckdb:{files / 'none.duckdb'}::visits": r"none\.duckdb: cannot be read \(No such file",
        "duckdb:visits": "databases are given as",
        "duckdb:": "databases are given as",
    }
    for address, sentence in wrong.items():
        with pytest.raises(InputError, match=sentence) as refusal:
            _collected(Dataset.at(address, "label"))
        said = str(refusal.value)
        assert PASSWORD not in said
        assert "secretword" not in said
        assert "\n" not in said


def test_a_file_that_is_no_database_and_one_with_wrong_values(files, tmp_path):
    (tmp_path / "x.duckdb").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"x\.duckdb: is neither a DuckDB file nor a SQLite file"):
        Dataset.at(f"duckdb:{tmp_path / 'x.duckdb'}::visits", "label")
    with sqlite3.connect(tmp_path / "y.sqlite") as connection:
        connection.execute("CREATE TABLE visits (a REAL, label INTEGER)")
        connection.execute("INSERT INTO visits VALUES ('secretword', 1)")
    connection.close()
    with pytest.raises(FileError, match="not of the type of their column") as refusal:
        _collected(Dataset.at(f"duckdb:{tmp_path / 'y.sqlite'}::visits", "label"))
    assert "secretword" not in str(refusal.value)


@pytest.mark.network
def test_nothing_shows_a_connection_string(server, monkeypatch):
    monkeypatch.setenv("CLINIC", server.string)
    dataset = Dataset.at("duckdb:env:CLINIC::visits", "label", columns=["a"])
    dataset.count()
    for shown in (repr(dataset), repr(dataset.source), pickle.dumps(dataset).decode("latin-1")):
        assert PASSWORD not in shown
    assert DatabaseAddress.read('duckdb:a.duckdb::"strange.name".t').table == ("strange.name", "t")


@pytest.mark.network
def test_a_connection_that_is_lost_is_one_sentence_and_no_crash(server):
    """In a process of its own: what DuckDB does as it ends is its exit code."""
    script = (
        "import sys\nfrom tacit.records import Dataset\n"
        "data = Dataset.at('duckdb:env:CLINIC::visits', 'label', columns=['a'])\n"
        "print(data.count(), flush=True)\nsys.stdin.readline()\n"
        "try: data.levels()\nexcept Exception as error: print(type(error).__name__, error)\n"
    )
    environment = {**os.environ, "CLINIC": server.string}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, text=True, **PIPES)
    assert process.stdout.readline().strip() == str(COUNT)
    server.cut()
    out, err = process.communicate("\n", timeout=120)
    assert out.startswith("FileError table visits of the database of CLINIC: could not be read to its end"), out
    assert (process.returncode, err) == (0, "")
