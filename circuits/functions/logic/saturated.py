"""Sums that never fail: the bounds of bands (`circuits/traces/band.py`), which are computed of rows without a
partner, too.
"""

from __future__ import annotations

import numpy as np
import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, result, vector

_LEAST, _GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@kernel("saturated_sum")
def saturated_sum(call: Call, value: Value, shift: Value) -> Value:
    """The value plus the shift, or the nearest that the call's type has, of microseconds for a TIMESTAMP and
    days for a DATE. The option `null` says where there is NULL instead: 'below' the least or 'above' the
    greatest.
    """
    a, b = vector(value), vector(shift)
    x, by = np.broadcast_arrays(a.values.astype(np.int64), b.values.astype(np.int64))
    with np.errstate(over="ignore"):
        wrapped: Numbers = x + by
    up, down = (by > 0) & (wrapped < x), (by < 0) & (wrapped > x)
    exact = np.where(up, _GREATEST, np.where(down, _LEAST, wrapped))
    width = 64 if pt.is_timestamp(call.type) else call.type.bit_width
    least, greatest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    valid = None
    if call.option("null") == "below":
        valid = ~down & (exact >= least)
    elif call.option("null") == "above":
        valid = ~up & (exact <= greatest)
    return result(call, np.clip(exact, least, greatest).astype(f"int{width}"), a, b, valid=valid)
