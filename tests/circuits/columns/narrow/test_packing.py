"""How many bytes a value takes follows from how the values differ."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.columns.narrow.column import Narrow
from dbsp.circuits.columns.narrow.joining import joined
from dbsp.circuits.columns.narrow.packing import fewer, narrowed

WHOLE = (pa.int64(), pa.int32(), pa.date32(), pa.timestamp("us", "UTC"), pa.decimal128(18, 2))


@pytest.mark.parametrize("of", WHOLE, ids=str)
def test_numbers_take_the_bytes_that_they_differ_by(of: pa.DataType) -> None:
    def bits(*values: int | None) -> int:
        plain = pa.array(values, pa.int64() if of.bit_width == 64 else pa.int32())
        column = narrowed(
            pa.array(values, pa.int32()).cast(of) if pa.types.is_decimal(of) else plain.cast(of)
        )
        return column.codes.type.bit_width if isinstance(column, Narrow) and column.is_coded else 0

    assert bits(7, 7, 7) == 0 and bits(None, None) == 0
    assert bits(10_000_000, 10_000_255) == bits(7, None) == 8
    if of == pa.int64():
        assert bits(0, 7_000_000, 49_000_000) == 8 and bits(0, 1, 49_000_000) == 32
        assert not isinstance(narrowed(pa.array([-(2**63), 2**63 - 1])), Narrow)
        assert not isinstance(narrowed(pa.array([0, 1, 2**33])), Narrow)


def test_text_is_a_dictionary_where_it_repeats() -> None:
    few, many = pa.array(["one word", "another"] * 500), pa.array([f"{i} of its own" for i in range(1000)])
    column = narrowed(few)
    assert isinstance(column, Narrow) and column.dictionary is not None
    assert (len(column.dictionary), column.codes.type) == (2, pa.int8())
    assert narrowed(many) is many
    # what was joined keeps no text of rows that are gone
    both = joined([column, narrowed(pa.array(["third"] * 500))])
    assert isinstance(both, Narrow) and both.dictionary is not None and len(both.dictionary) == 3
    left = fewer(both.with_codes(both.codes.slice(1000)))
    assert isinstance(left, Narrow) and left.dictionary is not None
    assert left.dictionary.to_pylist() == ["third"]
