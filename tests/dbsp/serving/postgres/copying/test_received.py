"""A value in the binary format is the one that another's client sent; what is none of its type says where."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer

from dbsp.serving.postgres.copying.received import Received, Unreadable, plain
from dbsp.serving.postgres.language.types import TYPES, oid_of
from tests.dbsp.serving.postgres.test_values import ARROW, VALUES

PLAIN = [name for name, type_ in ARROW.items() if not pa.types.is_decimal(type_) and name != "STRING"]
KINDS = dict(zip(ARROW, VALUES.values(), strict=True))


def received(values: Sequence[bytes | None]) -> Received:
    """With something else between them."""
    sizes = np.array([-1 if one is None else len(one) for one in values], np.int64)
    data = b"".join(b"\xaa" + (one or b"") for one in values)
    begins = np.cumsum(1 + np.maximum(sizes, 0)) - np.maximum(sizes, 0)
    return Received(np.frombuffer(data, np.uint8), begins, sizes)


def _sent(value: Any, type_: pa.DataType) -> bytes | None:
    """As psycopg sends it to a column of PostgreSQL's type."""
    if value is None:
        return None
    transformer = Transformer()
    wrapped = {"int2": psycopg.types.numeric.Int2, "int4": psycopg.types.numeric.Int4}
    wrapped |= {"int8": psycopg.types.numeric.Int8, "float4": psycopg.types.numeric.Float4}
    name = TYPES[oid_of(type_)].name
    given_as = wrapped.get(name, lambda one: one)(value)
    return bytes(transformer.get_dumper(given_as, PyFormat.BINARY).dump(given_as) or b"")


@pytest.mark.parametrize("kind", PLAIN)
@given(drawn=st.data())
def test_what_a_client_sends(kind: str, drawn: st.DataObject) -> None:
    type_ = ARROW[kind]
    values = drawn.draw(st.lists(st.none() | KINDS[kind], max_size=5))
    found = plain(type_, received([_sent(value, type_) for value in values]))
    assert found is not None and found.type == type_
    assert found.to_pylist() == pa.array(values, type_).to_pylist()


@given(values=st.lists(st.none() | st.decimals(-(10**20), 10**20, places=25), max_size=5))
def test_digits(values: list[Decimal | None]) -> None:
    scale = 9
    digits = received([_sent(one, pa.decimal128(38, 9)) for one in values]).digits(38, scale).to_pylist()
    for text, value in zip(digits, values, strict=True):
        if value is None:
            assert text is None
        else:
            with localcontext(prec=60):
                cut = value - Decimal(text)
                # so that rounding sees the digit that decides
                assert abs(cut) < Decimal(1).scaleb(-scale - 1) and cut * value >= 0


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.int32(), b"\0"),
        (pa.int8(), struct.pack("!h", 128)),
        (pa.bool_(), b""),
        (pa.date32(), struct.pack("!i", 2**31 - 1)),
        (pa.date32(), struct.pack("!i", -(2**31))),
        (pa.date32(), struct.pack("!i", 2**31 - 2)),
        (pa.timestamp("us", "UTC"), struct.pack("!q", 2**63 - 1)),
        (pa.timestamp("us"), struct.pack("!q", -(2**63))),
        (pa.timestamp("us"), struct.pack("!q", 2**63 - 2)),
        (pa.decimal128(5, 2), b"\0\1"),
        (pa.decimal128(5, 2), struct.pack("!hhHhh", 1, 0, 0xC000, 0, 1)),
        (pa.decimal128(5, 2), struct.pack("!hhHhh", 1, 0, 0xD000, 0, 1)),
        (pa.decimal128(5, 2), struct.pack("!hhHhh", 1, 1, 0, 0, 1)),
        (pa.decimal128(5, 2), struct.pack("!hhHhh", 2, 0, 0, 0, 1)),
        (pa.decimal128(5, 2), struct.pack("!hhHhh", 1, 0, 0, 0, 10_000)),
        (pa.decimal128(5, 2), struct.pack("!hhHh", -1, 0, 0, 0)),
    ],
)
def test_what_is_none_of_its_type(type_: pa.DataType, value: bytes) -> None:
    values = received([None, None, value])
    with pytest.raises(Unreadable, match=f"{len(value)} bytes 0x{value.hex()}") as raised:
        values.digits(5, 2) if pa.types.is_decimal(type_) else plain(type_, values)
    assert raised.value.row == 2


def test_nothing_is_nothing() -> None:
    for type_ in ARROW.values():
        for values in ([], [None, None]):
            found = plain(type_, received(values))
            assert found is None or found.to_pylist() == values
    assert received([]).digits(5, 2).to_pylist() == received([]).bytes().to_pylist() == []
    assert received([None]).digits(5, 2).to_pylist() == [None]
