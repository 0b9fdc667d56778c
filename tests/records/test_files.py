"""Files of any kind, and folders of them, are the records that are in them; what is wrong with them is one sentence."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from tacit.errors import DataError, FileError, InputError
from tacit.records import Dataset, open_source
from tacit.records.digest import LOADED, LongColumns, columns_of
from tacit.records.extra import arrow
from tacit.records.passing import one_pass


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    words = np.array(["ja", "nein"])[rng.integers(0, 2, 1000)]
    return pa.table({"a": rng.standard_normal(1000), "b": rng.integers(0, 9, 1000), "label": words})


def _collected(dataset):
    parts = []
    dataset.joined(lambda batch: parts.append(batch) or 1, lambda a, b: a + b)
    return np.concatenate([part.columns for part in parts], axis=1)


WRITERS = {
    "parquet": lambda table, path: pq.write_table(table, path, row_group_size=64),
    "feather": lambda table, path: feather.write_feather(table, path, chunksize=64),
    "csv": csv.write_csv,
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_pass_reads_every_record_once(kind, table, tmp_path):
    WRITERS[kind](table, tmp_path / f"all.{kind}")
    whole = Dataset.at(tmp_path / f"all.{kind}", "label", workers=1)
    np.testing.assert_array_equal(_collected(whole), [table["a"].to_numpy(), table["b"].to_numpy()])
    assert whole.levels().counts.sum() == 1000
    assert whole.levels().labels.tolist() == ["ja", "nein"]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_is_its_files_in_the_order_of_their_paths(kind, table, tmp_path):
    for number, start in enumerate(range(0, 1000, 300)):
        WRITERS[kind](table.slice(start, 300), tmp_path / f"part-{number}.{kind}")
    (tmp_path / "_SUCCESS").write_text("")
    np.testing.assert_array_equal(_collected(Dataset.at(tmp_path, "label", workers=1))[0], table["a"].to_numpy())


def test_what_a_folder_is_called_is_a_column(table, tmp_path):
    for year in (2024, 2025):
        (tmp_path / f"year={year}" / "clinic=north").mkdir(parents=True)
        pq.write_table(table.slice(year - 2024, 10), tmp_path / f"year={year}" / "clinic=north" / "x.parquet")
    dataset = Dataset.at(tmp_path, "label", columns=["year", "a"], workers=1)
    assert dataset.features == ("a", "year")
    np.testing.assert_array_equal(_collected(dataset)[1], [2024.0] * 10 + [2025.0] * 10)


def test_the_same_bits_on_any_number_of_cores(table, tmp_path):
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=100)
    pq.write_table(table, tmp_path / "one.parquet")

    def total(name, workers):
        return Dataset.at(tmp_path / name, "label", workers=workers).added_up(
            lambda b: np.exp(b.columns).sum(axis=1)
        )

    for name in ("all.parquet", "one.parquet"):
        assert total(name, 1).tobytes() == total(name, 2).tobytes() == total(name, 5).tobytes()


def test_pieces_can_be_spread_by_somebody_else(table, tmp_path):
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=100)
    asked = []

    def last_first(work, pieces):
        """As a cluster may: in whatever order, and with a copy of the source."""
        asked.extend(pieces)
        again = replace(work, source=pickle.loads(pickle.dumps(work.source)))  # noqa: S301
        results = {piece: again(piece) for piece in reversed(pieces)}
        return [results[piece] for piece in pieces]

    def total(**settings):
        return Dataset.at(tmp_path / "all.parquet", "label", **settings).added_up(
            lambda b: np.exp(b.columns).sum(axis=1)
        )

    assert total(spread=last_first).tobytes() == total(workers=1).tobytes() == total(workers=3).tobytes()
    assert len(asked) == 10


def test_an_error_in_a_batch_ends_the_pass(table, tmp_path):
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=10)

    def fail(batch):
        raise DataError("no.")

    with pytest.raises(DataError, match="no"):
        one_pass(open_source(tmp_path / "all.parquet"), ["a"], fail, lambda a, b: a, workers=3)


@pytest.mark.parametrize("long", [False, True])
def test_digests_do_not_depend_on_how_records_are_cut(long, table, tmp_path, monkeypatch):
    if long:
        monkeypatch.setattr("tacit.records.digest.LOADED", 10)
    pq.write_table(table, tmp_path / "one.parquet")
    pq.write_table(table, tmp_path / "cut.parquet", row_group_size=77)
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, start in enumerate(range(0, 1000, 130)):
        feather.write_feather(table.slice(start, 130), folder / f"part-{number}.feather", chunksize=50)
    found = [
        columns_of(Dataset.at(p, "label"), target=True)
        for p in (tmp_path / "one.parquet", tmp_path / "cut.parquet")
    ]
    other = columns_of(Dataset.at(folder, "label"), target=True)
    if long:
        assert isinstance(found[0], LongColumns)
        assert found[0] == found[1] == other
        pq.write_table(table.slice(1), tmp_path / "less.parquet")
        less = columns_of(Dataset.at(tmp_path / "less.parquet", "label"), target=True)
        assert all(less.columns[name] != found[0].columns[name] for name in ("a", "b", "label"))
    else:
        assert table.num_rows <= LOADED
        for name, values in found[0].items():
            np.testing.assert_array_equal(values, found[1][name])
            np.testing.assert_array_equal(values, other[name])
    assert not long or less.records == 999


def test_files_of_one_dataset_have_the_same_columns_and_types(table, tmp_path):
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(table.rename_columns(["a", "c", "label"]), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"2\.parquet: has no column 'b', which .*1\.parquet has"):
        Dataset.at(tmp_path, "label")
    pq.write_table(table.append_column("d", table["a"]), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"has a column 'd', which .*1\.parquet has not"):
        Dataset.at(tmp_path, "label")
    pq.write_table(table.set_column(0, "a", table["label"]), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"column 'a' is of type string, and of type double in"):
        Dataset.at(tmp_path, "label")
    whole = table.set_column(0, "a", table["b"])  # whole numbers beside fractions are numbers all the same
    pq.write_table(whole, tmp_path / "2.parquet")
    assert Dataset.at(tmp_path, "label").features == ("a", "b")


def test_sentences_show_no_value(table, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 secret words PAR1")
    with pytest.raises(FileError, match=r"bad\.parquet: is not a readable \.parquet file") as refusal:
        Dataset.at(tmp_path / "bad.parquet", "label")
    assert "secret" not in str(refusal.value)
    lines = ["a,label", *["1.5,ja"] * 700_000, "confidential,nein"]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    dataset = Dataset.at(tmp_path / "long.csv", "label")
    with pytest.raises(FileError, match=r"long\.csv: is not a readable \.csv file") as refusal:
        dataset.levels()
    assert "confidential" not in str(refusal.value)
    with pytest.raises(DataError, match=r"has no column 'lable'; it has a, label\. Did you mean"):
        Dataset.at(tmp_path / "long.csv", "lable")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="has no files that end in"):
        Dataset.at(tmp_path / "empty", "label")


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch, tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"")
    arrow.cache_clear()
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"pip install 'tacit\[data\]'"):
        Dataset.at(tmp_path / "x.parquet", "label")
