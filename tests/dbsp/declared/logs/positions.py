"""Commits to an Iceberg table that delete rows beside its files, by their positions, as Spark's writer makes
them: each file of deletions is of one file, which its bounds say, or may be of several.
"""

from __future__ import annotations

import uuid

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
)
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles

_PATH = 2147483546
_SCHEMA = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": str(_PATH)}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
)


class _Deletes(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


class _DeleteRows(_FastAppendFiles):
    def __init__(self, transaction, io, files):
        super().__init__(Operation.DELETE, transaction, io)
        self.files = files

    def _manifests(self):
        given = (self.schema(), self.new_manifest_output(), self.snapshot_id, self._compression)
        with _Deletes(self._transaction.table_metadata.spec(), *given) as writer:
            for file in self.files:
                writer.add(
                    ManifestEntry.from_args(
                        status=ManifestEntryStatus.ADDED,
                        snapshot_id=self.snapshot_id,
                        sequence_number=None,
                        file_sequence_number=None,
                        data_file=file,
                    )
                )
        return [writer.to_manifest_file(), *self._existing_manifests()]


def delete_rows_beside(random_, table, content=DataFileContent.POSITION_DELETES, bounded=None):
    """Of one file some rows, which may be deleted already."""
    tasks = sorted(table.scan().plan_files(), key=lambda task: task.file.file_path)
    if not tasks:
        return
    data = random_.choice(tasks).file
    rows = [n for n in range(data.record_count) if random_.random() < 0.4] or [0]
    place = f"{table.location()}/data/{uuid.uuid4()}-deletes.parquet"
    deleted = pa.table({"file_path": [data.file_path] * len(rows), "pos": rows}, schema=_SCHEMA)
    with table.io.new_output(place).create() as file:
        pq.write_table(deleted, file)
    bounded = random_.random() < 0.5 if bounded is None else bounded
    bounds = {_PATH: data.file_path.encode()} if bounded else {}
    made = DataFile.from_args(
        content=content,
        file_path=place,
        file_format=FileFormat.PARQUET,
        partition=data.partition,
        record_count=len(rows),
        file_size_in_bytes=len(table.io.new_input(place)),
        column_sizes={},
        value_counts={},
        null_value_counts={},
        nan_value_counts={},
        lower_bounds=bounds,
        upper_bounds=bounds,
        split_offsets=[],
        equality_ids=[1] if content is DataFileContent.EQUALITY_DELETES else None,
    )
    made.spec_id = data.spec_id
    with table.transaction() as commit:
        _DeleteRows(commit, table.io, [made]).commit()
    table.refresh()
