"""What the footer of a file of Parquet says of its columns, and how Spark takes it.

INT96               days of Julius Caesar's calendar and nanoseconds, as Spark writes times unless it is told
                    otherwise: instants; Arrow takes them for local times
whose calendar      by the version of Spark that wrote the file, and what that noted: DataSourceUtils.scala;
                    of other writers it is the reader who says so
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

INSTANT = pa.timestamp("us", "UTC")
_JULIAN = "INT96"
_VERSION = b"org.apache.spark.version"
_LEGACY, _LEGACY_JULIAN = b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"
# as some writers of Arrow's note of what to them is one type
_LARGE = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}


def opened(file: str | Path | IO[bytes]) -> pq.ParquetFile:
    """Times in microseconds, as Spark's are: in nanoseconds those of INT96 would end in 2262."""
    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us")


@dataclass(frozen=True)
class Days:
    """Whether days and times are of today's calendar where their file doesn't say whose they are: those that
    are numbers, and those of INT96.
    """

    numbers: bool = True
    julian: bool = True

    def are_of_today(self, said: Mapping[bytes, bytes], julian: bool) -> bool:
        """Spark's own rule. said: by who wrote the file."""
        version = said.get(_VERSION)
        if version is None:
            return self.julian if julian else self.numbers
        since, legacy = ((3, 1), _LEGACY_JULIAN) if julian else ((3, 0), _LEGACY)
        return legacy not in said and tuple(map(int, re.findall(rb"\d+", version)[:2])) >= since


def fits(file: pq.ParquetFile, columns: Mapping[str, pa.DataType], days: Days = Days()) -> bool:
    """Whether each column is there by that name, once in whatever case, of that type and of today's calendar.

    No nested one is. A cast of it to its type is what Spark reads.
    """
    schema, said = file.schema_arrow, file.metadata.metadata or {}
    spelled = [name.lower() for name in schema.names]
    there = {column.path: column.physical_type for column in map(file.schema.column, range(len(file.schema)))}
    return all(
        name in there
        and name in schema.names
        and spelled.count(name.lower()) == 1
        and _as_read(schema.field(name).type, there[name]) == data_type
        and (not _is_of_day(data_type) or days.are_of_today(said, there[name] == _JULIAN))
        for name, data_type in columns.items()
    )


def _as_read(found: pa.DataType, physical: str) -> pa.DataType:
    """The type that Spark reads."""
    if physical == _JULIAN and found == pa.timestamp("us"):
        return INSTANT
    return _LARGE.get(found, found)


def _is_of_day(data_type: pa.DataType) -> bool:
    return bool(pt.is_date(data_type) or pt.is_timestamp(data_type))
