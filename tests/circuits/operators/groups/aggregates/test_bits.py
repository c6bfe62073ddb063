"""Bitwise aggregates of what is left of a group, whatever came and went."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.bits import Bits, Bitwise
from dbsp.circuits.operators.groups.state.members import Members

FUNCTIONS = {"bit_and": operator.and_, "bit_or": operator.or_, "bit_xor": operator.xor}
TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]


def of_parts(values: pa.Array, owner: np.ndarray, weights: np.ndarray, count: int) -> Members:
    """The parts of every value, their amounts as often as the value counts."""
    position, (bit,), amount = Bits().split([values])
    columns = [pa.array(bit), pa.array(amount * weights[position])]
    return Members(owner[position], columns, np.ones(len(position), np.int64), count)


@st.composite
def cases(draw: st.DrawFn) -> tuple[pa.DataType, list[tuple[int, int | None, int]]]:
    """(type, (group, value, weight)): what is retracted was inserted."""
    data_type = draw(st.sampled_from(TYPES))
    bound = 1 << (data_type.bit_width - 1)
    value = st.one_of(st.none(), st.sampled_from([0, 1, -1, 6, bound - 1, -bound]))
    listed = draw(st.lists(st.tuples(st.integers(0, 2), value, st.integers(1, 3)), max_size=8))
    gone = [(g, v, -draw(st.integers(0, w))) for g, v, w in listed]
    return data_type, [*listed, *gone]


@pytest.mark.parametrize("function", FUNCTIONS)
@given(case=cases())
def test_the_values_that_are_left(function: str, case: Any) -> None:
    data_type, listed = case
    values = pa.array([v for _, v, _ in listed], data_type)
    owner, weights = (np.array([each[i] for each in listed], np.int64) for i in (0, 2))
    found = Bitwise(function).finalize(of_parts(values, owner, weights, 3), data_type)
    assert found.type == data_type
    for group, result in enumerate(found.to_pylist()):
        totals: dict[int, int] = {}
        for g, v, w in listed:
            if g == group and v is not None:
                totals[v] = totals.get(v, 0) + w
        left = [v for v, total in totals.items() for _ in range(total)]
        assert result == (reduce(FUNCTIONS[function], left) if left else None)


def test_null_has_no_parts() -> None:
    position, (bit,), amount = Bits().split([pa.array([None, 5, None], pa.int8())])
    assert set(position.tolist()) == {1} and sorted(bit.tolist()) == [-1, 0, 2]
    assert amount.tolist() == [1, 1, 1]
    assert isinstance(Bitwise("bit_or").split, Bits) and Bits.index == ("bit",)
