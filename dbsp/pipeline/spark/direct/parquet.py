"""Small files of Parquet, read where the pipeline is.

    Spark plans a micro-batch → its checkpoint names the files → read here → stage → step
                                                 not vouched for: Spark reads → stage

A job of Spark's takes longer than a small step, however little it reads. Which files a step takes is planned
by Spark's source and kept by its checkpoint as ever, so that a step is made again of the same files whoever
reads them. Vouched for are files of few rows on this machine, whose columns are what the table says, by name
and type, and have values where they must. Of dates and times it must be known that they are of today's
calendar, as Spark knows it (`footers.Days`). All other files are Spark's to read, and to refuse.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyspark.sql import SparkSession

from dbsp.circuits.steps.reads import read_columns
from dbsp.pipeline.spark.bad_rows import MARKS, keeping_of
from dbsp.pipeline.spark.fed import Fed
from dbsp.pipeline.spark.planned import local_path
from dbsp.pipeline.spark.staging import Rows, Staging
from dbsp.rows.parquet import footers
from dbsp.rows.parquet.footers import INSTANT, Days, fits
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field

# of a step: a job of Spark's takes about as long as these take here
FILES, ROWS, BYTES = 16, 100_000, 1 << 24
# of Spark's source, which say what a step takes and not how it is read
_PLANNING = {"path", "maxfilespertrigger", "maxbytespertrigger", "latestfirst", "maxfileage", "cleansource"}
_REBASING = ("datetimeRebaseModeInRead", "int96RebaseModeInRead", "int96TimestampConversion")


@dataclass(frozen=True)
class ParquetFiles:
    """Of a table. staging: of its rows. read: the columns that something reads; others are NULL where they
    may be.
    """

    table: Table
    staging: Staging
    read: frozenset[int]
    days: Days

    def opened(self, paths: Sequence[str]) -> list[pq.ParquetFile] | None:
        """The files, if all can be vouched for as far as their footers say."""
        if self.table.primary_key and len(paths) > 1:
            return None  # of rows with one key the order counts, and that of files is Spark's
        files = []
        for path in paths:
            if "=" in path:
                return None  # a directory may be the value of a column
            files.append(footers.opened(path))
            if not fits(files[-1], self._types, self.days):
                return None
        return files

    def rows(self, files: Iterable[pq.ParquetFile]) -> list[pa.RecordBatch] | None:
        """Their rows as Spark would read them; None: one has no value where it must."""
        wanted = [each for i, each in enumerate(self.table.schema) if i in self.read or self._is_needed(each)]
        wanted = wanted or [self.table.schema[0]]  # there are rows, whatever is in them
        batches = []
        for file in files:
            found = file.read(columns=[each.name for each in wanted], use_threads=False).combine_chunks()
            if any(self._is_needed(each) and found.column(each.name).null_count for each in wanted):
                return None
            batches += [self._whole(batch) for batch in found.to_batches()]
        return batches

    def _whole(self, found: pa.RecordBatch) -> pa.RecordBatch:
        """All columns of the table, and of one that keeps bad rows what Spark says of good ones."""
        there = {*found.schema.names}
        columns = {
            each.name: found.column(each.name).cast(each.type)
            if each.name in there
            else pa.nulls(len(found), each.type)
            for each in self.table.schema
        }
        if self.table.keeps_bad_rows:
            columns |= {mark: pa.nulls(len(found), pa.string()) for mark in MARKS}
        return pa.RecordBatch.from_pydict(columns)

    def _is_needed(self, column: Field) -> bool:
        return not column.nullable or column.name in self.table.primary_key

    @cached_property
    def _types(self) -> dict[str, pa.DataType]:
        return {each.name: each.type for each in self.table.schema}


def days_of(spark: SparkSession) -> Days:
    """As the session says."""
    numbers, julian, moved = (spark.conf.get(f"spark.sql.parquet.{name}") for name in _REBASING)
    return Days(numbers == "CORRECTED", julian == "CORRECTED" and moved == "false")


@dataclass
class NearFiles:
    """Of a run. tables: by relation, those whose small files are read here."""

    pipeline: Fed
    spark: SparkSession
    tables: dict[int, ParquetFiles] = field(default_factory=dict)

    def take(self, relation: int, table: Table) -> None:
        """Read the table's small files here, from now on, if it is one of which that can be vouched for."""
        if not _is_plain(table):
            return
        rows = Rows(table, 1, self.pipeline.program.timezone)
        read = read_columns(self.pipeline.program.circuit, table.name)
        staging = Staging(self.pipeline.store.segments.place, relation, rows, keeping_of(table, read))
        self.tables[relation] = ParquetFiles(table, staging, read, days_of(self.spark))

    def staged(
        self, relations: Iterable[int], files: Mapping[str, Sequence[str]]
    ) -> list[tuple[int, bytes]] | None:
        """Rows of STAGED of all these relations; None: Spark is to read them. files: URIs, by table."""
        parts: list[tuple[ParquetFiles, list[pa.RecordBatch]]] = []
        try:
            located = [*self._located(relations, files)]  # before the first footer is read
            there = [(near, near.opened(paths)) for near, paths in located]
            opened = [(near, found) for near, found in there if found is not None]
            if len(opened) < len(there) or not _are_few([file for _, found in opened for file in found]):
                return None
            for near, found in opened:
                rows = near.rows(found)
                if rows is None:
                    return None
                parts.append((near, rows))
        except (pa.ArrowException, OSError, _Elsewhere):
            return None  # Spark says what is wrong with it
        return [
            row
            for near, rows in parts
            for batch in near.staging(iter(rows))
            for row in zip(*batch.to_pydict().values(), strict=True)
        ]

    def _located(
        self, relations: Iterable[int], files: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[ParquetFiles, list[str]]]:
        """Raises _Elsewhere."""
        many = 0
        for relation in relations:
            near = self.tables.get(relation)
            if near is None:
                raise _Elsewhere
            paths = [path for uri in files[near.table.name] if (path := local_path(uri)) is not None]
            many += len(paths)
            if len(paths) < len(files[near.table.name]) or many > FILES:
                raise _Elsewhere
            if sum(map(os.path.getsize, paths)) > BYTES:
                raise _Elsewhere
            yield near, paths


class _Elsewhere(Exception):
    """Not of files that are read here."""


def _are_few(files: Sequence[pq.ParquetFile]) -> bool:
    """Rows, and bytes of what they become: a small file may hold one value a million times."""
    footers = [file.metadata for file in files]
    rows: int = sum(each.num_rows for each in footers)
    size: int = sum(each.row_group(i).total_byte_size for each in footers for i in range(each.num_row_groups))
    return rows <= ROWS and size <= BYTES


def _is_plain(table: Table) -> bool:
    """Rows of Parquet as they are, of types that have one form there."""
    if (table.format or "").lower() != "parquet" or table.changelog or table.value_format:
        return False
    if table.filled or table.checks:
        return False
    if table.records or not {name.lower() for name in table.options} <= _PLANNING:
        return False
    return all("." not in each.name and _has_one_form(each.type) for each in table.schema)


def _has_one_form(data_type: pa.DataType) -> bool:
    return bool(
        pt.is_signed_integer(data_type)
        or data_type in (pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.binary(), pa.date32())
        or data_type == INSTANT
        or pt.is_decimal128(data_type)
    )
