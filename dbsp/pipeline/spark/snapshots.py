"""Batch sources that are read whole, again and again: the change is the difference from what the table holds.

Exactly once without any offsets: the difference is from the last committed step, so a step that died is made
again, of what is there by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.columns.arrow import concat
from dbsp.circuits.errors import Error
from dbsp.circuits.operators.inputs.bad import REFUSED_SCHEMA
from dbsp.pipeline.deltas.absences import origin_of
from dbsp.pipeline.deltas.told import Told
from dbsp.pipeline.spark.bad_rows import MARKS, Keeping, opened
from dbsp.pipeline.spark.excel import read_sheet
from dbsp.pipeline.spark.fed import Fed
from dbsp.pipeline.spark.sources import check_scheme, named, path_of, reader_of
from dbsp.pipeline.spark.staging import stage_apart
from dbsp.running.queue import weighted
from dbsp.running.spark.messages import SparkFailure, first_line
from dbsp.sql.plans.program import EXCEL, Program, Table


def snapshot_tables(program: Program) -> list[Table]:
    """The tables that are compared with their source."""
    return [table for table in program.inputs.values() if table.is_snapshot]


@dataclass
class Looks:
    """When a run has read each source, by a clock that only goes forward: it begins with all of them."""

    tables: Sequence[Table]
    _read: dict[str, float] = field(default_factory=dict)

    def due(self) -> list[Table]:
        """Those that are to be read now."""
        now = time.monotonic()
        return [
            table
            for table in self.tables
            if table.name not in self._read or now - self._read[table.name] >= table.snapshot_every / 1e6
        ]

    def done(self, tables: Sequence[Table], at: float) -> None:
        """What these held then is true of their tables."""
        self._read |= {table.name: at for table in tables}


def queue_differences(
    pipeline: Fed,
    spark: SparkSession,
    tables: Sequence[Table],
    told: Told,
    refuse: Callable[[Table, pa.RecordBatch], None],
) -> None:
    """Queue for each of them what it lacks, and what is gone. Nothing else is queued for them.

    told: which bad rows were. refuse: takes those that weren't, and their weights. Raises Error where a
    source can't be read, DataError for rows that don't fit.
    """
    for table in tables:
        try:
            frame = _read(spark, table)
            if table.keeps_bad_rows:
                _queue_apart(pipeline, table, frame, told, refuse)
            else:
                pipeline.replace(table.name, frame)
        except SparkFailure as error:
            why = first_line(error)
            raise Error(f"{table.location}: table '{table.name}' can't be read: {why}") from error


def _queue_apart(
    pipeline: Fed,
    table: Table,
    frame: DataFrame,
    told: Told,
    refuse: Callable[[Table, pa.RecordBatch], None],
) -> None:
    """frame: with MARKS."""
    good, bad = stage_apart(pipeline, table, frame, 1, Keeping(table, origin_of(table)), MARKS)
    try:
        batches = [opened(chunk, pipeline.store.segments).select(REFUSED_SCHEMA.names) for chunk in bad]
        untold = told.untold(table.name, concat(REFUSED_SCHEMA, batches))
        pipeline.hold(table.name, good)
    finally:
        pipeline.store.discard({chunk.segment for chunk in bad})
    if untold.num_rows:
        refuse(table, weighted(untold, np.ones(untold.num_rows, np.int64)))


def _read(spark: SparkSession, table: Table) -> DataFrame:
    assert table.format is not None
    if table.is_file:
        check_scheme(spark, table)
        return named(table, reader_of(spark.read, table).load(path_of(table)))
    if table.format.lower() == EXCEL:
        return read_sheet(spark, table)
    return named(table, spark.read.format(table.format).options(**table.options).load())
