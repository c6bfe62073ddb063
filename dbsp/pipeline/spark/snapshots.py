"""Batch sources that are read whole, again and again: the change is the difference from what the table holds.

Exactly once without any offsets: the difference is from the last committed step, so a step that died is made
again, of what is there by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.columns.arrow import concat
from dbsp.circuits.errors import Error, SharedKey
from dbsp.circuits.operators.inputs.bad import REFUSED_SCHEMA
from dbsp.circuits.segments.chunk import Chunk
from dbsp.pipeline.deltas.told import Told
from dbsp.pipeline.spark.bad_rows import MARKS, keeping_of, opened
from dbsp.pipeline.spark.excel import read_sheet
from dbsp.pipeline.spark.fed import Fed
from dbsp.pipeline.spark.iceberg import Look, is_of_catalog, look_at
from dbsp.pipeline.spark.sources import apart_of, check_scheme, named
from dbsp.pipeline.spark.staging import stage, stage_apart
from dbsp.running.queue import weighted
from dbsp.running.spark.messages import SparkFailure, first_line
from dbsp.sql.plans.program import EXCEL, HIVE, Program, Table
from dbsp.targets.directories import path_of


def snapshot_tables(program: Program) -> list[Table]:
    """The tables that are compared with their source."""
    return [table for table in program.inputs.values() if table.is_snapshot]


@dataclass
class Looks:
    """When a run has read each source, by a clock that only goes forward: it begins with all of them."""

    tables: Sequence[Table]
    _read: dict[str, float] = field(default_factory=dict)
    # of sources that tell what they are: as of the last step, and of the next one
    _versions: dict[str, str] = field(default_factory=dict)
    _next: dict[str, str] = field(default_factory=dict)

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
        self._versions |= self._next
        self.forget()

    def saw(self, table: Table, version: str) -> bool:
        """Whether the last step's look found the same; if not, the next step's does."""
        self._next[table.name] = version
        return self._versions.get(table.name) == version

    def version_of(self, table: Table) -> str | None:
        """What the last step's look found; None: there was none."""
        return self._versions.get(table.name)

    def forget(self) -> None:
        """A step wasn't made."""
        self._next = {}


def queue_differences(
    pipeline: Fed,
    spark: SparkSession,
    tables: Sequence[Table],
    looks: Looks,
    told: Told,
    refuse: Callable[[Table, pa.RecordBatch], None],
) -> None:
    """Queue for each of them what it lacks, and what is gone. Nothing else is queued for them.

    What tells that it is as it was isn't read, unless somebody else has changed its table. told: which bad
    rows were. refuse: takes those that weren't, and their weights. Raises Error where a
    source can't be read, DataError for rows that don't fit.
    """
    for table in tables:
        try:
            look = look_at(table) if is_of_catalog(table) else None
            if look is not None and table.name not in pipeline.given:
                before = looks.version_of(table)
                if looks.saw(table, look.version) or _queue_since(pipeline, spark, table, look, before):
                    continue
            elif look is not None:
                looks.saw(table, look.version)
            read = partial(_read, spark, table, look)
            if not table.keeps_bad_rows:
                pipeline.hold(table.name, stage(pipeline, table, read(), 1))
                continue
            try:
                _queue_apart(pipeline, table, read(), told, refuse)
            except SharedKey:  # seldom so: to count the rows of each key costs as much as all else
                _queue_apart(pipeline, table, read(one_a_key=True), told, refuse)
        except SparkFailure as error:
            why = first_line(error)
            raise Error(f"{table.location}: table '{table.name}' can't be read: {why}") from error


def _queue_since(pipeline: Fed, spark: SparkSession, table: Table, look: Look, before: str | None) -> bool:
    """Queue the rows of what came and went since a version of the source, if that is the difference.

    With a key it isn't where several rows have one, nor where rows are bad, which are told as often as
    they are there; nor with a DEFAULT, which isn't the one that it was.
    """
    if before is None or table.primary_key or table.defaults:
        return False
    found = look.since(spark, before)
    if found is None:
        return False
    keeping = keeping_of(table, None)
    beside = MARKS if keeping is not None else ()
    good: list[Chunk] = []
    bad: list[Chunk] = []
    try:
        for frame, weight in zip(found, (1, -1), strict=True):
            rows, others = stage_apart(pipeline, table, named(table, frame), weight, keeping, beside)
            good += rows
            bad += others
    except BaseException:
        pipeline.store.discard({chunk.segment for chunk in good})
        raise
    if bad:
        pipeline.store.discard({chunk.segment for chunk in (*good, *bad)})
        return False
    for chunk in good:
        pipeline.change(table.name, chunk)
    return True


def _queue_apart(
    pipeline: Fed,
    table: Table,
    frame: DataFrame,
    told: Told,
    refuse: Callable[[Table, pa.RecordBatch], None],
) -> None:
    """frame: with MARKS."""
    good, bad = stage_apart(pipeline, table, frame, 1, keeping_of(table, None), MARKS)
    try:
        batches = [opened(chunk, pipeline.store.segments).select(REFUSED_SCHEMA.names) for chunk in bad]
        pipeline.hold(table.name, good)
        untold = told.untold(table.name, concat(REFUSED_SCHEMA, batches))
    finally:
        pipeline.store.discard({chunk.segment for chunk in bad})
    if untold.num_rows:
        refuse(table, weighted(untold, np.ones(untold.num_rows, np.int64)))


def _read(spark: SparkSession, table: Table, look: Look | None, one_a_key: bool = False) -> DataFrame:
    assert table.format is not None
    if look is not None:
        return named(table, look.frame(spark), one_a_key=one_a_key)
    if table.is_file:
        check_scheme(spark, table)
        return named(table, apart_of(spark.read, table).load(path_of(table)), one_a_key=one_a_key)
    if table.format.lower() == EXCEL:
        return read_sheet(spark, table, one_a_key)
    if table.format.lower() == HIVE:
        spark.catalog.refreshTable(table.option("table"))  # others may have written files of it
        frame = spark.read.table(table.option("table"))
    else:
        frame = spark.read.format(table.format).options(**table.options).load()
    return named(table, frame, one_a_key=one_a_key)
