"""`rank <= k` looks at the first k rows of each partition only, where that says the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column, Expression, Literal
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Filter, Top, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.top_k import RANKINGS, top_k
from tests.sql.hand_made import BOOL, T, assert_same_rows, call, column, positive

RANK = pa.int32()
# a total order of equal rows, which makes row_number the same whatever rows came first
ORDER = tuple(SortOrder(column(i), descending=True) for i in (1, 0, 2, 3))


def ranked(*functions: str, order: tuple[SortOrder, ...] = ORDER, frame: WindowCall | None = None) -> Window:
    calls = [WindowCall(function, (), RANK, False, order) for function in functions]
    calls += [] if frame is None else [frame]
    fields = (Field(f"r{i}", one.type, False) for i, one in enumerate(calls))
    return Window(T, (column(0),), tuple(calls), (*T.schema, *fields))


def is_(function: str, value: int, index: int = 4) -> Expression:
    return call(function, Column(index, RANK, False), Literal(value, RANK), type_=BOOL)


def both(*parts: Expression) -> Expression:
    return call("and", *parts, type_=BOOL)


def size_of(plan: Plan) -> int | None:
    """Of the Top that the plan has."""
    if isinstance(plan, Top):
        return plan.size
    sizes = [size for input_ in plan.inputs if (size := size_of(input_)) is not None]
    return sizes[0] if sizes else None


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize(
    ("condition", "size"),
    [
        (is_("less_than_or_equal", 2), 2),
        (is_("less_than", 3), 2),
        (is_("equal_to", 1), 1),
        (call("greater_than", Literal(3, RANK), Column(4, RANK, False), type_=BOOL), 2),
        (is_("less_than_or_equal", -1), 0),
    ],
)
def test_the_condition_is_the_top(ranking: str, condition: Expression, size: int) -> None:
    before = Filter(ranked(ranking), condition)
    plan = top_k(before)
    assert plan == Top(T, (column(0),), ORDER, ranking, size, True, before.schema)
    assert_same_rows(before, plan)


@pytest.mark.parametrize(
    ("window", "condition", "size"),
    [
        pytest.param(ranked("rank"), is_("equal_to", 2), 2, id="the second alone"),
        pytest.param(ranked("rank"), both(is_("less_than", 4), positive(2)), 3, id="and something else"),
        pytest.param(
            ranked("rank"),
            both(is_("less_than", 4), is_("less_than_or_equal", 2)),
            2,
            id="the smaller of two",
        ),
        pytest.param(
            ranked("rank", "row_number"),
            both(is_("less_than", 4), is_("less_than", 3, index=5)),
            2,
            id="two ranks in one order",
        ),
    ],
)
def test_what_else_is_asked_stays_above(window: Window, condition: Expression, size: int) -> None:
    before = Filter(window, condition)
    plan = top_k(before)
    assert size_of(plan) == size
    assert plan.schema == before.schema
    assert_same_rows(before, plan)


TOTAL = WindowCall("sum", (column(1),), RANK, True)
OTHER = WindowCall("rank", (), RANK, False, ORDER[1:])


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(Filter(ranked("rank"), is_("greater_than", 2)), id="the last ones"),
        pytest.param(
            Filter(ranked("rank"), call("or", is_("less_than", 2), positive(1), type_=BOOL)), id="or"
        ),
        pytest.param(Filter(ranked("ntile"), is_("less_than", 2)), id="no rank"),
        pytest.param(
            Filter(ranked("rank", frame=TOTAL), is_("less_than", 2)), id="beside what reads all rows"
        ),
        pytest.param(Filter(ranked("rank", frame=OTHER), is_("less_than", 2)), id="in two orders"),
        pytest.param(Filter(ranked("rank", order=()), is_("less_than", 2)), id="all rows are peers"),
        pytest.param(Filter(ranked("rank"), positive(1)), id="another column"),
        pytest.param(ranked("rank"), id="no condition"),
    ],
)
def test_what_is_no_top(before: Plan) -> None:
    assert top_k(before) == before


def test_without_an_order_the_first_are_those_of_least_value() -> None:
    plan = top_k(Filter(ranked("row_number", order=()), is_("less_than", 2)))
    assert isinstance(plan, Top)
    assert plan.order == (SortOrder(column(0)),)
