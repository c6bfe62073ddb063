"""A bound's own law: x >= b gives f(x) >= f(b) for every pair of values; and what isn't so has no bound."""

from __future__ import annotations

import math
from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.monotone import Bounds, bound_of, is_fixed_zone, least
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate
from tests.effort import examples

INT, DAY, TIME, LOCAL = pa.int64(), pa.date32(), pa.timestamp("us", tz="UTC"), pa.timestamp("us")
ANSI, LEGACY, UTC = ("evalMode", "ANSI"), ("evalMode", "LEGACY"), ("timeZoneId", "UTC")
BERLIN = ("timeZoneId", "Europe/Berlin")
X, D, T = Column(0, INT), Column(0, DAY), Column(0, TIME)


def number(value: int) -> Literal:
    return Literal(value, INT)


def integral(
    function: str, *arguments: Expression, options: tuple[tuple[str, object], ...] = (ANSI,)
) -> Call:
    return Call(function, arguments, INT, True, options)


MINUTE = Literal(timedelta(minutes=1), pa.duration("us"))
REMAINDER = integral("pmod", X, number(4))
MONOTONE: dict[str, Expression] = {
    "x": X,
    "x + 3": integral("add", X, number(3)),
    "-3 + x": integral("add", number(-3), X),
    "x - 3": integral("subtract", X, number(3)),
    "x * 2": integral("multiply", X, number(2)),
    "x div 3": integral("integral_divide", X, number(3)),
    "x to fours": integral("subtract", X, REMAINDER),
    "x to fours from 1": integral(
        "subtract", X, integral("pmod", integral("subtract", X, number(1)), number(4))
    ),
    "x + x": integral("add", X, X),
    "x + y, y known": integral("add", X, Column(1, INT)),
    "greatest": Call("greatest", (X, Column(1, INT)), INT),
    "least": Call("least", (X, Column(1, INT)), INT),
    "coalesce": Call("coalesce", (X, Column(1, INT)), INT),
    "as DOUBLE": Call("cast", (X,), pa.float64(), True, (ANSI, UTC)),
    "as DECIMAL": Call("cast", (X,), pa.decimal128(20, 0), True, (ANSI, UTC)),
    "date + 2": Call("date_add", (D, Literal(2, pa.int32())), DAY),
    "year": Call("year", (D,), pa.int32()),
    "time + 1 minute": Call("timestamp_add_interval", (T, MINUTE), TIME, True, (UTC,)),
    "date of a time": Call("cast", (T,), DAY, True, (ANSI, UTC)),
    "seconds of a time": Call("unix_seconds", (T,), INT),
}
values = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=12)
DAYS = 86_400_000_000


def rows_of(expression: Expression, listed: list[tuple[int, int]]) -> pa.RecordBatch:
    """x and y; those of times are days, so that something differs."""
    data_type = next((c.type for c in _columns(expression) if c.index == 0), INT)
    first = [
        x * DAYS // 3 if pa.types.is_timestamp(data_type) else x * 200 if data_type == DAY else x
        for x, _ in listed
    ]
    stored = pa.array(first, pa.int32() if data_type == DAY else INT)
    return pa.record_batch([stored.cast(data_type), pa.array([y for _, y in listed], INT)], names=["x", "y"])


def _columns(expression: Expression) -> list[Column]:
    if isinstance(expression, Call):
        return [column for argument in expression.arguments for column in _columns(argument)]
    return [expression] if isinstance(expression, Column) else []


@pytest.mark.parametrize("name", MONOTONE)
@examples(10)
@given(listed=values)
def test_what_is_at_least_the_bound_stays_so(name: str, listed: list[tuple[int, int]]) -> None:
    """Every row as the waterlines: f of each row that is above it in both columns is at least the bound."""
    expression = MONOTONE[name]
    bounds: Bounds = {0: (Column(0, _columns(expression)[0].type),), 1: (Column(1, INT),)}
    bound = bound_of(expression, bounds)
    assert bound is not None
    rows = rows_of(expression, listed)
    results = evaluate(expression, rows).to_pylist()
    lines = [evaluate(each, rows).to_pylist() for each in bound]
    for (x, y), result in zip(listed, results, strict=True):
        for i, (a, b) in enumerate(listed):
            if x >= a and y >= b:
                assert result >= min(line[i] for line in lines), (name, (x, y), (a, b))


FALLING: dict[str, Expression] = {
    "-x": integral("unary_minus", X),
    "3 - x": integral("subtract", number(3), X),
    "x * -2": integral("multiply", X, number(-2)),
    "-(x to fours)": integral("unary_minus", integral("subtract", X, REMAINDER)),
}


Listed = list[tuple[int, int]]


def check_bound(plain: Expression, expression: Expression, bounds: Bounds, listed: Listed, sign: int) -> None:
    """Each row as the waterlines: of every row on their side the expression is at least the bound.

    plain: what the rows are of. sign: 1 where a row is on their side that is greater in both columns.
    """
    bound = bound_of(expression, bounds)
    assert bound is not None
    rows = rows_of(plain, listed)
    results = evaluate(expression, rows)
    lines = [evaluate(each, rows) for each in bound]
    for i, (a, b) in enumerate(listed):
        for j, (x, y) in enumerate(listed):
            if sign * x >= sign * a and sign * y >= sign * b:
                assert any(pc.greater_equal(results[j], line[i]).as_py() for line in lines), ((x, y), (a, b))


def from_above(plain: Expression) -> Bounds:
    """Its columns are bounded from above."""
    return {~0: (mirrored(Column(0, _columns(plain)[0].type)),), ~1: (mirrored(Column(1, INT)),)}


@pytest.mark.parametrize("name", MONOTONE)
@examples(10)
@given(listed=values)
def test_what_is_at_most_the_bound_stays_so(name: str, listed: Listed) -> None:
    plain = MONOTONE[name]
    check_bound(plain, mirrored(plain), from_above(plain), listed, -1)


@pytest.mark.parametrize("name", FALLING)
@examples(10)
@given(listed=values)
def test_what_never_increases_turns_a_bound_around(name: str, listed: Listed) -> None:
    plain = FALLING[name]
    check_bound(plain, plain, from_above(plain), listed, -1)
    check_bound(plain, mirrored(plain), {0: (X,)}, listed, 1)


def test_what_may_be_nan_has_no_upper_bound() -> None:
    """NaN is the greatest, and infinities make it."""
    double = pa.float64()
    x, y = Column(0, double), Column(1, double)
    above: Bounds = {~0: (mirrored(x),), ~1: (mirrored(y),)}
    infinite = Call("add", (x, Literal(math.inf, double)), double, True, (ANSI,))
    total = Call("add", (x, y), double, True, (ANSI,))
    negative = Call("unary_minus", (x,), double, True, (ANSI,))
    for expression in (infinite, total):
        assert bound_of(mirrored(expression), above) is None
    assert bound_of(mirrored(negative), {0: (x,)}) is None
    assert bound_of(negative, above) is not None
    shifted = Call("add", (x, Literal(1.5, double)), double, True, (ANSI,))
    assert bound_of(mirrored(shifted), above) == (mirrored(shifted),)


def test_what_may_be_null_has_none() -> None:
    """As the argument of an aggregate with a FILTER."""
    double = pa.float64()
    x, nothing = Column(0, double), Literal(None, double)
    chosen = Call("if", (Column(1, pa.bool_()), x, nothing), double, True)
    for expression in (chosen, Call("add", (x, nothing), double, True, (ANSI,))):
        assert bound_of(mirrored(expression), {~0: (mirrored(x),)}) is None


SHIFTED = Call(
    "timestamp_add_interval", (T, Literal(timedelta(days=1), pa.duration("us"))), TIME, True, (BERLIN,)
)
UNBOUNDED: dict[str, Expression] = {
    "a constant": number(3),
    "3 - x": integral("subtract", number(3), X),
    "-x": integral("unary_minus", X),
    "x * -1": integral("multiply", X, number(-1)),
    "x * 0": integral("multiply", X, number(0)),
    "x * y": integral("multiply", X, Column(1, INT)),
    "x + y, y unknown": integral("add", X, Column(2, INT)),
    "x that wraps around": integral("add", X, number(1), options=(LEGACY,)),
    "remainder": REMAINDER,
    "abs": integral("abs", X),
    "least of x and a constant": Call("least", (X, number(3)), INT),
    "hour": Call("hour", (T,), pa.int32(), True, (UTC,)),
    "date where clocks go back": Call("cast", (T,), DAY, True, (ANSI, BERLIN)),
    "a day later where clocks go back": SHIFTED,
    "months later": Call("add_months", (D, Literal(1, pa.int32())), DAY),
    "text": Call("cast", (X,), pa.string(), True, (ANSI, UTC)),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_what_has_no_bound(name: str) -> None:
    line = {0: (Column(0, INT),), 1: (Column(1, INT),)}
    assert bound_of(UNBOUNDED[name], line) is None


def test_a_column_that_may_be_null_counts_only_where_it_is_there() -> None:
    """coalesce(x, y): where x is never NULL y says nothing; greatest: one that is never NULL suffices."""
    sure, line = Column(0, INT, nullable=False), {0: (Column(5, INT),)}
    unknown = Column(2, INT)
    assert bound_of(Call("coalesce", (sure, unknown), INT), line) == line[0]
    assert bound_of(Call("coalesce", (X, unknown), INT), line) is None
    assert bound_of(Call("greatest", (sure, unknown), INT), line) == line[0]
    assert bound_of(Call("greatest", (X, unknown), INT), line) is None
    assert bound_of(Call("greatest", (X, Literal(None, INT)), INT), line) == line[0]


def test_the_least_of_bounds_lists_each_once() -> None:
    a, b = (X,), (D, X)
    assert least(a, b, a) == (X, D)
    assert least() == ()


@pytest.mark.parametrize(
    ("zone", "fixed"),
    [
        ("UTC", True),
        ("Etc/UTC", True),
        ("+02:00", True),
        ("GMT-7", True),
        ("Europe/Berlin", False),
        ("CET", False),
    ],
)
def test_zones_whose_clocks_never_go_back(zone: str, fixed: bool) -> None:
    assert is_fixed_zone(Call("cast", (T,), DAY, True, (("timeZoneId", zone),))) == fixed


def test_of_a_constant_interval_the_calendar_says_nothing() -> None:
    half = Literal(timedelta(hours=12), pa.duration("us"))
    shifted = Call("timestamp_add_interval", (T, half), TIME, True, (BERLIN,))
    assert bound_of(shifted, {0: (T,)}) == (shifted,)
    assert bound_of(Call("cast", (T,), LOCAL, True, (ANSI, BERLIN)), {0: (T,)}) is None
