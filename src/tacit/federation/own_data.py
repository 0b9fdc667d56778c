"""A member's own records, as its manifest reads them: the cost, the names of the unknowns, and their versions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from tacit.certificates.release import Version
from tacit.costs import Family
from tacit.errors import InputError
from tacit.federation.manifest import Manifest
from tacit.records import RecordSource, is_dataset, open_source
from tacit.records.digest import LongColumns
from tacit.runtimes.peers.keys import derived
from tacit.solving import read_cost
from tacit.solving.cost_files import outside_rows, read_arrays
from tacit.solving.sections import Costs
from tacit.solving.versions import Digests
from tacit.tables import Reading, Sheet, mapped, match, plain, read_sheet, read_unquestioned


def cost_of(manifest: Manifest, me: str, data: Path | Sheet | RecordSource, *, family: str | None = None) -> Family:
    """Return a member's own cost; refuse data that are not what the manifest says.

    *family* says what the cost is where the manifest has no model.
    """
    model = manifest.model
    if model is None and family is None:
        raise InputError("the manifest has no model; say what the cost is.", command="--cost says it.")
    if model is not None and family is not None and family != model.family:
        raise InputError(
            f"cost = {family!r}, and the manifest has {model.family!r}: all members must fit the same."
        )
    if manifest.privacy.promise is not None and not isinstance(data, (Path, Sheet)):
        raise InputError("records are clipped in memory where the answer has noise: give a .csv or an .npz file.")
    section = Costs(family or "") if model is None else model
    shares = None if model is None else model.shares
    cost = read_cost(
        section,
        me,
        data,
        agents=shares or len(manifest.members),
        dictionary=manifest.data,
        facts=manifest.algorithm["name"] == "standardised",
        unquestioned=manifest.privacy.promise is not None,
    )
    if cost.dim != manifest.unknowns:
        counted = " with the intercept" if section.intercept else ""
        where = data if isinstance(data, Path) else data.label
        raise InputError(
            f"{where}: gives {cost.dim} unknown(s){counted}, and the manifest says {manifest.unknowns}: all "
            "members need the same columns."
        )
    least = None if model is None else model.records
    if least is not None and cost.secrets is not None and cost.secrets.records < least:
        raise InputError(
            f"the manifest says that every member holds at least {least} records, and these are fewer: what the "
            "answer tells was counted with that many; ask for a manifest that says less."
        )
    return cost


def records_of(manifest: Manifest, data: str | Path, reading: Reading | None = None) -> Path | Sheet | RecordSource:
    """Return a member's records: a dataset stays where it is, arrays are read later, and a CSV file is a sheet."""
    if not is_dataset(data):
        return Path(data) if Path(data).suffix.lower() == ".npz" else sheet_of(manifest, Path(data), reading)
    signs = (reading or Reading()).checked()
    return open_source(data, separator=signs.separator, decimal=signs.decimal)


def sheet_of(manifest: Manifest, path: Path, reading: Reading | None = None) -> Sheet:
    """Return what stands in a member's file; with a promise about the answer, no record is complained about."""
    return (read_sheet if manifest.privacy.promise is None else read_unquestioned)(path, reading)


def feature_names(manifest: Manifest, data: Path | Sheet | RecordSource) -> tuple[str, ...]:
    """Return the names of the unknowns without an intercept; none for files that have no names."""
    if manifest.data is not None:
        return manifest.data.names
    if isinstance(data, Path):
        return ()
    if not isinstance(data, Sheet):
        return outside_rows(data, manifest.model or Costs(""), None).names
    target = manifest.model.target if manifest.model is not None else None
    return tuple(name for name in data.columns if name != (target or data.columns[-1]))


def versions_of(
    manifest: Manifest, me: str, data: Path | Sheet | RecordSource, *, key: Path
) -> tuple[Version, ...]:
    """Return the versions of this member's records: digests under a secret that follows from its private key."""
    digests = Digests(derived(key, "versions of records"))
    if isinstance(data, Path):
        arrays = read_arrays(data)
        if set(arrays) != {"A", "y"}:
            return tuple(digests.of_arrays(me, arrays))
        return tuple(
            digests.of(me, {f"x{k}": column for k, column in enumerate(arrays["A"].T)} | {"y": arrays["y"]})
        )
    if not isinstance(data, Sheet):
        columns = outside_rows(data, manifest.model or Costs(""), manifest.data).columns()
        return tuple(digests.of_long(me, columns) if isinstance(columns, LongColumns) else digests.of(me, columns))
    target = manifest.model.target if manifest.model is not None else None
    dictionary = manifest.data or plain(data.columns, target or data.columns[-1])
    records = (match if manifest.privacy.promise is None else mapped)(data, dictionary)
    values = dict(zip(records.names, records.X.T, strict=True)) | {dictionary.target: records.y}
    return tuple(digests.of(me, values))


def digest_of(versions: Iterable[Version]) -> str:
    """Return one digest of all versions: another one if any record has changed."""
    return hashlib.sha256(repr(sorted(versions)).encode()).hexdigest()[:32]
