"""Slices of strings by characters are Python's, of bytes by bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.vectors.utf8 import (
    ascii_rows,
    bytes_of,
    from_bytes,
    is_ascii,
    slice_bytes,
    slice_characters,
    text_of,
)

texts = st.one_of(st.none(), st.text(st.sampled_from("aé日\U0001f600\x00"), max_size=5))
columns = st.lists(texts, max_size=6)
TYPES = [pa.string(), pa.large_string()]


@given(columns, st.sampled_from(TYPES), st.booleans())
def test_lengths_in_characters(values: list[str | None], data_type: pa.DataType, sliced: bool) -> None:
    array = pa.array(["xé", *values], data_type).slice(1) if sliced else pa.array(values, data_type)
    assert text_of(array).lengths.tolist() == [len(value or "") for value in values]
    data, offsets = bytes_of(array)
    assert np.diff(offsets).tolist() == [len((value or "").encode()) for value in values]
    assert bytes(data[offsets[0] : offsets[-1]]) == "".join(value or "" for value in values).encode()


bounds = st.integers(-2, 7)


@given(st.lists(st.tuples(texts, bounds, bounds), max_size=6), st.booleans())
def test_slices(listed: list[tuple[str | None, int, int]], binary: bool) -> None:
    values = [value for value, _, _ in listed]
    encoded = [None if value is None else value.encode() for value in values]
    array = pa.array(encoded, pa.binary()) if binary else pa.array(values, pa.string())
    start, stop = (np.array([each[i] for each in listed], dtype=np.int64) for i in (1, 2))
    found = slice_characters(array, start, stop)
    expected = [
        None if whole is None else whole[max(a, 0) : max(b, 0)]
        for whole, (_, a, b) in zip(encoded if binary else values, listed, strict=True)
    ]
    assert found.to_pylist() == expected and found.type == array.type


def test_bytes_by_their_places() -> None:
    like = pa.array(["", None, "", ""])
    data = np.frombuffer(b"abcdef", np.uint8)
    found = slice_bytes(data, np.array([1, 0, 4, 5]), np.array([3, 6, 4, 2]), like)
    assert found.to_pylist() == ["bc", None, "", ""]
    assert from_bytes(data, np.array([0, 2, 6]), pa.array(["", ""])).to_pylist() == ["ab", "cdef"]


@given(columns)
def test_ascii(values: list[str | None]) -> None:
    array = pa.array(values, pa.string())
    assert is_ascii(array) == all(value is None or value.isascii() for value in values)
    assert ascii_rows(array).to_pylist() == [None if value is None else value.isascii() for value in values]
