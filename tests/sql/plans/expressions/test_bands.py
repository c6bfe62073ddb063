"""What a join's condition says of one expression of a side: a pair that meets it is always within."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.expressions.bands import ValueBounds, interval_bounds, value_bounds
from tests.sql.hand_made import BOOL, INT, call, column, literal

# the left side has columns 0 and 1, the right side 2 and 3
WIDTH = 2
TIME = pa.timestamp("us", "UTC")
A, B, C, D = map(column, range(4))


def compared(left: Expression, sign: str, right: Expression) -> Call:
    name = {"<": "less_than", "<=": "less_than_or_equal", ">": "greater_than", ">=": "greater_than_or_equal"}[
        sign
    ]
    return call(name, left, right, type_=BOOL)


def plus(value: Expression, number: int) -> Call:
    return call("add", value, literal(number))


def computed(expression: Expression, row: tuple[int, ...]) -> int:
    if isinstance(expression, Column):
        return row[expression.index]
    if isinstance(expression, Literal):
        assert isinstance(expression.value, int)
        return expression.value
    assert isinstance(expression, Call)
    x, y = (computed(argument, row) for argument in expression.arguments)
    results = {"add": x + y, "subtract": x - y, "less_than": x < y, "less_than_or_equal": x <= y}
    return (results | {"greater_than": x > y, "greater_than_or_equal": x >= y})[expression.function]


CONDITIONS = [
    [compared(A, ">=", C), compared(A, "<=", plus(C, 2))],
    [compared(plus(C, 1), "<", A), compared(plus(A, 1), "<", plus(D, 3))],
    [compared(call("subtract", A, literal(1)), ">", C), compared(B, "<", D)],
    [compared(C, "<=", A), compared(A, "<", D), compared(A, ">=", B)],
]


@pytest.mark.parametrize("parts", CONDITIONS)
@pytest.mark.parametrize("right", [False, True])
def test_every_pair_that_meets_the_condition_is_within_the_bounds(
    parts: list[Expression], right: bool
) -> None:
    bounds = value_bounds(parts, WIDTH, right, nulls=False)
    assert bounds is not None
    assert bounds.lower or bounds.upper
    for row in product(range(-1, 4), repeat=4):
        own, other = (row[WIDTH:], row[:WIDTH]) if right else (row[:WIDTH], row[WIDTH:])
        if all(computed(part, row) for part in parts):
            value = computed(bounds.value, own)
            assert all(computed(lower, other) <= value for lower in bounds.lower), row
            assert all(value <= computed(upper, other) for upper in bounds.upper), row


def test_a_value_bounded_from_both_sides_is_chosen() -> None:
    parts = [compared(B, "<", D), compared(A, ">=", C), compared(A, "<=", plus(C, 2))]
    bounds = value_bounds(parts, WIDTH, right=False, nulls=False)
    assert bounds is not None
    assert (bounds.value, bounds.lower, bounds.upper) == (A, [A], [plus(A, 2)])


def test_an_interval_lies_between_its_ends() -> None:
    parts = [compared(C, "<=", A), compared(A, "<", plus(D, 1))]
    found = interval_bounds(parts, WIDTH, right=True)
    assert found is not None
    assert (found.start, found.end) == (A, B)
    assert (found.most, found.least) == ([A], [call("subtract", A, literal(1))])
    assert interval_bounds(parts, WIDTH, right=False) is None  # one value, not two
    assert interval_bounds(parts[:1], WIDTH, right=True) is None


def test_a_difference_of_times_is_read_as_their_comparison() -> None:
    times = [Column(i, pa.timestamp("us")) for i in range(4)]
    difference = Call("subtract_timestamps", (times[0], times[2]), pa.duration("us"))
    hour = Literal(timedelta(hours=1), pa.duration("us"))
    bounds = value_bounds([compared(difference, "<", hour)], WIDTH, right=False, nulls=False)
    assert bounds is not None
    assert (bounds.value, bounds.lower) == (times[0], [])
    (upper,) = bounds.upper
    assert isinstance(upper, Call)
    assert upper.arguments == (times[0], hour)


def beside(value: Expression, by: int, null: str = "") -> Call:
    options = (("null", null),) if null else ()
    return Call("saturated_sum", (value, literal(by)), INT, True, options)


MINUS = Call("subtract", (A, C), INT, True, (("evalMode", "ANSI"),))
FAILS = compared(call("multiply", B, D), "<", literal(9))


def test_a_difference_bounds_both_sides_and_lets_far_pairs_in() -> None:
    parts = [compared(MINUS, ">", literal(2)), compared(MINUS, "<=", literal(9))]
    left, right = (value_bounds(parts, WIDTH, right, nulls=False) for right in (False, True))
    assert left is not None and right is not None
    assert (left.value, left.lower, left.upper) == (A, [beside(A, 2)], [beside(A, 9)])
    assert (right.value, right.lower, right.upper) == (A, [beside(A, -9)], [beside(A, -2)])
    for side in (left, right):
        assert side.under == [beside(A, -(2**63 - 1), "below")]
        assert side.over == [beside(A, 2**63 - 1, "above")]
        assert side.never_null


def test_bounds_meet_no_fewer_failures() -> None:
    """What stands before a difference is computed of every pair; what stands after, of its NULL."""
    lower, upper = compared(MINUS, ">", literal(2)), compared(MINUS, "<=", literal(9))
    before = value_bounds([FAILS, lower, upper], WIDTH, right=False, nulls=False)
    between = value_bounds([lower, FAILS, upper], WIDTH, right=False, nulls=False)
    after = value_bounds([lower, upper, FAILS], WIDTH, right=False, nulls=False)
    assert before is None
    assert between is not None and (between.lower, between.upper) == ([beside(A, 2)], [])
    assert after is not None and after.lower and after.upper
    assert value_bounds([lower, upper, FAILS], WIDTH, right=False, nulls=True) is None
    known = {A: Column(0, INT, nullable=False), C: Column(2, INT, nullable=False)}
    never_null = compared(Call("subtract", (known[A], known[C]), INT, False), ">", literal(2))
    assert value_bounds([never_null, FAILS], WIDTH, right=False, nulls=True) is not None


def test_two_differences_of_one_value_are_bounds_together() -> None:
    other = Call("subtract", (A, D), INT, True, (("evalMode", "ANSI"),))
    parts = [compared(MINUS, ">", literal(2)), compared(other, "<", literal(1))]
    bounds = value_bounds(parts, WIDTH, right=False, nulls=False)
    assert bounds is not None
    assert (bounds.lower, bounds.upper) == ([beside(A, 2)], [beside(B, 1)])
    assert len(bounds.under) == len(bounds.over) == 2


@pytest.mark.parametrize(("amount", "sign"), [(2**62, "<"), (-(2**62), ">")])
def test_bounds_beyond_64_bits_are_none(amount: int, sign: str) -> None:
    days = Call("timestamp_diff", (Column(2, TIME), Column(0, TIME)), INT, True, (("unit", "DAY"),))
    bounds = value_bounds([compared(days, sign, literal(amount))], WIDTH, right=False, nulls=False)
    assert bounds == ValueBounds(Column(0, TIME), never_null=True)


def test_a_cast_that_widens_is_safe_to_compute_of_every_row() -> None:
    cases = (
        (pa.int32(), INT, True),
        (INT, pa.int32(), False),
        (pa.string(), INT, False),
        (pa.decimal128(10, 2), pa.decimal128(14, 6), True),
        (pa.decimal128(10, 2), pa.decimal128(13, 6), False),
        (pa.decimal128(10, 2), pa.decimal128(12, 1), False),
        (INT, pa.decimal128(20, 0), True),
        (pa.int32(), pa.decimal128(11, 2), False),
        (pa.int32(), pa.decimal128(12, 2), True),
    )
    for narrow, wide, safe in cases:
        value = Call("cast", (Column(0, narrow),), wide)
        bounds = value_bounds([compared(value, "<", Column(2, wide))], WIDTH, right=False, nulls=False)
        assert (bounds is not None) == safe, narrow


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(compared(A, "<", B), id="one side alone"),
        pytest.param(compared(call("multiply", A, B), "<", C), id="it can fail on rows without a partner"),
        pytest.param(compared(call("add", A, D), "<", C), id="both sides mixed"),
        pytest.param(call("equal_to", A, C, type_=BOOL), id="an equality is a key"),
        pytest.param(compared(A, "<", literal(3)), id="a constant"),
        pytest.param(call("or", compared(A, "<", C), compared(B, "<", D), type_=BOOL), id="or"),
        pytest.param(compared(Column(0, pa.list_(INT)), "<", Column(2, pa.list_(INT))), id="no order code"),
    ],
)
def test_what_bounds_nothing(part: Expression) -> None:
    assert value_bounds([part], WIDTH, right=False, nulls=False) is None
    assert interval_bounds([part], WIDTH, right=False) is None
