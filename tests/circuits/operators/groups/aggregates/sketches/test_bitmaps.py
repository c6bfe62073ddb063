"""Bitmaps of what is left of a group, whatever came and went."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.aggregates.sketches.bitmaps import BYTES, Bitmap, Positions
from dbsp.circuits.operators.groups.state.members import Members

bitmaps = st.lists(st.tuples(st.integers(0, 1), st.binary(max_size=3), st.booleans()), max_size=6)


def finalized(function: str, values: pa.Array, owner: list[int], weights: list[int]) -> list[bytes]:
    position, (bit,), amount = Bitmap(function).split.split([values])
    columns = [pa.array(bit), pa.array(amount * np.array(weights, np.int64)[position])]
    members = Members(np.array(owner, np.int64)[position], columns, np.ones(len(position), np.int64), 2)
    return list(Bitmap(function).finalize(members, pa.binary()).to_pylist())


def padded(bitmap: bytes) -> np.ndarray:
    return np.frombuffer(bitmap.ljust(BYTES, b"\0"), np.uint8)


@given(bitmaps)
def test_the_bitmaps_that_are_left(listed: list[tuple[int, bytes, bool]]) -> None:
    gone = [(group, bitmap, -1) for group, bitmap, stays in listed if not stays]
    every = [*((group, bitmap, 1) for group, bitmap, _ in listed), *gone]
    values = pa.array([bitmap for _, bitmap, _ in every], pa.binary())
    for function, operate, nothing in (("or", np.bitwise_or, b""), ("and", np.bitwise_and, b"\xff" * BYTES)):
        found = finalized(function, values, [g for g, _, _ in every], [w for _, _, w in every])
        for group in (0, 1):
            left = [padded(bitmap) for g, bitmap, stays in listed if g == group and stays]
            expected = reduce(operate, left) if left else padded(nothing)
            assert found[group] == expected.tobytes()


def test_places() -> None:
    values = pa.array([0, 9, None, 9, 32767], pa.int64())
    first, second = finalized("construct", values, [0, 0, 0, 1, 1], [1, 1, 1, 0, 1])
    assert first == b"\x01\x02".ljust(BYTES, b"\0")
    assert second == b"\x80".rjust(BYTES, b"\0")
    with pytest.raises(EvaluationError, match="32768 is no place"):
        Positions().split([pa.array([None, 32768], pa.int64())])
