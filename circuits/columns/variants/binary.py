"""How variants are written down (Parquet's Variant Encoding): what stands in a byte, and for how long.

    first byte   type · 4 + kind; kind 0: a primitive, 1: a short text, 2: an object, 3: an array
object       sizes in type: 0b_large_id_offset; a count, ids, offsets, values; keys in order
array        sizes in type: 0b_large_offset;    a count, offsets, values
metadata     version + 64 · (size of an offset − 1); a count, offsets, keys
"""

from __future__ import annotations

import struct

PRIMITIVE, SHORT, OBJECT, ARRAY = range(4)
(
    NULL, TRUE, FALSE, INT1, INT2, INT4, INT8, DOUBLE, DECIMAL4, DECIMAL8, DECIMAL16, DATE, TIMESTAMP,
    TIMESTAMP_NTZ, FLOAT, BINARY, TEXT,
) = range(17)  # fmt: skip

INTEGERS = {INT1: 1, INT2: 2, INT4: 4, INT8: 8}  # bytes of each
DECIMALS = {DECIMAL4: 4, DECIMAL8: 8, DECIMAL16: 16}
FLOATS = {DOUBLE: struct.Struct("<d"), FLOAT: struct.Struct("<f")}
DIGITS = {DECIMAL4: 9, DECIMAL8: 18, DECIMAL16: 38}  # of a decimal, at most
LONGEST_SHORT = 63
LARGE = 255  # elements, beyond which their number takes four bytes
VERSION = 1


def width(number: int) -> int:
    """Bytes that hold it."""
    return max(1, (number.bit_length() + 7) // 8)
