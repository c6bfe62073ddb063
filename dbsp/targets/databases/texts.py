"""Arrow columns as the texts that databases read in bulk."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DIGITS = np.frombuffer(bytes(range(256)).hex().encode(), np.uint8).reshape(256, 2)


def as_hex(values: pa.Array, prefix: str = "") -> pa.Array:
    """Of binary values: the prefix, and two digits a byte. large_string[n]"""
    large = values.cast(pa.large_binary())
    _, ends, data = large.buffers()
    offsets = np.frombuffer(ends, np.int64)[large.offset : large.offset + len(large) + 1]
    given = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]] if data else np.empty(0, np.uint8)
    digits = [pa.py_buffer(2 * (offsets - offsets[0])), pa.py_buffer(_DIGITS[given])]
    spelled = pa.Array.from_buffers(pa.large_string(), len(large), [None, *digits])
    before, nothing, none = (pa.scalar(value, pa.large_string()) for value in (prefix, "", None))
    return pc.if_else(values.is_valid(), pc.binary_join_element_wise(before, spelled, nothing), none)
