"""Pieces of a table with a log, read by tasks as they are read without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import SparkSession

from dbsp.declared.logs.changed import Rows
from dbsp.pipeline.spark.in_tasks import ReadInTasks

_TOGETHER = 1 << 17  # rows of a batch: tasks of a step share them out whole


def in_tasks(spark: SparkSession, pieces: Rows) -> ReadInTasks:
    """The rows of the pieces."""
    return ReadInTasks(spark, len(pieces.pieces), pieces.schema, _Read(pieces))


@dataclass(frozen=True)
class _Read:
    """The rows of pieces by their numbers. pieces: a dataclass."""

    pieces: Rows

    def __call__(self, numbers: Iterable[int], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.pieces.schema.field(name) for name in columns])
        found = replace(self.pieces, schema=schema)  # type: ignore[type-var]
        for number in numbers:
            for rows in found.read(found.pieces[number]):
                yield from rows.to_batches(_TOGETHER)
