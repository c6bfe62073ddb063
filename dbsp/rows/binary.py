"""Messages in Avro or Protobuf: a batch at once, in Spark's Python workers.

A decoder says of each message why it is none. One that can say it of a batch only is `halved`: with k bad
ones among n each message is decoded O(log n) times, without them once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import DataError

# a record's text, where it can't be read, and why
CORRUPT, WHY = "__corrupt", "__corrupt_why"


class Decoder(Protocol):
    """Of messages."""

    @property
    def columns(self) -> pa.StructType:
        """What it makes of them."""

    def decode(self, values: pa.Array) -> tuple[pa.StructArray, pa.Array]:
        """(rows, of each why it is none). values: BINARY, none NULL. A row that is none is NULL."""


def decode_batch(decoder: Decoder, values: pa.Array, keeps: bool) -> pa.StructArray:
    """NULL for NULL. keeps: columns CORRUPT, WHY say what can't be decoded, and why; else DataError."""
    is_valid = np.asarray(values.is_valid())
    there = values.filter(pa.array(is_valid))
    rows, why = decoder.decode(there)
    is_bad = np.asarray(why.is_valid())
    if is_bad.any() and not keeps:
        first = int(np.argmax(is_bad))
        shown = there[first].as_py()[:40].hex()
        raise DataError(f"a message can't be decoded, in hexadecimal {shown}: {why[first]}")
    if keeps:
        text = pa.array([value.hex() for value in there.filter(pa.array(is_bad)).to_pylist()], pa.string())
        where = pa.array(np.cumsum(is_bad) - 1, mask=~is_bad)
        columns, names = [*rows.flatten(), text.take(where), why], [*rows.type.names, CORRUPT, WHY]
        rows = pa.StructArray.from_arrays(columns, names)
    if is_valid.all():
        return rows
    return rows.take(pa.array(np.cumsum(is_valid) - 1, mask=~is_valid))


def halved(
    decode: Callable[[pa.Array], pa.StructArray], values: pa.Array, columns: pa.StructType
) -> tuple[pa.StructArray, pa.Array]:
    """As `Decoder.decode`, by one that raises DataError for the batch."""
    try:
        return decode(values), pa.nulls(len(values), pa.string())
    except DataError as error:
        if len(values) == 1:
            return pa.nulls(1, columns), pa.array([str(error)])
        half = len(values) // 2
        parts = [halved(decode, each, columns) for each in (values[:half], values[half:])]
        return pa.concat_arrays([rows for rows, _ in parts]), pa.concat_arrays([why for _, why in parts])
