"""Traces hold what joins and aggregates need, and nothing else."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Project, SetOperation, Union
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
