"""A condition that is one comparison: true of some right row where it is of the least or the greatest."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.sql.plans.expressions.compared import ONE_SIDED, compared
from tests.sql.hand_made import BOOL, INT, call, column, literal

# the left side has columns 0 and 1, the right side 2 and 3
WIDTH = 2
ORDERED = ("less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal")


def of(function: str, *sides: Expression) -> Call:
    if function == "not":
        return call("not", of("equal_to", *sides), type_=BOOL)
    return call(function, *sides, type_=BOOL)


def is_true(condition: Expression, *values: int) -> bool:
    """Of the values of columns 0, 1, …"""
    row = pa.RecordBatch.from_arrays([pa.array([v], INT) for v in values], names=[*"abcd"[: len(values)]])
    return bool(evaluate(condition, row)[0].as_py())


@pytest.mark.parametrize("function", [*ORDERED, "not"])
@pytest.mark.parametrize("sides", [(column(1), column(3)), (column(3), column(1))])
def test_the_ends_say_it_for_all(function: str, sides: tuple[Column, Column]) -> None:
    condition = of(function, *sides)
    found = compared("semi", [condition], WIDTH)
    assert found is not None
    assert (found.left, found.right) == (column(1), column(1))
    for own, *others in product(range(3), repeat=4):
        of_some = any(is_true(condition, 0, own, 0, other) for other in others)
        ends = [end for asked, end in ((found.least, min(others)), (found.greatest, max(others))) if asked]
        assert any(is_true(found.residual, own, end) for end in ends) == of_some


def test_of_what_is_computed_and_of_null() -> None:
    added = call("coalesce", column(0), column(1))
    found = compared("anti", [of("less_than", column(2), added)], WIDTH)
    assert found is not None and (found.left, found.right) == (added, column(0))
    assert found.least and not found.greatest
    nothing = pa.RecordBatch.from_arrays([pa.array([None], INT), pa.array([1], INT)], names=["a", "b"])
    assert evaluate(found.residual, nothing)[0].as_py() is None


LESS = of("less_than", column(0), column(2))
LIST = pa.list_(INT)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [LESS, of("not", column(1), column(3))],
        [of("equal_to", column(0), column(2))],
        [call("not", LESS, type_=BOOL)],
        [call("not", of("equal_null_safe", column(0), column(2)), type_=BOOL)],
        [call("or", LESS, LESS, type_=BOOL)],
        [of("less_than", column(0), call("coalesce", column(1), column(2)))],
        [of("less_than", column(0), call("add", column(2), literal(1)))],
        [of("less_than", call("add", column(0), literal(1)), column(2))],
        [of("less_than", Column(0, LIST), Column(2, LIST))],
        [column(0)],
    ],
)
def test_anything_else_is_no_such_comparison(parts: list[Expression]) -> None:
    """Several of them, none, what has no order, and what can fail of rows that meet none."""
    assert compared("semi", parts, WIDTH) is None


def test_where_more_counts_than_whether_there_is_a_match() -> None:
    kinds = ("inner", "left", "full", "semi", "anti", "existence")
    assert [kind for kind in kinds if compared(kind, [LESS], WIDTH)] == [*ONE_SIDED]
