"""Filter: its rows are its input's, without those of which the condition asks more."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column, Expression, Literal
from dbsp.sql.plans.nodes import Filter
from dbsp.sql.plans.nodes.filter import required
from tests.sql.hand_made import BOOL, T, assert_as_duckdb, call, column, literal, positive

BOTH = call("and", positive(1), call("is_not_null", column(2), type_=BOOL), type_=BOOL)
EITHER = call("or", positive(1), positive(2), type_=BOOL)


def test_rows_of_which_it_is_true() -> None:
    assert_as_duckdb(Filter(T, BOTH), "SELECT * FROM t WHERE b > 0 AND c IS NOT NULL")
    assert_as_duckdb(Filter(T, call("not", positive(1), type_=BOOL)), "SELECT * FROM t WHERE NOT b > 0")


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        (BOTH, {1, 2}),
        (EITHER, set()),
        (call("is_null", column(1), type_=BOOL), set()),
        (call("equal_null_safe", column(1), column(2), type_=BOOL), set()),
        (call("less_than", column(0), column(3), type_=BOOL), {0, 3}),
        (call("less_than", call("add", column(0), literal(1)), column(3), type_=BOOL), {0, 3}),
        (call("not", call("equal_to", column(1), literal(1), type_=BOOL), type_=BOOL), {1}),
        (call("not", BOTH, type_=BOOL), set()),
        (call("not", call("is_not_null", column(1), type_=BOOL), type_=BOOL), set()),
        (None, set()),
    ],
)
def test_columns_without_which_it_isnt_true(condition: Expression | None, columns: set[int]) -> None:
    assert required(condition) == columns


def test_all_else_is_its_inputs() -> None:
    plan = Filter(T, BOTH)
    assert plan.schema == T.schema
    assert plan.stream_key({"t": (3,)}) == (3,)
    assert (plan.append_only({"t": True}), plan.append_only({"t": False})) == (True, False)
    assert plan.asked_for({"t": {0}}) == {0, 1, 2}
    assert plan.monotonic({"t": {3: (column(3),)}}) == {3: (column(3),)}
    assert plan.spelled == "filter (b > 0) AND c IS NOT NULL"


def test_a_condition_is_boolean_or_null() -> None:
    Filter(T, Literal(None, pa.null())).verify()
    with pytest.raises(AssertionError, match="Filter: a condition is boolean"):
        Filter(T, column(0)).verify()
    with pytest.raises(AssertionError, match="Filter: no column #4 of 4"):
        Filter(T, Column(4, BOOL)).verify()
