"""What a comparison says of a difference: of each pair that it is true of, and each that it fails of."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.sql.plans.expressions.differences import Difference, difference

ANSI = (("evalMode", "ANSI"),)
SIGNS = {
    "<": "less_than",
    "<=": "less_than_or_equal",
    ">": "greater_than",
    ">=": "greater_than_or_equal",
    "=": "equal_to",
}
TINY, INT, DATE, TIME, SPAN = pa.int8(), pa.int64(), pa.date32(), pa.timestamp("us", "UTC"), pa.duration("us")
MOST, HOUR, DAY = 2**63 - 1, 3600 * 10**6, 24 * 3600 * 10**6


def column(index: int, data_type: pa.DataType) -> Column:
    return Column(index, data_type)


def minus(a: Expression, b: Expression) -> Call:
    return Call("subtract", (a, b), a.type, True, ANSI)


def plus(a: Expression, number: int) -> Call:
    return Call("add", (a, Literal(number, a.type)), a.type, True, ANSI)


def absolute(a: Expression) -> Call:
    return Call("abs", (a,), a.type, True, (("failOnError", True),))


def compared(a: Expression, sign: str, b: Expression | int) -> Call:
    b = b if not isinstance(b, int) else Literal(b, a.type)
    return Call(SIGNS[sign], (a, b), pa.bool_())


def seconds(index: int, name: str = "unix_seconds") -> Call:
    pattern = () if name.startswith("unix_s") else (Literal("yyyy", pa.string()),)
    return Call(name, (column(index, TIME), *pattern), INT, True, (("timeZoneId", "UTC"),))


def apart(unit: str, zone: str = "UTC") -> Call:
    options = (("timeZoneId", zone), ("unit", unit))
    return Call("timestamp_diff", (column(1, TIME), column(0, TIME)), INT, True, options)


X, Y = column(0, TINY), column(1, TINY)
U, V = column(0, INT), column(1, INT)
WIDE = Call("cast", (X,), INT, True, ANSI)
SPANS = Call("subtract_timestamps", (column(0, TIME), column(1, TIME)), SPAN, True, (("timeZoneId", "UTC"),))


READ = {
    "a bound": (compared(minus(X, Y), "<", 3), (None, 3, 127)),
    "a lower one": (compared(minus(X, Y), ">=", 3), (3, None, 127)),
    "turned around": (compared(Literal(3, TINY), "<", minus(Y, X)), (None, -3, 127)),
    "equal": (compared(minus(X, Y), "=", -2), (-2, -2, 127)),
    "an absolute value": (compared(absolute(minus(X, Y)), "<=", 2), (-2, 2, 127)),
    "at least an absolute value": (compared(Literal(2, TINY), ">=", absolute(minus(X, Y))), (-2, 2, 127)),
    "equal to an absolute value": (compared(absolute(minus(X, Y)), "=", 2), (-2, 2, 127)),
    "of wider numbers": (compared(minus(U, V), ">", 5), (5, None, MOST)),
    "that fits": (compared(minus(WIDE, Call("cast", (Y,), INT)), ">", 5), (5, None, None)),
    "and a constant": (compared(plus(minus(WIDE, Call("cast", (Y,), INT)), 3), ">", 5), (2, None, None)),
    "days": (
        compared(Call("date_diff", (column(0, DATE), column(1, DATE)), pa.int32()), "<", 3),
        (None, 3, 2**31 - 1),
    ),
    "seconds": (compared(minus(seconds(0), seconds(1)), "<=", 2), (None, 2 * 10**6 + 2 * (10**6 - 1), None)),
    "beside seconds": (
        compared(seconds(0, "unix_timestamp"), ">=", plus(seconds(1, "unix_timestamp"), 2)),
        (2 * 10**6 - 2 * (10**6 - 1), None, None),
    ),
    "hours": (compared(apart("HOUR"), "<", 2), (None, 3 * HOUR - 1, None)),
    "hours by the clock": (
        compared(apart("hour", "Europe/Berlin"), "<", 2),
        (None, 39 * HOUR - 1, None),
    ),
    "microseconds by the clock": (
        compared(apart("MICROSECOND", "Europe/Berlin"), "<", 2),
        (None, 36 * HOUR + 2, MOST - 36 * HOUR),
    ),
    "an interval": (
        compared(absolute(SPANS), "<", Literal(timedelta(hours=1), SPAN)),
        (-HOUR, HOUR, MOST),
    ),
}


@pytest.mark.parametrize("name", READ)
def test_how_far_apart(name: str) -> None:
    comparison, (least, most, reach) = READ[name]
    found = difference(comparison)
    assert found is not None
    assert [getattr(one, "index", None) for one in (found.minuend, found.subtrahend)] == [0, 1]
    assert (found.least, found.most, found.reach) == (least, most, reach)


SMALL = [
    *(compared(minus(a, b), sign, c) for a, b in ((X, Y), (Y, X)) for sign in SIGNS for c in (-3, 0, 2, 127)),
    *(compared(absolute(minus(X, Y)), sign, c) for sign in ("<", "<=", "=") for c in (-1, 0, 3, 127)),
]


@pytest.mark.parametrize("comparison", SMALL, ids=str)
def test_every_pair_of_which_it_is_true_is_within_and_of_which_it_fails_is_far(comparison: Call) -> None:
    found = difference(comparison)
    assert found is not None and found.reach is not None
    values = [-128, -127, -126, -5, -1, 0, 1, 2, 3, 64, 126, 127]
    for pair in product(values, repeat=2):
        rows = pa.RecordBatch.from_arrays([pa.array([value], TINY) for value in pair], names=["x", "y"])
        distance = minuend(found, pair) - subtrahend(found, pair)
        try:
            (is_true,) = evaluate(comparison, rows).to_pylist()
        except EvaluationError:
            assert abs(distance) >= found.reach
            continue
        if is_true:
            assert found.least is None or found.least <= distance
            assert found.most is None or distance <= found.most


def minuend(found: Difference, pair: tuple[int, ...]) -> int:
    assert isinstance(found.minuend, Column)
    return pair[found.minuend.index]


def subtrahend(found: Difference, pair: tuple[int, ...]) -> int:
    assert isinstance(found.subtrahend, Column)
    return pair[found.subtrahend.index]


MOMENTS = [
    -HOUR - 1,
    -HOUR,
    -1,
    0,
    1,
    999_999,
    10**6,
    HOUR - 1,
    HOUR,
    30 * DAY,
    200 * DAY,
    200 * DAY + HOUR + 7,
]
OF_TIMES = [
    *(compared(minus(seconds(0), seconds(1)), sign, c) for sign in SIGNS for c in (-1, 0, 3600)),
    *(
        compared(apart(unit, zone), sign, c)
        for unit in ("SECOND", "HOUR", "DAY", "WEEK")
        for zone in ("UTC", "America/New_York")
        for sign in ("<", ">=", "=")
        for c in (-1, 0, 1, 28)
    ),
]


@pytest.mark.parametrize("comparison", OF_TIMES, ids=lambda one: f"{one} {one.arguments[0].options}")
def test_every_pair_of_times_of_which_it_is_true_is_within(comparison: Call) -> None:
    found = difference(comparison)
    assert found is not None
    pairs = list(product(MOMENTS, repeat=2))
    columns = [pa.array([pair[i] for pair in pairs], INT).view(TIME) for i in range(2)]
    values = evaluate(comparison, pa.RecordBatch.from_arrays(columns, names=["x", "y"])).to_pylist()
    for pair, is_true in zip(pairs, values, strict=True):
        distance = minuend(found, pair) - subtrahend(found, pair)
        if is_true:
            assert found.least is None or found.least <= distance
            assert found.most is None or distance <= found.most


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(compared(U, "=", V), id="an equality is a key"),
        pytest.param(compared(plus(U, 1), "<", V), id="a sum that may overflow by itself"),
        pytest.param(compared(minus(plus(U, 1), V), "<", 3), id="the same in a difference"),
        pytest.param(compared(Call("add", (U, V), INT, True, ANSI), "<", 3), id="a sum"),
        pytest.param(compared(minus(U, V), "<", column(2, INT)), id="more than two values"),
        pytest.param(compared(absolute(minus(U, V)), ">", 3), id="far apart"),
        pytest.param(compared(absolute(minus(U, V)), "<", absolute(minus(V, U))), id="two absolute values"),
        pytest.param(compared(minus(seconds(0), U), "<", 3), id="seconds and a number"),
        pytest.param(
            compared(minus(Call("divide", (U, V), INT), V), "<", 3), id="it can fail without a partner"
        ),
        pytest.param(
            compared(minus(column(0, pa.float64()), column(1, pa.float64())), "<", 3), id="floating point"
        ),
        pytest.param(compared(apart("MONTH"), "<", 3), id="units of no fixed length"),
    ],
)
def test_what_is_no_difference(part: Call) -> None:
    assert difference(part) is None
