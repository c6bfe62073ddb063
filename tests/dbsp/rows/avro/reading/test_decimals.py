"""Numbers of any width of bytes: what Python makes of them, up to 38 digits."""

from __future__ import annotations

from decimal import Context, Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.rows.avro.reading.decimals import decimals
from dbsp.rows.avro.reading.messages import Messages

EDGES = [
    b"",
    b"\x00" * 20,
    b"\xff" * 65,
    (10**38 - 1).to_bytes(16),
    (10**38).to_bytes(16),
    (-(10**38)).to_bytes(17, signed=True),
]


@given(st.lists(st.binary(max_size=20) | st.sampled_from(EDGES), max_size=6))
def test_as_python_reads_them(data: list[bytes]) -> None:
    messages = Messages(pa.array(data, pa.binary()))
    found = decimals(messages, messages.rows, pa.array(data, pa.binary()), 2)
    for value, refused, given_ in zip(found.to_pylist(), messages.is_refused, data, strict=True):
        number = int.from_bytes(given_, signed=True)
        assert refused == (not given_ or len(given_) > 64 or abs(number) >= 10**38)
        assert refused or value == Decimal(number).scaleb(-2, Context(prec=60))
