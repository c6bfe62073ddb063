"""Pieces of a table with a log as a DataFrame: each is read by a task, in Python, as without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbsp.declared.logs.changed import Rows

# files of one task, at least as many tasks as there are cores
_TASKS_A_CORE = 4


def frame_of(spark: SparkSession, pieces: Rows, ddl: str) -> DataFrame:
    """ddl: of the columns."""
    count = len(pieces.pieces)
    tasks = max(1, min(count, _TASKS_A_CORE * spark.sparkContext.defaultParallelism))
    return spark.range(0, count, 1, tasks).mapInArrow(_Read(pieces), ddl)


@dataclass(frozen=True)
class _Read:
    """The function for `mapInArrow`: the rows of the pieces that are numbered."""

    pieces: Rows

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for rows in self.pieces.read(self.pieces.pieces[number]):
                    yield from rows.to_batches()
