"""Bits of integers, against Python's of two's complement, shifts modulo the width as in Java."""

from __future__ import annotations

import operator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

WIDTHS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
BITMAPS = "static_invoke.BitmapExpressionUtils."


def signed(value: int, width: int) -> int:
    return (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))


def numbers(width: int) -> st.SearchStrategy[int | None]:
    bound = 1 << (width - 1)
    return st.one_of(st.none(), st.integers(-bound, bound - 1))


@given(st.sampled_from(sorted(WIDTHS)), st.data())
def test_operators(width: int, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(numbers(width), numbers(width)), max_size=5))
    a, b = (pa.array([pair[i] for pair in pairs], WIDTHS[width]) for i in range(2))
    for name, operate in {
        "bitwise_and": operator.and_,
        "bitwise_or": operator.or_,
        "bitwise_xor": operator.xor,
    }.items():
        expected = [None if None in pair else operate(*pair) for pair in pairs]
        assert called(name, WIDTHS[width], a, b) == expected
    assert called("bitwise_not", WIDTHS[width], a) == [None if x is None else ~x for x, _ in pairs]
    ones = [None if x is None else (x % 2**64).bit_count() for x, _ in pairs]
    assert called("bitwise_count", pa.int32(), a) == ones


@given(st.sampled_from([32, 64]), st.data())
def test_shifts(width: int, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(numbers(width), st.integers(-70, 70)), max_size=5))
    a, by = pa.array([x for x, _ in pairs], WIDTHS[width]), pa.array([n for _, n in pairs], pa.int32())

    def shifted(how: Any) -> list[int | None]:
        return [None if x is None else signed(how(x, n % width), width) for x, n in pairs]

    assert called("shift_left", WIDTHS[width], a, by) == shifted(operator.lshift)
    assert called("shift_right", WIDTHS[width], a, by) == shifted(operator.rshift)
    unsigned = shifted(lambda x, n: (x % (1 << width)) >> n)
    assert called("shift_right_unsigned", WIDTHS[width], a, by) == unsigned


@given(st.lists(st.tuples(numbers(64), st.integers(0, 63)), max_size=5))
def test_one_bit(pairs: list[tuple[Any, int]]) -> None:
    a, places = pa.array([x for x, _ in pairs], pa.int64()), pa.array([n for _, n in pairs], pa.int32())
    assert called("bitwise_get", pa.int8(), a, places) == [
        None if x is None else x >> n & 1 for x, n in pairs
    ]


@pytest.mark.parametrize(("width", "place"), [(8, 8), (32, 32), (64, -1)])
def test_a_bit_that_is_not_there(width: int, place: int) -> None:
    with pytest.raises(EvaluationError, match=f"BIT_POSITION_RANGE.*0 to {width - 1}"):
        called("bitwise_get", pa.int8(), pa.array([1], WIDTHS[width]), pa.scalar(place, pa.int32()))


# as Spark documents bitmap_bit_position and bitmap_bucket_number
@pytest.mark.parametrize(
    ("number", "position", "bucket"),
    [
        (1, 0, 1),
        (123, 122, 1),
        (32768, 32767, 1),
        (32769, 0, 2),
        (0, 0, 0),
        (-1, 1, 0),
        (-32767, 32767, 0),
        (-32768, 0, -1),
    ],
)
def test_bitmaps(number: int, position: int, bucket: int) -> None:
    array = pa.array([number, None])
    assert called(f"{BITMAPS}bitmapBitPosition", pa.int64(), array) == [position, None]
    assert called(f"{BITMAPS}bitmapBucketNumber", pa.int64(), array) == [bucket, None]


@given(st.lists(st.one_of(st.none(), st.binary(max_size=4)), max_size=5))
def test_bits_of_a_bitmap(values: list[bytes | None]) -> None:
    expected = [None if v is None else sum(byte.bit_count() for byte in v) for v in values]
    array = pa.array([b"\xff", *values], pa.binary()).slice(1)
    assert called(f"{BITMAPS}bitmapCount", pa.int64(), array) == expected
