"""The rules one after the other: the same relation, checked after each."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.sql.plans.calls import AggregateCall, SortOrder, WindowCall
from dbsp.sql.plans.nodes import Aggregate, Filter, Join, Project, Scan, Union, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules import apply_rules, driver
from tests.sql.hand_made import (
    BOOL,
    INT,
    T,
    U,
    assert_same_rows,
    call,
    column,
    literal,
    positive,
    project,
    schema,
)

SUM = call("add", column(0), call("subtract", column(1), literal(0)))
JOINED = Join(T, U, "inner", (column(0),), (column(1),), (False,), None, (*T.schema, *U.schema))
RANKED = Window(
    project(JOINED, SUM, column(6), column(3)),
    (column(1),),
    (WindowCall("rank", (), pa.int32(), False, (SortOrder(column(0)),)),),
    (*schema("w", "x", "y"), Field("r", pa.int32(), False)),
)
BEST = Filter(RANKED, call("less_than", Column(3, pa.int32(), False), Literal(3, pa.int32()), type_=BOOL))
PLANS: dict[str, Plan] = {
    "a join's group": Aggregate(
        Filter(project(JOINED, SUM, column(6)), positive(1)),
        (column(1),),
        (AggregateCall("sum", (column(0),), INT, True),),
        schema("k", "s"),
    ),
    "the best of a join": project(BEST, column(1), column(0)),
    "a group of two tables": Aggregate(
        Union((T, U), T.schema), (SUM,), (AggregateCall("count", (), INT, False),), schema("k", "n")
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_rows_stay_the_same_and_the_traces_are_narrower(name: str) -> None:
    plan = PLANS[name]
    found = apply_rules(plan)
    assert found.schema == plan.schema
    assert _stored(found) < _stored(plan)
    assert_same_rows(plan, found)


def _stored(plan: Plan) -> int:
    """The columns of what traces are kept of."""
    here = sum(len(below.schema) for below in plan.inputs if isinstance(plan, Join | Aggregate | Window))
    return here + sum(map(_stored, plan.inputs))


def test_a_rule_that_breaks_the_plan_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(plan: Plan) -> Plan:
        return Project(plan, (column(9),), schema("a"))

    monkeypatch.setattr(driver, "RULES", (wrong,))
    with pytest.raises(AssertionError, match="Project: no column #9 of 4"):
        apply_rules(T)


def test_a_rule_that_renames_the_users_columns_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def renaming(plan: Plan) -> Plan:
        assert isinstance(plan, Scan)
        return replace(plan, schema=schema("z", "b", "c", "d"))

    monkeypatch.setattr(driver, "RULES", (renaming,))
    with pytest.raises(AssertionError, match="renaming changed the schema"):
        apply_rules(T)
