"""A join whose right row is only compared becomes a semi-join, where that says the same."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Filter, Join, Project, Scan
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.semi_joins import semi_joins
from tests.sql.hand_made import (
    BOOL,
    INT,
    T,
    U,
    assert_as_duckdb,
    assert_same_rows,
    call,
    column,
    positive,
    project,
    schema,
)

LEAST = Aggregate(U, (column(0),), (AggregateCall("min", (column(1),), INT, True),), schema("k", "m"))
LARGER = call("greater_than", column(1), column(5), type_=BOOL)


def joined(
    right: Plan = LEAST, residual: Expression | None = LARGER, kind: str = "inner", left: Plan = T
) -> Join:
    on = join_schema(kind, left.schema, right.schema)
    return Join(left, right, kind, (column(0),), (column(0),), (False,), residual, on)


def both(*parts: Expression) -> Expression:
    return call("and", *parts, type_=BOOL)


def kind_of(plan: Plan) -> str:
    """Of the join that the plan has."""
    return plan.kind if isinstance(plan, Join) else kind_of(plan.inputs[0])


@pytest.mark.parametrize(
    "residual",
    [
        pytest.param(LARGER, id="larger"),
        pytest.param(call("less_than_or_equal", column(5), column(1), type_=BOOL), id="turned around"),
        pytest.param(
            call("not", call("equal_to", column(5), column(2), type_=BOOL), type_=BOOL), id="another value"
        ),
        pytest.param(both(LARGER, positive(2), positive(5)), id="and something of each side"),
    ],
)
def test_a_group_is_compared_with(residual: Expression) -> None:
    before = project(joined(residual=residual), column(1), column(3))
    plan = semi_joins(before)
    assert isinstance(plan, Project)
    assert plan.input == joined(residual=residual, kind="semi")
    assert_same_rows(before, plan, seeds=3)


def test_a_filter_between_stays() -> None:
    before = project(Filter(Filter(joined(), positive(2)), positive(3)), column(1))
    plan = semi_joins(before)
    assert kind_of(plan) == "semi"
    assert isinstance(plan.inputs[0], Filter)
    assert plan.inputs[0].condition == positive(3)
    assert_same_rows(before, plan)
    text = "SELECT t.b FROM t WHERE c > 0 AND d > 0 AND b > (SELECT min(u.b) FROM u WHERE u.a = t.a)"
    assert_as_duckdb(plan, text)


RECURSIVE = Scan(LEVEL, T.schema)
OWN, SUM = call("add", column(1), column(2)), call("add", column(4), column(5))


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(project(joined(), column(1), column(5)), id="it is read"),
        pytest.param(project(Filter(joined(), positive(5)), column(1)), id="it is read by a filter"),
        pytest.param(project(joined(U), column(1)), id="several matches"),
        pytest.param(project(joined(residual=None), column(1)), id="no comparison"),
        pytest.param(
            project(
                joined(residual=both(LARGER, call("less_than", column(2), column(5), type_=BOOL))), column(1)
            ),
            id="two comparisons",
        ),
        pytest.param(
            project(joined(residual=call("greater_than", column(1), SUM, type_=BOOL)), column(1)),
            id="it can fail",
        ),
        pytest.param(
            project(joined(residual=both(LARGER, call("less_than", OWN, column(2), type_=BOOL))), column(1)),
            id="something else can fail",
        ),
        pytest.param(project(joined(kind="left"), column(1)), id="rows without a match"),
        pytest.param(project(joined(left=RECURSIVE), column(1)), id="a level of a recursion"),
        pytest.param(joined(), id="all is read"),
    ],
)
def test_what_stays_pairs(before: Plan) -> None:
    assert semi_joins(before) == before


def test_a_value_without_an_order_stays_in_pairs() -> None:
    lists = pa.list_(INT)
    wide = replace(T, schema=tuple(replace(field, type=lists) for field in T.schema))
    collected = replace(LEAST, input=wide, schema=tuple(replace(f, type=lists) for f in LEAST.schema))
    larger = replace(LARGER, arguments=tuple(replace(a, type=lists) for a in (column(1), column(5))))
    plan = project(joined(right=collected, residual=larger, left=wide), replace(column(1), type=lists))
    assert semi_joins(plan) == plan
