"""Parquet, Feather and CSV files, alone or in folders, through Arrow.

A Parquet file is read row group by row group, and each of them some thousand records at a time: what is in memory
does not depend on how long they are. Folders may be partitioned (`year=2026/part-0.parquet`): what a folder's name
says is a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tacit.errors import FileError
from tacit.listing import listed
from tacit.records.extra import arrow
from tacit.spelling import did_you_mean

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather", ".ipc": "feather",
    ".csv": "csv",
}  # fmt: skip
"""What the endings of files mean."""
ROWS = 2048
"""Records in memory at a time, of every core: so few that arrays of them are not given back to the system."""
_BUFFER = 1 << 18  # bytes read at a time, of every column


class FilePiece(NamedTuple):
    """A file, or a row group of it."""

    file: int
    row_group: int | None = None


@dataclass(frozen=True)
class Files:
    """The files of one dataset, in the order of their paths."""

    label: str
    paths: tuple[Path, ...] = field(repr=False)
    kind: str
    folder: Path | None = None
    separator: str = ","
    decimal: str = "."

    @classmethod
    def at(cls, path: Path, *, separator: str | None = None, decimal: str | None = None) -> Files:
        """Return the files at a path: that file, or all files with a known ending in a folder and below it."""
        if not path.exists():
            raise FileError(f"{path}: there is no such file or folder.")
        paths = [path]
        if path.is_dir():
            inside = [p for p in path.rglob("*") if p.is_file() and not p.name.startswith(("_", "."))]
            paths = sorted(p for p in inside if p.suffix.lower() in FORMATS)
            if not paths:
                raise FileError(f"{path}: has no files that end in {listed(list(FORMATS), most=6)}.")
        kinds = {FORMATS.get(p.suffix.lower()) for p in paths}
        if None in kinds:
            raise FileError(f"{path}: records come as files that end in {listed(list(FORMATS), most=6)}.")
        if len(kinds) > 1:
            raise FileError(f"{path}: holds files of several kinds ({listed(sorted(map(str, kinds)))}); keep one.")
        folder = path if path.is_dir() else None
        return cls(str(path), tuple(paths), str(kinds.pop()), folder, separator or ",", decimal or ".")

    @cached_property
    def _keys(self) -> list[dict[str, str]]:
        """What the folders' names say of every file."""
        if self.folder is None:
            return [{} for _ in self.paths]
        parts = [path.relative_to(self.folder).parent.parts for path in self.paths]
        return [dict(part.split("=", 1) for part in each if "=" in part) for each in parts]

    @cached_property
    def schema(self) -> Any:
        """The columns of all files, and those that the folders' names say."""
        first = self._schema_of(0)
        for number in range(1, len(self.paths)):
            self._refuse_other(first, self._schema_of(number), number)
        pa = arrow()
        for name in self._keys[0]:
            if name not in first.names:
                values = [keys[name] for keys in self._keys]
                first = first.append(pa.field(name, pa.float64() if _are_numbers(values) else pa.string()))
        return first

    def _schema_of(self, number: int) -> Any:
        path = self.paths[number]
        with reading(path):
            if self.kind == "parquet":
                return arrow("pyarrow.parquet").read_schema(path).remove_metadata()
            if self.kind == "feather":
                with arrow().OSFile(str(path)) as file:
                    return arrow("pyarrow.ipc").open_file(file).schema.remove_metadata()
            with self._csv(path) as reader:
                return reader.schema

    def _refuse_other(self, first: Any, other: Any, number: int) -> None:
        where = f"{self.paths[number]}"
        missing = [name for name in first.names if name not in other.names]
        if missing:
            raise FileError(
                f"{where}: has no column {missing[0]!r}, which {self.paths[0]} has; all files of a dataset need "
                f"the same columns.{did_you_mean(missing[0], other.names)}"
            )
        further = [name for name in other.names if name not in first.names]
        if further:
            raise FileError(
                f"{where}: has a column {further[0]!r}, which {self.paths[0]} has not; all files of a dataset need "
                "the same columns."
            )
        for name in first.names:
            a, b = first.field(name).type, other.field(name).type
            if a != b and not (_is_number(a) and _is_number(b)):
                raise FileError(
                    f"{where}: column {name!r} is of type {b}, and of type {a} in {self.paths[0]}; write all files "
                    "of a dataset with the same types."
                )
        if set(self._keys[number]) != set(self._keys[0]):
            raise FileError(f"{where}: lies in other folders than {self.paths[0]}: partition all files alike.")

    def count(self) -> int | None:
        """Return how many records the files say they have; None of CSV files."""
        if self.kind == "csv":
            return None
        if self.kind == "feather":
            return sum(map(self._rows_of, self.paths))
        pq = arrow("pyarrow.parquet")
        total = 0
        for path in self.paths:
            with reading(path):
                total += int(pq.read_metadata(path).num_rows)
        return total

    @staticmethod
    def _rows_of(path: Path) -> int:
        with reading(path), arrow().OSFile(str(path)) as file:
            reader = arrow("pyarrow.ipc").open_file(file)
            return sum(reader.get_batch(k).num_rows for k in range(reader.num_record_batches))

    @cached_property
    def _places(self) -> tuple[FilePiece, ...]:
        if self.kind != "parquet":
            return tuple(FilePiece(number) for number in range(len(self.paths)))
        pq = arrow("pyarrow.parquet")
        groups = []
        for number, path in enumerate(self.paths):
            with reading(path):
                count = pq.read_metadata(path).num_row_groups
            groups += [FilePiece(number, group) for group in range(count)]
        return tuple(groups)

    def pieces(self) -> Sequence[FilePiece]:
        """Return row groups of Parquet files, and whole files of other kinds."""
        return self._places

    def batches(self, piece: FilePiece, columns: Sequence[str]) -> Iterator[Any]:
        """Return the record batches of one piece; what folders' names say is added as columns."""
        pa, path, keys = arrow(), self.paths[piece.file], self._keys[piece.file]
        inside = [name for name in columns if name not in keys]
        with reading(path):
            for batch in self._read(path, piece, inside):
                yield _with_keys(pa, batch, keys, columns, self.schema) if len(inside) < len(columns) else batch

    def _read(self, path: Path, piece: FilePiece, columns: list[str]) -> Iterator[Any]:
        if self.kind == "parquet":
            pq = arrow("pyarrow.parquet")
            with pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
                groups = [piece.row_group]
                for batch in file.iter_batches(ROWS, row_groups=groups, columns=columns, use_threads=False):
                    yield batch.select(columns)
        elif self.kind == "feather":
            with arrow().OSFile(str(path)) as file:
                reader = arrow("pyarrow.ipc").open_file(file)
                for number in range(reader.num_record_batches):
                    yield from _sliced(reader.get_batch(number).select(columns))
        else:
            with self._csv(path) as reader:
                for batch in reader:
                    yield from _sliced(batch.select(columns))

    def _csv(self, path: Path) -> Any:
        csv = arrow("pyarrow.csv")
        return csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=1 << 22, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=self.separator),
            convert_options=csv.ConvertOptions(decimal_point=self.decimal, strings_can_be_null=True),
        )


class reading:  # noqa: N801  # reads as a sentence: with reading(path)
    """Errors of Arrow, as sentences that show nothing of what stands in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError) and error.strerror:
            raise FileError(f"{self.path}: cannot be read ({error.strerror}).") from None
        if kind is not None and issubclass(kind, (OSError, arrow().ArrowException)):
            raise FileError(
                f"{self.path}: is not a readable {self.path.suffix} file; it is damaged, is of another kind than "
                "its ending says, or has another type of values further down than it begins with."
            ) from None


def _sliced(batch: Any) -> Iterator[Any]:
    for start in range(0, batch.num_rows, ROWS):
        yield batch.slice(start, ROWS)


def _with_keys(pa: Any, batch: Any, keys: dict[str, str], columns: Sequence[str], schema: Any) -> Any:
    arrays = []
    for name in columns:
        if name in keys:
            number = _is_number(schema.field(name).type)
            arrays.append(pa.repeat(float(keys[name]) if number else keys[name], batch.num_rows))
        else:
            arrays.append(batch.column(name))
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _is_number(kind: Any) -> bool:
    types = arrow("pyarrow.types")
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    )


def _are_numbers(words: Sequence[str]) -> bool:
    try:
        return all(word == word.strip() and float(word) == float(word) for word in words)
    except ValueError:
        return False
