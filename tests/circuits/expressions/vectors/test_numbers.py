"""Arrow values as NumPy vectors and back, whatever lies beneath a NULL or before a slice."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.arrow import from_unscaled
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import _FUNCTIONS, Value
from dbsp.circuits.expressions.vectors.numbers import (
    both,
    from_numbers,
    per_distinct,
    require,
    result,
    strict,
    unscaled,
    vector,
)
from tests.generators.columns.zsets import VALUES, array_of

FIXED = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.date32(),
    pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.duration("us"),
]  # fmt: skip
INT = pa.int64()


@pytest.mark.parametrize("data_type", FIXED, ids=str)
@given(data=st.data(), ragged=st.integers(0, 2))
def test_numbers_and_back(data_type: pa.DataType, data: st.DataObject, ragged: int) -> None:
    values = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(VALUES[data_type])), max_size=6))
    array = array_of(values, data_type, ragged)
    found = vector(array)
    assert not found.is_constant
    assert (found.valid is None) == (None not in values)
    null = None if found.valid is None else ~found.valid
    back = from_numbers(found.values, data_type, null)
    assert back.type == data_type and repr(back.to_pylist()) == repr(array.to_pylist())


def test_what_the_numbers_are() -> None:
    assert vector(pa.array([1, None], pa.date32())).values.tolist() == [1, 0]
    assert vector(pa.array([10**6], pa.timestamp("us"))).values.tolist() == [10**6]
    assert vector(pa.array([True, False])).values.tolist() == [1, 0]
    constant = vector(pa.scalar(7))
    assert (constant.values.tolist(), constant.is_constant) == ([7], True)


masks = st.lists(st.one_of(st.none(), st.lists(st.booleans(), min_size=3, max_size=3)), max_size=4)


@given(masks)
def test_masks_together(listed: list[list[bool] | None]) -> None:
    found = both(*(None if mask is None else np.array(mask) for mask in listed))
    there = [mask for mask in listed if mask is not None]
    assert (found is None) == (not there)
    assert found is None or found.tolist() == [all(column) for column in zip(*there, strict=True)]


def test_a_result_is_null_where_an_input_is() -> None:
    call = Call("f", (), INT)
    a, one = vector(pa.array([1, None, 3])), vector(pa.scalar(1))
    made = result(call, a.values + one.values, a, one, valid=np.array([True, True, False]))
    assert made.to_pylist() == [2, None, None]
    constant = result(call, one.values, one)
    assert isinstance(constant, pa.Scalar) and constant.as_py() == 1
    assert result(call, np.array([5]), a).to_pylist() == [5, None, 5]
    assert not result(call, one.values, one, valid=np.array([False])).is_valid


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=5))
def test_decimals_of_64_bits(units: list[int | None]) -> None:
    data_type = pa.decimal128(38, 6)
    values = [None if unit is None else Decimal(unit).scaleb(-6) for unit in units]
    found = unscaled(pa.array([*values, None], data_type).slice(0, len(values)), 6)
    assert found.values[: len(units)].tolist() == [unit or 0 for unit in units] or None in units
    null = None if found.valid is None else ~found.valid
    assert from_unscaled(found.values, data_type, null).to_pylist() == values


@pytest.mark.parametrize("value", ["9223372036854.775808", "-9223372036854.775809"])
def test_decimals_beyond_them(value: str) -> None:
    with pytest.raises(EvaluationError, match=rf"ARITHMETIC_OVERFLOW.*{value} is out of range"):
        unscaled(pa.array([None, Decimal(value)], pa.decimal128(38, 6)), 6)


def test_more_places_than_units() -> None:
    with pytest.raises(EvaluationError, match="isn't a multiple of 1e-2"):
        unscaled(pa.array([Decimal("0.001")], pa.decimal128(9, 3)), 2)


def test_what_is_required_of_rows_that_are_there() -> None:
    good, column = np.array([True, False, False]), vector(pa.array([1, None, 3]))
    with pytest.raises(EvaluationError, match=r"\[BAD\] row 2") as raised:
        require(good, "BAD", lambda row: f"row {row}", column)
    assert raised.value.row == 2
    require(good, "BAD", str, column, valid=np.array([True, True, False]))


small = st.one_of(st.none(), st.integers(0, 2))


@given(st.lists(st.tuples(small, small), max_size=8), st.one_of(st.none(), st.integers(0, 2)))
def test_each_combination_is_computed_once(pairs: list[tuple[Any, Any]], constant: int | None) -> None:
    seen: list[tuple[int, ...]] = []

    def run(*values: int) -> str:
        seen.append(values)
        return "/".join(map(str, values))

    columns = [pa.array([pair[i] for pair in pairs], INT) for i in range(2)]
    found = per_distinct(run, pa.string(), columns[0], pa.scalar(constant, INT), columns[1])
    rows = [(a, constant, b) for a, b in pairs]
    expected = [None if None in row else "/".join(map(str, row)) for row in rows]
    assert found.to_pylist() == expected
    assert sorted(seen) == sorted({row for row in rows if None not in row})


def test_an_error_is_of_the_first_row_that_has_the_values() -> None:
    def run(value: int) -> int:
        raise EvaluationError("BAD", str(value))

    with pytest.raises(EvaluationError, match="7") as raised:
        per_distinct(run, INT, pa.array([None, 7, 7]))
    assert raised.value.row == 1
    assert per_distinct(run, INT, pa.scalar(None, INT)).as_py() is None


@pytest.fixture
def first_plus() -> Any:
    """A kernel that is strict, whose second argument is always a column."""

    @strict("test_strict", subject=1)
    def run(call: Call, a: Value, b: pa.Array) -> pa.Array:
        assert isinstance(b, pa.Array)
        return pa.array(
            [
                (a.as_py() if isinstance(a, pa.Scalar) else a[i].as_py()) + x
                for i, x in enumerate(b.to_pylist())
            ]
        )

    yield _FUNCTIONS["test_strict"].run
    del _FUNCTIONS["test_strict"]


def test_strict_kernels(first_plus: Any) -> None:
    call = Call("test_strict", (), INT)
    one, ones = pa.scalar(1), pa.array([1, 2])
    assert first_plus(call, one, ones).to_pylist() == [2, 3]
    assert first_plus(call, ones, one).to_pylist() == [2, 3]
    assert first_plus(call, one, one) == pa.scalar(2)
    assert first_plus(call, ones, pa.scalar(None, INT)) == pa.scalar(None, INT)
