"""VARIANT: a value with its own type, in the two binaries that Spark and Parquet make of it.

Within, these have names that no struct of a user's has, so that a VARIANT is told from a struct; to the
outside they are Spark's own: what its `toArrow` gives, but for NULLs, which that can't hold.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

VARIANT = pa.struct([("variant value", pa.binary()), ("variant metadata", pa.binary())])
PLAIN = pa.struct([("value", pa.binary()), ("metadata", pa.binary())])
# the same, and Spark is told what it is
OUTSIDE = pa.struct(
    [
        pa.field("value", pa.binary()),
        pa.field("metadata", pa.binary(), metadata={"variant": "true"}),
    ]
)


class Variant(NamedTuple):
    """One of them."""

    value: bytes
    metadata: bytes


def holds_variant(data_type: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is VARIANT."""
    if data_type == VARIANT or not pa.types.is_nested(data_type):
        return bool(data_type == VARIANT)
    return any(holds_variant(data_type.field(i).type) for i in range(data_type.num_fields))
