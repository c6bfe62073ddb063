"""Solving comparisons: if f(x) >= b then x is at least what is found; some shifts aren't solved."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate

TIME = pa.timestamp("us", tz="UTC")
ANSI, LEGACY = ("evalMode", "ANSI"), ("evalMode", "LEGACY")


def x(data_type: pa.DataType) -> Column:
    return Column(0, data_type)


def number(value: int) -> Literal:
    return Literal(value, pa.int64())


def integral(function: str, *arguments: Expression, mode: tuple[str, str] = ANSI) -> Call:
    return Call(function, arguments, pa.int64(), True, (mode,))


def shift(seconds: int, zone: str = "UTC") -> Call:
    interval = Literal(timedelta(seconds=seconds), pa.duration("us"))
    return Call("timestamp_add_interval", (x(TIME), interval), TIME, True, (("timeZoneId", zone),))


SOLVED = {
    "x + 3": integral("add", x(pa.int64()), number(3)),
    "3 + x": integral("add", number(3), x(pa.int64())),
    "x - 3": integral("subtract", x(pa.int64()), number(3)),
    "(x + 3) - 5": integral("subtract", integral("add", x(pa.int64()), number(3)), number(5)),
    "x to tens": integral("subtract", x(pa.int64()), integral("pmod", x(pa.int64()), number(10))),
    "x + 7 to tens, + 7": integral(
        "subtract",
        x(pa.int64()),
        integral("pmod", integral("add", x(pa.int64()), number(7)), number(10)),
    ),
    "x div 4": integral("integral_divide", x(pa.int64()), number(4)),
    "(x - 2) div 3": integral("integral_divide", integral("subtract", x(pa.int64()), number(2)), number(3)),
    "time to seconds": Call(
        "trunc_timestamp",
        (Literal("second", pa.string()), x(TIME)),
        TIME,
        True,
        (("timeZoneId", "UTC"),),
    ),
    "time + 1 minute": shift(60),
    "time - 1 minute": shift(-60),
    "date + 2": Call("date_add", (x(pa.date32()), Literal(2, pa.int32())), pa.date32()),
}


@pytest.mark.parametrize("name", SOLVED)
@given(values=st.lists(st.integers(-40, 40), min_size=1, max_size=20), bound=st.integers(-40, 40))
def test_every_row_that_passes_is_at_least_the_bound(name: str, values: list[int], bound: int) -> None:
    expression = SOLVED[name]
    found = solved(expression, (Literal(bound, expression.type),))
    assert found is not None
    column, (solution,) = found
    assert column == 0
    data_type = pa.int32() if pa.types.is_date(expression.type) else pa.int64()
    rows = pa.RecordBatch.from_arrays([pa.array(values, data_type).cast(expression.type)], names=["x"])
    results = numbers(evaluate(expression, rows))
    (least,) = numbers(evaluate(solution, rows.slice(0, 1)))
    assert all(value >= least for value, result in zip(values, results, strict=True) if result >= bound)


@pytest.mark.parametrize("name", SOLVED)
@given(values=st.lists(st.integers(-40, 40), min_size=1, max_size=20), bound=st.integers(-40, 40))
def test_every_row_that_passes_is_at_most_the_upper_bound(name: str, values: list[int], bound: int) -> None:
    expression = SOLVED[name]
    found = solved(mirrored(expression), (mirrored(Literal(bound, expression.type)),))
    assert found is not None
    key, (solution,) = found
    assert key == ~0
    data_type = pa.int32() if pa.types.is_date(expression.type) else pa.int64()
    rows = pa.RecordBatch.from_arrays([pa.array(values, data_type).cast(expression.type)], names=["x"])
    results = numbers(evaluate(expression, rows))
    (most,) = numbers(evaluate(mirrored(solution), rows.slice(0, 1)))
    assert all(value <= most for value, result in zip(values, results, strict=True) if result <= bound)


def numbers(array: Any) -> list[int]:
    array = array if isinstance(array, pa.Array) else pa.array([array.as_py()], array.type)
    return list(
        array.cast(pa.int32() if pa.types.is_date(array.type) else pa.int64()).cast(pa.int64()).to_pylist()
    )


@pytest.mark.parametrize(
    "expression",
    [
        integral("subtract", number(3), x(pa.int64())),
        integral("multiply", x(pa.int64()), number(3)),
        integral("integral_divide", x(pa.int64()), number(-3)),
        integral("integral_divide", x(pa.int32()), number(3)),
        integral("add", x(pa.int64()), number(3), mode=LEGACY),
        integral("add", x(pa.int64()), Column(1, pa.int64())),
        Call("add", (x(pa.float64()), Literal(0.1, pa.float64())), pa.float64(), True, (ANSI,)),
        shift(86_400, "America/New_York"),
        Call("hour", (x(TIME),), pa.int32()),
        Call("cast", (x(TIME),), pa.date32(), True, (("timeZoneId", "UTC"),)),
    ],
    ids=str,
)
def test_what_is_not_solved(expression: Call) -> None:
    assert solved(expression, (Literal(0, expression.type),)) is None
    assert solved(mirrored(expression), (mirrored(Literal(0, expression.type)),)) is None


@given(value=st.integers(-100, 100), by=st.integers(1, 5))
def test_a_quotient_says_no_more_than_it_does_of_what_is_divided(value: int, by: int) -> None:
    """The least and the greatest number with a quotient are its bounds."""
    expression = integral("integral_divide", x(pa.int64()), number(by))
    row = pa.RecordBatch.from_arrays([pa.array([value])], names=["x"])
    (quotient,) = numbers(evaluate(expression, row))
    same = [one for one in range(value - 2 * by, value + 2 * by + 1) if int(one / by) == quotient]
    (_, (least,)), (_, (most,)) = (
        solved(side(expression), (side(number(quotient)),)) or (0, (number(0),))
        for side in (lambda one: one, mirrored)
    )
    assert numbers(evaluate(least, row)) == [min(same)]
    assert numbers(evaluate(mirrored(most), row)) == [max(same)]
