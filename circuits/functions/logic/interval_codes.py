"""The order of intervals by length and start (`circuits/traces/interval_band.py`), as a column of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, both, vector

LEVEL_BITS = 27
BUCKETS = np.int64((1 << LEVEL_BITS) - 1)
# 4^31 is longer than any interval is looked at closely
LAST_LEVEL = 31
# order_code makes of a duration its units of 2²⁰ µs, from −2³¹ on
INTERVAL_CODE = pa.duration("us")
_UNIT = np.int64(20)
_LEAST = np.int64(-(1 << 31))


@kernel("interval_code")
def interval_code(call: Call, start: Value, end: Value) -> Value:
    """The order code of rows from start to end, as the duration that has it."""
    a, b = vector(start), vector(end)
    starts, ends = a.values.astype(np.int64), b.values.astype(np.int64)
    level = levels(starts, ends).astype(np.int64)
    code = (level << np.int64(LEVEL_BITS)) | ((starts >> (2 * level)) & BUCKETS)
    micros = (code + _LEAST) << _UNIT
    valid = both(a.valid, b.valid)
    null = None if valid is None else np.broadcast_to(~valid, micros.shape)
    made = pa.array(micros, pa.int64(), mask=null).view(INTERVAL_CODE)
    return made[0] if a.is_constant and b.is_constant else made


def levels(starts: Numbers, ends: Numbers) -> Numbers:
    """uint64[n]: a level whose buckets are no shorter than the interval; 0 where it ends before it starts."""
    length = np.where(ends > starts, ends.astype(np.uint64) - starts.astype(np.uint64), np.uint64(0))
    _, bits = np.frexp(length.astype(np.float64))
    return np.asarray(np.minimum((bits + 1) // 2, LAST_LEVEL), np.uint64)
