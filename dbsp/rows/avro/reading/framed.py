"""Messages that say by which schema they were written: a byte 0, its number in a registry, then the record.

Each schema is resolved against the columns once. Of a batch the messages of one schema are read together.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.errors import DataError, Error
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.registry import Registry

_HEAD = 5


@dataclass(frozen=True)
class Framed:
    """reader: what the program says of the columns, as JSON, or None. Raises Error where it is of no such."""

    registry: Registry
    columns: pa.StructType
    reader: str | None = None

    def __post_init__(self) -> None:
        if self.reader is not None:
            Avro(self.reader, self.columns)

    def decode(self, values: pa.Array) -> tuple[pa.StructArray, pa.Array]:
        """(rows, of each why it is none). values: BINARY, none NULL. A row that is none is NULL.

        Raises Error for a registry that doesn't answer.
        """
        numbers, is_framed = _numbers(values)
        parts = [pa.nulls(1, self.columns)]
        reasons = [pa.array(["it has no schema's number: a byte 0, then four of it"])]
        places = np.zeros(len(values), np.int64)
        count = 1
        for number in np.unique(numbers[is_framed]).tolist():
            own = np.flatnonzero(is_framed & (numbers == number))
            mine = values if len(own) == len(values) else values.take(pa.array(own))
            rows, why = self._decode(number, mine)
            if len(own) == len(values):
                return rows, why
            places[own] = np.arange(count, count + len(own))
            count += len(own)
            parts.append(rows)
            reasons.append(why)
        taken = pa.array(places)
        return pa.concat_arrays(parts).take(taken), pa.concat_arrays(reasons).take(taken)

    def _decode(self, number: int, values: pa.Array) -> tuple[pa.StructArray, pa.Array]:
        try:
            return _decoder(self.registry, number, self.columns, self.reader).decode(values, _HEAD)
        except DataError as error:
            return pa.nulls(len(values), self.columns), pa.repeat(str(error), len(values))


def framed(number: int) -> bytes:
    """What stands before a record."""
    return struct.pack(">bI", 0, number)


def _numbers(values: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    starts, lengths, data = byte_ranges(values)
    data = np.concatenate([data, np.zeros(_HEAD, np.uint8)])
    heads = data[starts[:, None] + np.arange(_HEAD)]
    numbers = np.ascontiguousarray(heads[:, 1:]).view(">u4")[:, 0].astype(np.int64)
    return numbers, (lengths >= _HEAD) & (heads[:, 0] == 0)


@lru_cache(maxsize=1024)
def _decoder(registry: Registry, number: int, columns: pa.StructType, reader: str | None) -> Avro:
    """Raises DataError where nothing of that schema can be read, Error where the registry doesn't say."""
    stored = registry.schema(number)
    try:
        return Avro(stored.text, columns, stored.before, reader, is_foreign=True)
    except Error as error:
        raise DataError(f"schema {number} of the registry: {error}") from error
