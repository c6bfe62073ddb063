"""Parts of messages: numbers as Avro writes them, and blocks of items."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.rows.avro.defaults import long
from dbsp.rows.avro.reading.messages import Messages
from dbsp.rows.avro.writing.bytes import counted, grouped, joined, varints

LONGS = st.integers(-(2**63), 2**63 - 1) | st.integers(-200, 200)


@given(st.lists(LONGS, max_size=8))
def test_numbers(values: list[int]) -> None:
    found = varints(np.array(values, np.int64))
    assert found.to_pylist() == [long(value) for value in values]
    messages = Messages(found.cast(pa.binary()))
    assert messages.longs(messages.rows).tolist() == values
    messages.finish()
    assert not messages.is_refused.any()


@given(st.lists(st.lists(st.binary(max_size=3), max_size=3), max_size=5))
def test_blocks(rows: list[list[bytes]]) -> None:
    items = joined(
        counted(pa.array([each for row in rows for each in row], pa.binary())), sum(map(len, rows))
    )
    found = joined(grouped(items, np.array([len(row) for row in rows], np.int64)), len(rows))
    blocks = [b"".join(long(len(each)) + each for each in row) for row in rows]
    ends = [long(len(row)) + block + (b"\0" if row else b"") for row, block in zip(rows, blocks, strict=True)]
    assert found.to_pylist() == ends
