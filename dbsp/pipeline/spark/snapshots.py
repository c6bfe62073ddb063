"""Batch sources that are read whole, again and again: the change is the difference from what the table holds.

Exactly once without any offsets: the difference is from the last committed step, so a step that died is made
again, of what is there by then.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.excel import read_sheet
from dbsp.pipeline.spark.fed import Fed
from dbsp.pipeline.spark.sources import check_scheme, named, path_of, reader_of
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


def queue_differences(pipeline: Fed, spark: SparkSession, tables: Sequence[Table]) -> None:
    """Queue for each of them what it lacks, and what is gone. Nothing else is queued for them.

    Raises Error where a source can't be read, DataError for rows that don't fit.
    """
    for table in tables:
        try:
            pipeline.replace(table.name, _read(spark, table))
        except SparkFailure as error:
            why = first_line(error)
            raise Error(f"{table.location}: table '{table.name}' can't be read: {why}") from error


def _read(spark: SparkSession, table: Table) -> DataFrame:
    assert table.format is not None
    if table.is_file:
        check_scheme(spark, table)
        return named(table, reader_of(spark.read, table).load(path_of(table)))
    if table.format.lower() == EXCEL:
        return read_sheet(spark, table)
    return named(table, spark.read.format(table.format).options(**table.options).load())
