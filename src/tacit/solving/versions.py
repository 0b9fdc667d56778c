"""Which records an agent brings to a run, as digests that tell nothing to anybody else.

    version = HMAC-SHA-256(key, agent ‖ part ‖ canonical bytes)

The ledger subtracts runs, and must know whose records have changed in between without keeping any. So it keeps
keyed digests: of all records together, of every column and pair of columns, and of their number. The key is the
agent's own secret. It is kept outside the ledger and never sent: a digest of a few labels, or of a count, could be
found by trying.

Canonical: numbers are float64, little-endian, with one zero; other labels are their UTF-8. Rows are sorted, since
their order changes no sum, and columns are taken by name, not by place. A version begins with a name of its key, so
that digests under different keys are never compared.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.certificates.release import COLUMN, LETTERS, NUMBER, PAIR, WHOLE, Version
from tacit.errors import FileError, InputError, LedgerError
from tacit.records.digest import LongColumns

SINGLE = 2000
"""Records of an agent up to which a ledger knows them one by one."""
_KEY_BYTES = 32
_PAIRED = 10  # columns up to which all pairs have a version, and not only those with the last one, the labels
_LETTERS = 32  # of a digest, in hexadecimal: 128 bits


class Digests:
    """One secret, and the versions that it makes. Nothing shows the secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.name = self._digest(b"name")[:8]
        """Of the key: which digests can be compared."""

    @classmethod
    def beside(cls, ledger: Path, versions: Iterable[str] = ()) -> Digests:
        """Return those of the key beside a ledger, in a file of its own that only its owner can read.

        It is made with the first of them. *versions* are those in the ledger: without the key that made them,
        nobody can tell whether records have changed, and no other key will do.
        """
        path = key_file(ledger)
        names = {version.partition(":")[0] for version in versions if ":" in version}
        if names and not path.exists():
            raise LedgerError(
                f"{path}: is missing, and without it nobody can tell whether records have changed since the runs "
                f"in {ledger.name}; restore a copy."
            )
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if path.stat().st_mode & 0o077:
                raise InputError(f"{path}: others can read it; use chmod 600.") from None
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror or error}).") from error
        else:
            with os.fdopen(descriptor, "wb") as file:
                file.write(os.urandom(_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
        secret = path.read_bytes()
        if len(secret) != _KEY_BYTES:
            raise FileError(f"{path}: is damaged; restore a copy of the key beside the ledger.")
        digests = cls(secret)
        if names and digests.name not in names:
            raise LedgerError(f"{path}: is not the key of the digests in {ledger.name}; restore a copy.")
        return digests

    def of(self, agent: str, columns: Mapping[str, NDArray[Any]]) -> list[Version]:
        """Return the versions of an agent's records: as a whole, by column, and of how many there are.

        Two runs with other columns have those in common that both have. Pairs of them show values that have moved
        from one record to another. The digest of a column does not depend on its name.
        """
        coded = {name: _canonical(values) for name, values in sorted(columns.items())}
        rows = next((len(values) for values in columns.values()), 0)
        together = np.column_stack([codes for codes, _ in coded.values()]) if coded else np.zeros((0, 0))
        order = np.lexsort(together.T) if together.size else np.zeros(0, dtype=np.intp)
        words = b"\0".join(name.encode() + b"\0" + levels for name, (_, levels) in coded.items())
        whole = f"{WHOLE} ({', '.join(coded)})"
        versions = [
            (agent, whole, self._version(agent, WHOLE, words + b"\0" + together[order].tobytes())),
            (agent, NUMBER, self._version(agent, NUMBER, str(rows).encode())),
        ]
        for name, (codes, levels) in coded.items():
            part = f"{COLUMN}{name}"
            word = part if len(np.unique(codes)) < 2 else COLUMN  # constants are alike too often
            versions.append((agent, part, self._version(agent, word, levels + b"\0" + np.sort(codes).tobytes())))
        varied = [name for name in columns if len(np.unique(coded[name][0])) > 1]
        pairs = combinations(varied, 2) if len(varied) <= _PAIRED else ((name, varied[-1]) for name in varied[:-1])
        digests = {part: version for _, part, version in versions}
        for pair in pairs:
            a, b = sorted(pair, key=lambda name: digests[f"{COLUMN}{name}"])
            both = np.column_stack([coded[a][0], coded[b][0]])
            data = coded[a][1] + b"\0" + coded[b][1] + b"\0" + both[np.lexsort(both.T)].tobytes()
            versions.append((agent, f"{PAIR}{', '.join(sorted(pair))}", self._version(agent, PAIR, data)))
        return versions

    def of_long(self, agent: str, columns: LongColumns) -> list[Version]:
        """Return the versions of records that are too many to be sorted: their order counts, too.

        Every digest of a column is of all its values in the order of the records, so that two of them together say
        which values belong to one record.
        """
        digests, known = columns.columns, b"in order\0"
        names = sorted(digests)
        whole = known + b"".join(name.encode() + b"\0" + digests[name].digest for name in names)
        versions = [
            (agent, f"{WHOLE} ({', '.join(names)})", self._version(agent, WHOLE, whole)),
            (agent, NUMBER, self._version(agent, NUMBER, str(columns.records).encode())),
        ]
        for name in names:
            part = f"{COLUMN}{name}"
            word = COLUMN if digests[name].varies else part
            versions.append((agent, part, self._version(agent, word, known + digests[name].digest)))
        varied = [name for name in digests if digests[name].varies]
        pairs = combinations(varied, 2) if len(varied) <= _PAIRED else ((name, varied[-1]) for name in varied[:-1])
        for pair in pairs:
            both = known + b"".join(sorted(digests[name].digest for name in pair))
            versions.append((agent, f"{PAIR}{', '.join(sorted(pair))}", self._version(agent, PAIR, both)))
        return versions

    def records(self, columns: Mapping[str, NDArray[Any]]) -> str:
        """Return a digest of every record, one after the other and in no order of theirs, whoever holds it."""
        names = "\0".join(("record", *sorted(columns))).encode()
        rows = zip(*(_fields(columns[name]) for name in sorted(columns)), strict=True)
        return "".join(sorted(self._digest(names + b"\0" + b"\0".join(row))[:LETTERS] for row in rows))

    def of_arrays(self, agent: str, arrays: Mapping[str, NDArray[Any]]) -> list[Version]:
        """Return the version of data that are no table of records, such as the P and q of a quadratic cost."""
        data = b"".join(
            f"{name}{np.shape(array)}".encode() + b"\0" + _canonical(np.ravel(array))[0].tobytes()
            for name, array in sorted(arrays.items())
        )
        return [(agent, WHOLE, self._version(agent, WHOLE, data))]

    def _version(self, agent: str, part: str, data: bytes) -> str:
        lengths = b"".join(len(word.encode()).to_bytes(8, "big") + word.encode() for word in (agent, part))
        return f"{self.name}:{self._digest(lengths + data)}"

    def _digest(self, data: bytes) -> str:
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()[:_LETTERS]

    def __repr__(self) -> str:
        return "Digests(…)"


def key_file(ledger: Path) -> Path:
    """Return where the key beside a ledger is."""
    return ledger.with_name(ledger.name + ".key")


def _fields(values: NDArray[Any]) -> list[bytes]:
    """Return every entry of a column as bytes."""
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return [number.tobytes() for number in np.asarray(values, dtype="<f8") + 0.0]
    return [str(word).encode() for word in values]


def _canonical(values: NDArray[Any]) -> tuple[NDArray[np.float64], bytes]:
    """Return a column as numbers, and the words that they stand for, if it holds words."""
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype="<f8") + 0.0, b""  # −0 becomes 0
    levels, codes = np.unique(values.astype(str), return_inverse=True)
    return codes.astype("<f8"), b"\0".join(str(level).encode() for level in levels)
