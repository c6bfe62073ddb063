"""A source that is a directory of Parquet files, listed and read without Spark.

    what Spark lists   the files of the directory itself whose names don't begin with '.' or '_'
    what Spark reads   the columns by their names, as the table's types

A directory with more in it than that (partitions, summary files, a stream's log), and a file whose columns
are of other types, or whose dates are of another calendar, isn't known here: `Unknown`, and Spark is asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from dbsp.circuits.errors import StateError
from dbsp.declared.project.surroundings import Arrived, Files, news
from dbsp.declared.remembered.source import Unknown

# a name that is the same in a URI
_PLAIN = re.compile(r"[A-Za-z0-9._+=-]+")
_PROLEPTIC = (3, 1)  # the first version of Spark that writes all dates and times by one calendar
_VERSION = b"org.apache.spark.version"
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_INT96 = "INT96"


@dataclass(frozen=True)
class ParquetFiles:
    """root: of the files. prefix: what Spark spells before their names. schema: as rows of the table are.

    inferred: of a table that is named by its path the file that Spark finds its columns in, by its name, with
    its size and time.
    """

    root: Path
    prefix: str
    schema: pa.Schema
    inferred: tuple[str, list[int]] | None

    def check_there(self) -> None:
        """See `Source`."""
        self.listed()

    def news(self, streamed: bool, known: Files) -> tuple[Arrived, int]:
        """See `Source`."""
        found = news(self.listed(), streamed, known)
        self.check(found.new)
        return found.arrived(self.read), sum(found.files[file][0] for file in found.new)

    def listed(self) -> Files:
        """The files, as they are now. Raises Unknown."""
        found: dict[str, list[int]] = {}
        try:
            entries = sorted(os.scandir(self.root), key=lambda entry: entry.name)
        except OSError as error:
            raise Unknown from error
        for entry in entries:
            if entry.name.startswith(("_metadata", "_common_metadata", "_spark_metadata")):
                raise Unknown
            if entry.name.startswith(".") or (entry.name.startswith("_") and "=" not in entry.name):
                continue
            if not entry.is_file() or not _PLAIN.fullmatch(entry.name) or entry.name.endswith("_COPYING_"):
                raise Unknown
            status = entry.stat()
            found[f"{self.prefix}/{entry.name}"] = [status.st_size, status.st_mtime_ns]
        if self.inferred is not None:
            name, seen = self.inferred
            first = f"{self.prefix}/{name}"
            if not found or min(found) != first or found[first] != seen:
                raise Unknown
        return found

    def check(self, files: Iterable[str]) -> None:
        """Raises Unknown for a file whose columns Spark would have to convert."""
        for file in files:
            with self._opened(file) as opened:
                self._check(opened)

    def read(self, files: Iterable[str]) -> pa.Table:
        """The rows of files that `check` takes. Raises StateError for one that is gone since."""
        try:
            return self._read(files)
        except Unknown as error:
            raise StateError(f"{self.root}: files went while they were read; run it again") from error

    def _read(self, files: Iterable[str]) -> pa.Table:
        names = self.schema.names
        parts = []
        for file in files:
            with self._opened(file) as opened:
                found = opened.read(names).select(names)
                columns = [
                    _as(column, field) for column, field in zip(found.columns, self.schema, strict=True)
                ]
                parts.append(pa.table(columns, schema=self.schema))
        return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def _opened(self, file: str) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(
                self.root / file.removeprefix(f"{self.prefix}/"), coerce_int96_timestamp_unit="us"
            )
        except (OSError, pa.ArrowException) as error:
            raise Unknown from error

    def _check(self, opened: pq.ParquetFile) -> None:
        said = opened.metadata.metadata or {}
        version = said.get(_VERSION)
        if any(key in said for key in _LEGACY):
            raise Unknown
        if version is not None and tuple(map(int, re.findall(rb"\d+", version)[:2])) < _PROLEPTIC:
            raise Unknown
        have = opened.schema_arrow
        spelled = [name.lower() for name in have.names]
        physical = {
            column.path: column.physical_type
            for column in (opened.schema.column(i) for i in range(len(opened.schema)))
        }
        for field in self.schema:
            if spelled.count(field.name.lower()) != 1 or field.name not in have.names:
                raise Unknown
            kind = have.field(field.name).type
            if physical.get(field.name) == _INT96:
                if not (pt.is_timestamp(field.type) and field.type.tz is not None):
                    raise Unknown
            elif pt.is_nested(kind) or kind != field.type:
                raise Unknown


def _as(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """A moment as INT96 has no time zone: it is UTC's."""
    if column.type == field.type:
        return column
    return pc.assume_timezone(column, "UTC")
