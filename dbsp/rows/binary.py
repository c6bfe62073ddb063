"""Messages in Avro or Protobuf: a batch at once, in Spark's Python workers.

A batch that can't be decoded is halved until what can't is alone: with k bad ones among n each message is
decoded O(log n) times, without them once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import DataError
from dbsp.rows.avro import Avro
from dbsp.rows.protobuf import Protobuf

# a record's text, where it can't be read
CORRUPT = "__corrupt"


def decode_batch(decoder: Avro | Protobuf, values: pa.Array, keeps: bool) -> pa.StructArray:
    """NULL for NULL. keeps: column CORRUPT has what can't be decoded, in hexadecimal; else DataError."""
    is_valid = np.asarray(values.is_valid())
    there = values.filter(pa.array(is_valid))
    rows = pa.concat_arrays([decoder.decode(there.slice(0, 0)), *_parts(decoder, there, keeps)])
    places = pa.array(np.cumsum(is_valid) - 1, mask=~is_valid)
    if keeps:
        is_bad = rows.is_null()
        text = pa.array([value.hex() for value in there.filter(is_bad).to_pylist()], pa.string())
        where = pa.array(np.cumsum(is_bad) - 1, mask=~np.asarray(is_bad))
        columns, names = [*rows.flatten(), text.take(where)], [*rows.type.names, CORRUPT]
        rows = pa.StructArray.from_arrays(columns, names)
    return rows.take(places)


def _parts(decoder: Avro | Protobuf, values: pa.Array, keeps: bool) -> list[pa.StructArray]:
    try:
        return [decoder.decode(values)]
    except DataError as error:
        if len(values) > 1:
            half = len(values) // 2
            return _parts(decoder, values[:half], keeps) + _parts(decoder, values[half:], keeps)
        if not keeps:
            shown = values[0].as_py()[:40].hex()
            raise DataError(f"a message can't be decoded, in hexadecimal {shown}: {error}") from error
        return [pa.nulls(1, decoder.columns)]
