"""Decimals of Avro: whole numbers in as many bytes as they need, the highest first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import from_fixed_values
from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.rows.avro.reading.messages import Messages

_WIDTH, _WIDEST = 16, 64
_MOST = 38


def decimals(messages: Messages, rows: Numbers, data: pa.Array, scale: int) -> pa.Array:
    """DECIMAL(38, scale) of BINARY; messages whose number has more digits are refused."""
    starts, lengths, given = byte_ranges(data)
    given = np.concatenate([given, np.zeros(1, np.uint8)])
    messages.refuse(rows[lengths == 0], "a decimal has no digits")
    sign = np.where((lengths > 0) & (given[starts] >= 0x80), 0xFF, 0).astype(np.uint8)
    low = np.repeat(sign[:, None], _WIDTH, axis=1)  # the lowest byte first
    for k in range(_WIDTH):
        there = np.flatnonzero(lengths > k)
        low[there, k] = given[starts[there] + lengths[there] - 1 - k]
    fits = (low[:, -1] >= 0x80) == (sign >= 0x80)
    for k in range(_WIDTH, min(int(lengths.max(initial=0)), _WIDEST)):
        there = np.flatnonzero(lengths > k)
        fits[there] &= given[starts[there] + lengths[there] - 1 - k] == sign[there]
    fits &= lengths <= _WIDEST
    # of 39 digits some fit 16 bytes: their first 8 bytes tell most, Decimal the rest
    high = low[:, 8:].copy().view("<i8")[:, 0]
    near = np.flatnonzero(np.abs(high // 2) >= 10**_MOST // 2**65)
    for i in near:
        fits[i] &= abs(int.from_bytes(low[i].tobytes(), "little", signed=True)) < 10**_MOST
    messages.refuse(rows[~fits], f"a decimal has more than {_MOST} digits")
    low[~fits] = 0
    return from_fixed_values(np.ascontiguousarray(low).view("V16")[:, 0], pa.decimal128(_MOST, scale))
