"""What has changed in an Iceberg table, by the snapshots since the one that is known.

    Δ(s₀, s₁) = Σ over the snapshots between  rows(files added) − rows(files deleted)

Of each snapshot only the manifests that it has written are read, so a look costs what was committed since.
One that only lays rows out anew (`replace`) is no change. Where rows are deleted beside their files (merge on
read) the files of both snapshots are compared, each with its deletions: those that differ are read as they
were and as they are. By pyiceberg.

    known   {log:UUID/SNAPSHOT: [schema]}   '' of a table without a snapshot

Iceberg's specification: iceberg.apache.org/spec, Snapshots and Manifests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.circuits.errors import Error, StateError
from dbsp.declared.logs.changed import Changed, Log, Lost, Rows, as_known, from_known
from dbsp.declared.project.datasets import Logged
from dbsp.declared.project.surroundings import Files

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.io.pyarrow import ArrowScan
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import FileScanTask, Table
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

ICEBERG = "iceberg"
CATALOG = "catalog"  # of the options: its name
_PLAIN = {
    "int": "integer",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
    "uuid": "string",
    **{name: name for name in ("boolean", "long", "float", "double", "date", "string", "binary")},
}


@dataclass(frozen=True)
class Tasks(Rows):
    """scan: of the table's columns."""

    scan: ArrowScan
    schema: pa.Schema
    pieces: tuple[FileScanTask, ...]

    @property
    def size(self) -> int:
        return sum(task.file.file_size_in_bytes for task in self.pieces)

    def read(self, piece: FileScanTask) -> Iterator[pa.Table]:
        """See `Rows`. Raises OSError."""
        for batch in self.scan.to_record_batches([piece]):
            yield self._shown(pa.Table.from_batches([batch]))

    def _shown(self, found: pa.Table) -> pa.Table:
        spelled = {name.lower(): name for name in found.column_names}
        columns = [
            found[spelled[field.name.lower()]].cast(field.type)
            if field.name.lower() in spelled
            else pa.nulls(found.num_rows, field.type)
            for field in self.schema
        ]
        return pa.table(columns, schema=self.schema)


@dataclass(frozen=True)
class IcebergLog(Log):
    """logged: its place is NAMESPACE.NAME, its options pyiceberg's."""

    name: str
    logged: Logged

    def schema(self) -> str:
        """See `Log`."""
        return json.dumps(_struct(self.name, self._table().schema().fields))

    def since(self, schema: pa.Schema, known: Files | None, streamed: bool) -> Changed:
        """See `Log`."""
        table = self._table()
        uuid, since, seen = from_known(known)
        if uuid != str(table.metadata.table_uuid):
            raise Lost("it is another table than before")
        _check_names(table, seen)
        snapshots = list(_between(table, since))
        if _has_deletions(table, snapshots):
            return _compared(table, schema, since, seen)
        added, gone, at = _tasks(table, snapshots)
        scan, now = _scan(table, table.metadata), _known(table)
        came, went = (Tasks(scan, schema, tuple(tasks)) for tasks in (added, gone))
        return Changed(now, came, went, altered=[*now.values()] != [seen], gone_by=f"by snapshot {at}")

    def whole(self, schema: pa.Schema) -> Changed:
        """See `Log`."""
        table = self._table()
        scan, tasks = _scan(table, table.metadata), _files(table)
        return Changed(_known(table), Tasks(scan, schema, tasks), Tasks(scan, schema, ()), True)

    def _table(self) -> Table:
        try:
            from pyiceberg.exceptions import NoSuchTableError  # noqa: PLC0415  an extra
        except ImportError as error:
            raise Error(
                f"table {self.name} is an Iceberg table, which needs pyiceberg: pip install 'dbsp[iceberg]'"
            ) from error
        try:
            return iceberg_catalog(self.logged).load_table(self.logged.place)
        except (NoSuchTableError, OSError) as error:
            raise Error(f"table {self.name} can't be read: {' '.join(str(error).split())}") from error


def iceberg_catalog(logged: Logged) -> Catalog:
    """That of a table. Raises ImportError, OSError."""
    from pyiceberg.catalog import load_catalog  # noqa: PLC0415  an extra

    options = dict(logged.options)
    return load_catalog(options.pop(CATALOG), **options)


def _known(table: Table) -> Files:
    current = table.current_snapshot()
    version = current.snapshot_id if current else ""
    return as_known(str(table.metadata.table_uuid), version, [table.schema().schema_id])


def _between(table: Table, since: str) -> Iterator[Snapshot]:
    """Those after the known one, the last first. Raises Lost."""
    at = table.current_snapshot()
    while at is not None and str(at.snapshot_id) != since:
        yield at
        parent = at.parent_snapshot_id
        if str(parent or "") == since:
            return
        at = table.snapshot_by_id(parent) if parent is not None else None
        if parent is not None and at is None:
            raise Lost(f"snapshot {parent} was expired")
    if at is None and since:
        raise Lost(f"snapshot {since} isn't before the last one")


def _check_names(table: Table, seen: list[int]) -> None:
    """Raises Lost where a column that was read has another name, or is gone: then what was read isn't what
    the table holds under these names. seen: the schema's number.
    """
    schemas = table.schemas()
    before = [schemas[number] for number in seen if number in schemas]
    now = {each.field_id: each.name for each in table.schema().fields}
    if not before:
        raise Lost("the columns that it had aren't known any more")
    if any(now.get(each.field_id) != each.name for each in before[0].fields):
        raise Lost("columns were renamed or dropped")


def _has_deletions(table: Table, snapshots: list[Snapshot]) -> bool:
    """Whether rows of files are deleted beside them (merge on read)."""
    from pyiceberg.manifest import ManifestContent  # noqa: PLC0415

    return any(
        manifest.content is ManifestContent.DELETES
        for snapshot in snapshots
        for manifest in snapshot.manifests(table.io)
    )


def _compared(table: Table, schema: pa.Schema, since: str, seen: list[int]) -> Changed:
    """Of two snapshots the files that differ, or whose deletions do: what they had, and what they have."""
    now, scan = _known(table), _scan(table, table.metadata)
    before = _planned(table, since)
    after = _planned(table, str(table.metadata.current_snapshot_id))
    came, went = (
        Tasks(scan, schema, tuple(task for key, task in ours.items() if key not in theirs))
        for ours, theirs in ((after, before), (before, after))
    )
    changed = Changed(now, came, went, altered=[*now.values()] != [seen], gone_by=f"since snapshot {since}")
    missing = [path for path in _paths(*came.pieces, *went.pieces) if not table.io.new_input(path).exists()]
    if missing:
        raise Lost(f"{missing[0]} is gone (its snapshot was expired)")
    return changed


def _planned(table: Table, snapshot: str) -> dict[tuple[str, frozenset[str]], FileScanTask]:
    """Its files, by their addresses and those of their deletions. Raises Lost."""
    if not snapshot:
        return {}
    if table.snapshot_by_id(int(snapshot)) is None:
        raise Lost(f"snapshot {snapshot} was expired, and rows are deleted beside files (merge on read)")
    return {
        (task.file.file_path, frozenset(each.file_path for each in task.delete_files)): task
        for task in _files(table, int(snapshot))
    }


def _files(table: Table, snapshot: int | None = None) -> tuple[FileScanTask, ...]:
    """Of a snapshot; None: of the last one, if there is one. Raises StateError."""
    try:
        return tuple(table.scan(snapshot_id=snapshot).plan_files())
    except ValueError as error:
        raise StateError(
            f"table {'.'.join(table.name())}: not supported yet: rows that are deleted by their values "
            f"({error}); have its files rewritten without"
        ) from error


def _paths(*tasks: FileScanTask) -> set[str]:
    """Of their files."""
    return {each.file_path for task in tasks for each in (task.file, *task.delete_files)}


def _tasks(
    table: Table, snapshots: list[Snapshot]
) -> tuple[list[FileScanTask], list[FileScanTask], int | None]:
    """Files that came, those that went, and the last snapshot that took some out. Raises Lost."""
    from pyiceberg.manifest import ManifestEntryStatus  # noqa: PLC0415
    from pyiceberg.table import FileScanTask  # noqa: PLC0415
    from pyiceberg.table.snapshots import Operation  # noqa: PLC0415

    counts: dict[str, int] = {}
    files: dict[str, Any] = {}
    at = None
    for snapshot in snapshots:
        if snapshot.summary is not None and snapshot.summary.operation is Operation.REPLACE:
            continue
        for manifest in snapshot.manifests(table.io):
            if manifest.added_snapshot_id != snapshot.snapshot_id:
                continue
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                if entry.status is ManifestEntryStatus.EXISTING:
                    continue
                came = entry.status is ManifestEntryStatus.ADDED
                path = entry.data_file.file_path
                counts[path] = counts.get(path, 0) + (1 if came else -1)
                files[path] = entry.data_file
                at = at if came or at is not None else snapshot.snapshot_id
    added = [FileScanTask(files[path]) for path, count in counts.items() if count > 0]
    gone = [FileScanTask(files[path]) for path, count in counts.items() if count < 0]
    missing = [one for one in (*added, *gone) if not table.io.new_input(one.file.file_path).exists()]
    if missing:
        raise Lost(f"{missing[0].file.file_path} is gone (its snapshot was expired)")
    return added, gone, at


def tasks_of(table: Table, metadata: TableMetadata, schema: pa.Schema, files: Iterable[DataFile]) -> Tasks:
    """The rows of these files, as the columns of that metadata."""
    from pyiceberg.table import FileScanTask  # noqa: PLC0415

    return Tasks(_scan(table, metadata), schema, tuple(map(FileScanTask, files)))


def _scan(table: Table, metadata: TableMetadata) -> ArrowScan:
    from pyiceberg.expressions import AlwaysTrue  # noqa: PLC0415
    from pyiceberg.io.pyarrow import ArrowScan  # noqa: PLC0415

    return ArrowScan(metadata, table.io, metadata.schema(), AlwaysTrue())


def _struct(table: str, fields: Any) -> dict[str, Any]:
    """As Spark spells it."""
    made = [
        {"name": one.name, "type": _type(table, one.field_type), "nullable": not one.required, "metadata": {}}
        for one in fields
    ]
    return {"type": "struct", "fields": made}


def _type(table: str, kind: Any) -> Any:
    if kind.is_struct:
        return _struct(table, kind.fields)
    name = type(kind).__name__
    if name == "ListType":
        element = _type(table, kind.element_type)
        return {"type": "array", "elementType": element, "containsNull": not kind.element_required}
    if name == "MapType":
        key, value = _type(table, kind.key_type), _type(table, kind.value_type)
        nullable = not kind.value_required
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": nullable}
    if name == "DecimalType":
        return f"decimal({kind.precision},{kind.scale})"
    if name == "FixedType":
        return "binary"
    if str(kind) not in _PLAIN:
        raise StateError(f"table {table}: not supported yet: a column of Iceberg's {kind}")
    return _PLAIN[str(kind)]
