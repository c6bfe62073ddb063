"""`x = max(x) OVER (PARTITION BY p)` looks at the rows that rank first, where that says the same."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.circuits.operators.groups.windows.calls import WHOLE, Frame
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Filter, Top, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules import apply_rules
from dbsp.sql.rules.extremes import extremes
from tests.sql.hand_made import (
    BOOL,
    INT,
    T,
    assert_as_duckdb,
    assert_same_rows,
    call,
    column,
    literal,
    positive,
    project,
)

T_KEY, X, EXTREME = column(0), column(1), column(4)


def over(function: str, order: tuple[SortOrder, ...] = (), frame: Frame = WHOLE) -> WindowCall:
    return WindowCall(function, (X,), INT, True, order, frame)


def window(*calls: WindowCall, partition: tuple[Column, ...] = (T_KEY,)) -> Window:
    return Window(T, partition, calls, (*T.schema, *(Field(f"m{i}", INT) for i in range(len(calls)))))


def in_sql(partition: tuple[Column, ...]) -> str:
    return f"PARTITION BY {', '.join('abcd'[key.index] for key in partition)}" if partition else ""


def is_(function: str, one: Expression = X, other: Expression = EXTREME) -> Expression:
    return call(function, one, other, type_=BOOL)


@pytest.mark.parametrize("partition", [(column(0),), (column(0), column(2)), ()])
@pytest.mark.parametrize(
    ("function", "condition"),
    [
        ("max", is_("equal_to")),
        ("min", is_("equal_to")),
        ("max", is_("greater_than_or_equal")),
        ("min", is_("less_than_or_equal")),
        ("max", is_("less_than_or_equal", EXTREME, X)),
        ("min", is_("equal_to", EXTREME, X)),
    ],
)
def test_the_first_rows_are_those_that_have_it(
    function: str, condition: Expression, partition: tuple[Column, ...]
) -> None:
    before = Filter(window(over(function), partition=partition), condition)
    plan = extremes(before)
    assert isinstance(plan, Window)
    order = (SortOrder(column(1), descending=function == "max", nulls_last=True),)
    assert plan.input.inputs == (Top(T, partition, order, "rank", 1, False, T.schema),)
    assert_same_rows(before, plan, seeds=3)
    keys = in_sql(partition)
    assert_as_duckdb(
        plan, f"SELECT * FROM (SELECT *, {function}(b) OVER ({keys}) AS m FROM t) WHERE b = m", 5
    )


def test_a_value_that_only_the_condition_reads_is_not_computed() -> None:
    before = project(Filter(window(over("max")), is_("equal_to")), column(2), column(1))
    plan = apply_rules(before)
    assert "Window" not in str(plan)
    assert_same_rows(before, plan, seeds=3)


def test_what_else_is_asked_stays_above() -> None:
    both = call("and", positive(2), call("and", is_("equal_to"), positive(4), type_=BOOL), type_=BOOL)
    before = Filter(window(over("max")), both)
    plan = extremes(before)
    assert isinstance(plan, Filter)
    assert isinstance(plan.input, Filter)
    assert {plan.condition, plan.input.condition} == {positive(2), positive(4)}
    assert_same_rows(before, plan, seeds=3)


SO_FAR = over("max", (SortOrder(column(2)),), Frame(True, None, 0))


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(Filter(window(over("max")), is_("less_than_or_equal")), id="every value"),
        pytest.param(Filter(window(over("max")), is_("less_than")), id="all but the greatest"),
        pytest.param(Filter(window(over("max")), is_("equal_to", column(2))), id="another column"),
        pytest.param(Filter(window(over("max")), is_("equal_to", literal(1))), id="a constant"),
        pytest.param(Filter(window(over("sum")), is_("equal_to")), id="a sum"),
        pytest.param(Filter(window(SO_FAR), is_("equal_to")), id="so far"),
        pytest.param(Filter(window(over("max"), over("count")), is_("equal_to")), id="beside a count"),
        pytest.param(
            Filter(window(over("max")), call("or", is_("equal_to"), positive(2), type_=BOOL)), id="or"
        ),
        pytest.param(window(over("max")), id="no condition"),
    ],
)
def test_what_is_no_first_row(before: Plan) -> None:
    assert extremes(before) == before
