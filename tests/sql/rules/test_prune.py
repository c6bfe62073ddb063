"""Traces hold what joins and aggregates need, and nothing else."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.calls import AggregateCall, SortOrder, WindowCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Project, SetOperation, Top, Union, Window
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.verify import verify
from dbsp.sql.rules.prune import prune
from tests.sql.hand_made import BOOL, INT, T, U, assert_same_rows, call, column, positive, project, schema


def width(plan: Plan) -> int:
    return len(plan.schema)


def joined(kind: str) -> Join:
    residual = call("less_than", column(1), column(5), type_=BOOL)
    key = (column(0),), (column(2),), (False,)
    return Join(T, U, kind, *key, residual, join_schema(kind, T.schema, U.schema))


def test_a_join_stores_keys_residual_and_what_is_read() -> None:
    plan = prune(project(joined("inner"), column(7)))
    verify(plan)
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Join)
    assert [f.name for f in plan.input.left.schema] == ["a", "b"]
    assert [f.name for f in plan.input.right.schema] == ["b", "c", "d"]
    assert plan.input.left_keys == (column(0),)
    assert plan.input.right_keys == (column(1),)
    assert plan.expressions == (column(4),)


def test_an_aggregate_drops_what_nobody_reads_but_its_keys() -> None:
    calls = tuple(AggregateCall("sum", (column(i),), INT, True) for i in (1, 2, 3))
    grouped = Aggregate(T, (column(0),), calls, schema("a", "b", "c", "d"))
    plan = prune(project(grouped, column(2)))
    verify(plan)
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Aggregate)
    assert [call_.arguments for call_ in plan.input.aggregates] == [(column(1),)]
    assert [f.name for f in plan.input.input.schema] == ["a", "c"]


def test_whole_rows_are_what_a_set_is_of() -> None:
    for sets in (Distinct(T), SetOperation(T, U, "except", T.schema)):
        plan = prune(project(sets, column(1)))
        assert isinstance(plan, Project)
        assert plan.input == sets


def test_rows_stay_where_no_column_is_read() -> None:
    counted = Aggregate(T, (), (AggregateCall("count", (), INT, False),), schema("n"))
    plan = prune(counted)
    verify(plan)
    assert width(plan.inputs[0]) == 1


def test_a_union_narrows_all_its_inputs() -> None:
    plan = prune(project(Union((T, T), T.schema), column(2)))
    verify(plan)
    assert all(width(input_) == 1 for input_ in plan.inputs[0].inputs)


def test_a_root_that_reads_everything_is_left_alone() -> None:
    for plan in (T, Filter(T, positive(1)), Distinct(T)):
        assert prune(plan) == plan


@pytest.mark.parametrize("kind", ["inner", "left", "full", "semi", "anti", "existence"])
def test_rows_stay_the_same(kind: str) -> None:
    join = joined(kind)
    plan = project(Distinct(project(join, column(2), column(1))), column(1))
    assert prune(plan).schema == plan.schema
    assert_same_rows(plan, prune(plan))


# a column that is there twice, and others that are each there once
COPIED = project(T, column(0), column(1), column(1), column(3))
EACH = project(U, column(0), column(1), column(2), column(3))
BY_COPY = (SortOrder(column(2)), SortOrder(column(0)), SortOrder(column(3)))
FIRST = Top(COPIED, (column(1),), BY_COPY, "row_number", 1, False, COPIED.schema)
KEYS = (column(1), column(2)), (column(0), column(1)), (False, False)
OVER_COPIES: dict[str, Plan] = {
    "top": FIRST,
    "window": Window(
        COPIED,
        (column(1),),
        (WindowCall("sum", (column(3),), INT, True, BY_COPY[:1]),),
        (*COPIED.schema, *schema("e")),
    ),
    "aggregate": Aggregate(
        COPIED,
        (column(1), column(2)),
        (AggregateCall("sum", (column(2),), INT, True),),
        schema("a", "b", "c"),
    ),
    "filter": Filter(COPIED, positive(2)),
    "distinct": Distinct(COPIED),
    "union": Union((COPIED, EACH), COPIED.schema),
    "except": SetOperation(COPIED, EACH, "except all", COPIED.schema),
    "left join": Join(COPIED, EACH, "left", *KEYS, None, join_schema("left", COPIED.schema, EACH.schema)),
    "full join": Join(EACH, COPIED, "full", *KEYS, None, join_schema("full", EACH.schema, COPIED.schema)),
    "semi-join": Join(COPIED, EACH, "semi", *KEYS, None, join_schema("semi", COPIED.schema, EACH.schema)),
}


def test_of_a_column_that_is_there_twice_one_is_kept() -> None:
    plan = prune(FIRST)
    verify(plan)
    assert isinstance(plan, Project)
    assert plan.schema == FIRST.schema
    assert plan.expressions == (column(0), column(1), column(1), column(2))
    assert isinstance(plan.input, Top)
    assert (width(plan.input), plan.input.order[0]) == (3, SortOrder(column(1)))


@pytest.mark.parametrize("over", OVER_COPIES)
def test_rows_over_copies_stay_the_same(over: str) -> None:
    plan = OVER_COPIES[over]
    for whole in (plan, Distinct(plan), project(plan, column(2)), project(plan, column(2), column(1))):
        pruned = prune(whole)
        verify(pruned)
        assert pruned.schema == whole.schema
        assert_same_rows(whole, pruned)
