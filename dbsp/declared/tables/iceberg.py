"""A table in a catalogue of Iceberg's: a step is one snapshot.

    files that come, and those that go       added and deleted by the snapshot
    the step, and the state that has made it  its summary: dbsp.step, dbsp.writer
    columns that are others                   the schema, in the same commit

A snapshot has its number before it is committed, and the record of the step that is begun has that. So
whoever comes after a run that has died finds the snapshot in the table, and the step is done; or doesn't, and
it is written again, upon the snapshot that is there then. A commit that is still under way is upon an older
one by then, and is refused. Files that no snapshot names are nobody's rows. A snapshot that isn't ours is
somebody else's.

Iceberg's specification: iceberg.apache.org/spec, Snapshots; Optimistic Concurrency. By pyiceberg.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.circuits.errors import StateError
from dbsp.declared.logs.iceberg import iceberg_catalog, tasks_of
from dbsp.declared.project.datasets import Logged
from dbsp.declared.tables.manifest import DataFile, Held, Manifest
from dbsp.targets.iceberg.commits import STEP, WRITER, once
from dbsp.targets.iceberg.types import schema_of, widened

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile as Entry
    from pyiceberg.partitioning import PartitionKey
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table, Transaction
    from pyiceberg.table.metadata import TableMetadata

# as other writers have it unless a table says otherwise
_PROPERTIES = {"commit.manifest-merge.enabled": "true"}


@dataclass
class IcebergManifest(Manifest):
    """logged: where the table is. schema: of the rows. partitioned_by: columns, by their values. properties,
    comment: of a table that is made. Held versions are snapshots.
    """

    logged: Logged = field(default_factory=lambda: Logged("", ""))
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    partitioned_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    _made: dict[str, Entry] = field(default_factory=dict)
    _table: Table = field(init=False)

    @property
    def place(self) -> str:
        """See `Manifest`."""
        return self.logged.place

    @property
    def is_untold(self) -> bool:
        """Never: readers ask the catalogue."""
        return False

    def is_filled(self) -> bool:
        """See `Manifest`."""
        return bool(self._entries)

    def is_untouched(self) -> bool:
        """Whether the last snapshot is the one that was written, and the columns are its."""
        last = self._table.current_snapshot()
        if last is None or last.snapshot_id != self.held.version:
            return False
        return bool(last.schema_id == self._table.metadata.current_schema_id)

    def writing(self) -> AbstractContextManager[None]:
        """See `Manifest`; a table that is out of reach is one line, too."""
        return _writing(self.logged.place)

    def begin_anew(self) -> None:
        """See `Manifest`: the snapshot deletes what there is."""

    def there(self) -> list[str]:
        """See `Manifest`: by their addresses."""
        return [*self._entries]

    def add(self, folder: str, rows: pa.RecordBatch) -> DataFile:
        """See `Manifest`. folder: none; the rows have the same values by which the table is partitioned."""
        from pyiceberg.io.pyarrow import pyarrow_to_schema, write_file  # noqa: PLC0415  an extra
        from pyiceberg.table import WriteTask  # noqa: PLC0415

        metadata = self._commit.table_metadata
        stored = widened(pa.Table.from_batches([rows]))
        schema = pyarrow_to_schema(stored.schema, name_mapping=metadata.schema().name_mapping)
        key = _key(metadata, rows.slice(0, 1)) if self.partitioned_by else None
        task = WriteTask(uuid.uuid4(), 0, schema, stored.to_batches(), partition_key=key)
        (made,) = write_file(self._table.io, metadata, iter([task]))
        made.spec_id = metadata.default_spec_id  # which a file has once a manifest names it
        self._made[made.file_path] = made
        return DataFile(made.file_path, rows.num_rows, made.file_size_in_bytes)

    def read(self, path: str) -> pa.Table:
        """See `Manifest`."""
        metadata = self._commit.table_metadata if path in self._made else self._table.metadata
        file = self._made.get(path) or self._entries[path]
        tasks = tasks_of(self._table, metadata, self.schema, [file])
        return tasks.table()

    def discard(self, path: str) -> None:
        """See `Manifest`."""
        del self._made[path]
        self._table.io.delete(path)

    def write(self, held: Held) -> None:
        """See `Manifest`. Raises StateError where somebody else commits meanwhile."""
        from pyiceberg.exceptions import CommitFailedException  # noqa: PLC0415

        said = {WRITER: held.writer, STEP: str(held.step)}
        kinds = self._commit.update_snapshot(snapshot_properties=said)
        snapshot = kinds.overwrite() if held.removed else kinds.merge_append()
        _ask_apart(snapshot)
        for path in held.added:
            snapshot.append_data_file(self._made[path])
        for path in held.removed:
            snapshot.delete_data_file(self._entries[path])
        begun = replace(held, version=snapshot.snapshot_id)
        self._begin(begun)
        try:
            snapshot.commit()
            self._commit.commit_transaction()
        except CommitFailedException as error:
            raise StateError(f"{self.place}: somebody else has committed; run it again") from error
        self._keep(begun)
        self._forget()
        once(self._table)  # which has the commit's metadata now

    def check_features(self) -> None:
        """Raises StateError for a table that is partitioned in another way."""
        fields = self._table.spec().fields
        names = [self._table.schema().find_column_name(each.source_id) for each in fields]
        if names != [*self.partitioned_by] or any(str(each.transform) != "identity" for each in fields):
            raise StateError(
                f"table {self.place} is partitioned by ({', '.join(map(str, fields))}), and is to be by "
                f"({', '.join(self.partitioned_by)}); drop it, to have it made anew"
            )

    def _make(self) -> None:
        from pyiceberg.exceptions import NoSuchTableError  # noqa: PLC0415

        self._forget()
        with self.writing():
            catalog = iceberg_catalog(self.logged)
            try:
                table = catalog.load_table(self.logged.place)
            except NoSuchTableError:
                table = self._made_in(catalog)
        self._table = once(table)

    def _made_in(self, catalog: Catalog) -> Table:
        catalog.create_namespace_if_not_exists(self.logged.place.rpartition(".")[0])
        said = {} if self.comment is None else {"comment": self.comment}
        properties = {**_PROPERTIES, **self.properties, **said}
        with catalog.create_table_transaction(
            self.logged.place, schema_of(self.schema), properties=properties
        ) as made:
            if self.partitioned_by:
                with made.update_spec() as by:
                    for name in self.partitioned_by:
                        by.add_identity(name)
        return catalog.load_table(self.logged.place)

    def _forget(self) -> None:
        """What is known of the table, which is another one from now on."""
        for name in ("_entries", "_commit"):
            self.__dict__.pop(name, None)
        self._made.clear()

    def _goes_on(self, begun: Held) -> bool:
        return self._table.snapshot_by_id(begun.version) is not None

    def _finish(self, held: Held) -> None:
        """Of a step whose snapshot there is: only the record is left."""
        self._keep(held)

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        """The files of the last snapshot, by their addresses."""
        from pyiceberg.manifest import DataFileContent  # noqa: PLC0415

        last = self._table.current_snapshot()
        return {
            entry.data_file.file_path: entry.data_file
            for manifest in (last.manifests(self._table.io) if last is not None else ())
            for entry in manifest.fetch_manifest_entry(self._table.io)
            if entry.data_file.content is DataFileContent.DATA
        }

    @cached_property
    def _commit(self) -> Transaction:
        """Of a step that is written, with the columns that it has."""
        commit = self._table.transaction()
        wanted = _numbered(schema_of(self.schema))
        if _said(wanted) != _said(commit.table_metadata.schema()):
            self._check_partitions(wanted)
            _become(commit, wanted)
        return commit

    def _check_partitions(self, wanted: Schema) -> None:
        """Raises StateError where a column by which the table is partitioned gets another type."""
        there = _said(self._table.schema())
        for name, kind, _ in _said(wanted):
            have = [(other, required) for each, other, required in there if each == name]
            if name in self.partitioned_by and have != [(kind, False)]:
                raise StateError(
                    f"table {self.place} is partitioned by {name}, which is to be {kind}; drop it, to have "
                    "it made anew"
                )


def _ask_apart(snapshot: Any) -> None:
    """Have pyiceberg's threads ask evaluators of their own which manifests may have a file that goes.

    One keeps the manifest that it looks at. Threads that share it answer for each other's, and miss files.
    """
    evaluator = snapshot._build_manifest_evaluator

    def may_have(spec: int, manifest: Any) -> Any:
        return evaluator(spec)(manifest)

    snapshot._build_manifest_evaluator = partial(partial, may_have)


def _numbered(schema: pa.Schema) -> Schema:
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids  # noqa: PLC0415
    from pyiceberg.schema import assign_fresh_schema_ids  # noqa: PLC0415

    return assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(schema))


def _said(schema: Schema) -> list[tuple[str, str, bool]]:
    """Names and types, whichever numbers they have."""
    from pyiceberg.schema import assign_fresh_schema_ids  # noqa: PLC0415

    fresh = assign_fresh_schema_ids(schema)
    return [(each.name, str(each.field_type), each.required) for each in fresh.fields]


def _become(commit: Transaction, wanted: Schema) -> None:
    """Of a table that is written anew: a column that is of another type is another column."""
    have = {name: (kind, required) for name, kind, required in _said(commit.table_metadata.schema())}
    same = {name for name, kind, required in _said(wanted) if have.get(name) == (kind, required)}
    with commit.update_schema(allow_incompatible_changes=True) as update:
        for name in have.keys() - same:
            update.delete_column((name,))
        for each in wanted.fields:
            if each.name not in same:
                update.add_column((each.name,), each.field_type)
    names = [each.name for each in wanted.fields]
    with commit.update_schema() as update:
        update.move_first((names[0],))
        for before, name in pairwise(names):
            update.move_after((name,), (before,))


def _key(metadata: TableMetadata, row: pa.RecordBatch) -> PartitionKey:
    """Of rows like this one."""
    from pyiceberg.partitioning import PartitionFieldValue, PartitionKey  # noqa: PLC0415

    spec, schema = metadata.spec(), metadata.schema()
    values = [
        PartitionFieldValue(each, row.column(schema.find_column_name(each.source_id))[0].as_py())
        for each in spec.fields
    ]
    return PartitionKey(values, spec, schema)


@contextmanager
def _writing(place: str) -> Iterator[None]:
    from pyiceberg.exceptions import NoSuchTableError, RESTError  # noqa: PLC0415

    try:
        yield
    except (NoSuchTableError, RESTError, OSError) as error:
        raise StateError(f"table {place} can't be written: {' '.join(str(error).split())}") from error
