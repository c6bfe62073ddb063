"""Rows that tasks of Spark read themselves: they are staged where they are read, and no JVM sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ReadPieces(Protocol):
    """What a task does; it is pickled. Raises DataError, StateError."""

    def __call__(self, numbers: Iterable[int], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of the pieces with these numbers, of these columns, at least one."""


@dataclass(frozen=True)
class ReadInTasks:
    """pieces: how many there are; a task has one at least. schema: of the rows, as a table of them has it."""

    spark: SparkSession
    pieces: int
    schema: pa.Schema
    read: ReadPieces
