"""Parts of sums: together they are the sum, exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.exact_sums import join_doubles
from dbsp.circuits.operators.groups.windows.parts import COUNT, Ahead, Parts
from tests.generators.columns.zsets import VALUES

WHOLE = [pa.int8(), pa.int64(), pa.duration("us"), pa.decimal128(10, 2), pa.decimal128(38, 10)]


def units(value: Any, data_type: pa.DataType) -> int:
    """The whole number that a value is kept as."""
    if isinstance(value, Decimal):
        return int(value.scaleb(data_type.scale))
    return value if isinstance(value, int) else round(value.total_seconds() * 1_000_000)


@pytest.mark.parametrize("data_type", WHOLE, ids=str)
@given(data=st.data())
def test_whole_numbers(data_type: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(st.sampled_from(VALUES[data_type]), st.none()), max_size=8))
    known = [units(value, data_type) for value in values if value is not None]
    row, number, amount = Parts((0,), summed=True).of([pa.array(values, data_type)], len(values))
    digits = number != COUNT
    assert sum(int(a) << (32 * int(n)) for n, a in zip(number[digits], amount[digits], strict=True)) == sum(
        known
    )
    assert sorted(row[~digits].tolist()) == [i for i, value in enumerate(values) if value is not None]


@given(st.lists(st.one_of(st.floats(), st.none()), max_size=8))
def test_doubles(values: list[float | None]) -> None:
    known = [value for value in values if value is not None]
    _, number, amount = Parts((0,), summed=True).of([pa.array(values, pa.float64())], len(values))
    assert number.tolist().count(COUNT) == len(known)
    limbs = number != COUNT
    (found,) = join_doubles(np.zeros(limbs.sum(), np.int64), number[limbs], amount[limbs], 1)
    special = [value for value in known if not isfinite(value)]
    if any(map(isnan, special)) or {inf, -inf} <= set(special):
        expected = nan
    elif special:
        expected = special[0]
    else:
        try:
            expected = float(sum(map(Fraction, known)))
        except OverflowError:
            expected = inf if sum(map(Fraction, known)) > 0 else -inf
    assert found == expected or (isnan(found) and isnan(expected))


def test_values_that_are_counted_alone() -> None:
    row, number, amount = Parts((0,), summed=False).of([pa.array(["a", None, "b"])], 3)
    assert (row.tolist(), number.tolist(), amount.tolist()) == ([0, 2], [COUNT, COUNT], [1, 1])


def test_what_is_ahead_is_the_partitions() -> None:
    ahead = Ahead(np.array([0, 0, 2]), {COUNT: np.array([3, 4, 5]), 36: np.array([7, 8, 9])})
    assert np.asarray(ahead.of(COUNT)).tolist() == [3, 3, 5]
    assert ahead.of(1) == 0
    assert {number: limb.tolist() for number, limb in ahead.limbs.items()} == {36: [7, 7, 9]}
