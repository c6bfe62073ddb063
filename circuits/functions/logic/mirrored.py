"""Values whose order is turned around (`circuits/expressions/mirror.py`).

    ~x for integers, dates and times: every one has its mirror        −x for decimals and floating point

NaN, the greatest number, is mirrored to the least, so that nothing is beyond it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.expressions.mirror import MIRRORED
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel


@kernel(MIRRORED)
def mirrored(call: Call, value: Value) -> Value:
    """Of any type that a column with LATENESS may have."""
    return mirrored_values(value)


def mirrored_values(value: Value) -> Value:
    """An array or a scalar, as it is but for its order; NULL stays NULL."""
    data_type = value.type
    if pt.is_floating(data_type):
        turned = pc.subtract(pa.scalar(0, data_type), value)
        return pc.if_else(pc.is_nan(turned), pa.scalar(-np.inf, data_type), turned)
    if pt.is_decimal(data_type):
        return pc.negate(value)
    if pt.is_integer(data_type):
        return pc.bit_wise_not(value)
    stored = pa.int32() if pt.is_date32(data_type) else pa.int64()
    if isinstance(value, pa.Scalar):
        return mirrored_values(pa.array([value], data_type))[0]
    return pc.bit_wise_not(value.view(stored)).view(data_type)
