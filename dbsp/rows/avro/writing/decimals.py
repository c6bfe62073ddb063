"""Decimals as Avro has them: whole numbers, the highest byte first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values
from dbsp.circuits.expressions.vectors.numbers import Numbers

_WIDTH, _MOST = 16, 38


def big_endian(values: pa.Array) -> Numbers:
    """uint8[n, 16]: the highest byte first; anything where NULL."""
    return (
        fixed_values(values.cast(pa.decimal128(_MOST, values.type.scale)))
        .view(np.uint8)
        .reshape(-1, 16)[:, ::-1]
    )


def shortest(values: pa.Array) -> pa.Array:
    """BINARY: as few bytes as hold the number and its sign."""
    high = big_endian(values)
    sign = np.where(high[:, 0] >= 0x80, 0xFF, 0).astype(np.uint8)
    spare = (high[:, :-1] == sign[:, None]) & ((high[:, 1:] >= 0x80) == (sign >= 0x80)[:, None])
    first = np.logical_and.accumulate(spare, axis=1).sum(axis=1)
    data = high[np.arange(_WIDTH) >= first[:, None]]
    offsets = np.concatenate([[0], np.cumsum(_WIDTH - first)]).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(values), [None, *map(pa.py_buffer, (offsets, data))])
