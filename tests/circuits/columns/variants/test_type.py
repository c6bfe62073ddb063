"""A VARIANT is told from the structs that users have."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.columns.variants.type import OUTSIDE, PLAIN, VARIANT, holds_variant


def test_it_is_found_inside_of_others() -> None:
    assert holds_variant(VARIANT)
    assert holds_variant(pa.list_(pa.struct([("a", pa.int32()), ("v", VARIANT)])))
    assert holds_variant(pa.map_(pa.string(), VARIANT))
    assert not any(map(holds_variant, (OUTSIDE, PLAIN, pa.binary(), pa.struct([]), pa.list_(pa.binary()))))


def test_only_spark_is_told_what_the_struct_is() -> None:
    assert OUTSIDE == PLAIN
    assert OUTSIDE.field("metadata").metadata == {b"variant": b"true"}
