"""A struct that is made for the grouping is taken apart below it, and made again above."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Expand, Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify
from dbsp.sql.rules.struct_keys import struct_keys
from tests.sql.hand_made import INT, T, assert_same_rows, call, column, literal, project, schema

TIME = pa.timestamp("us", tz="UTC")
FIELDS = pa.struct([("start", TIME), ("end", TIME)])
COUNT = AggregateCall("count", (), INT, False)


def struct(start: Expression, end: Expression, fields: pa.StructType = FIELDS) -> Call:
    names = [Literal(field.name, pa.string()) for field in fields]
    return call("create_named_struct", names[0], start, names[1], end, type_=fields)


def time(microseconds: Expression) -> Call:
    return call("precise_timestamp_conversion", microseconds, type_=TIME)


def micros(start: Expression) -> Call:
    return call("precise_timestamp_conversion", start)


def later(start: Expression, by: int = 5) -> Call:
    return time(call("add", start, literal(by)))


WINDOW = struct(time(column(0)), later(column(0)))


def grouped(below: Plan) -> Aggregate:
    return Aggregate(
        below, (Column(0, FIELDS), column(1)), (COUNT,), (Field("window", FIELDS), *schema("b", "n"))
    )


def keys_of(plan: Plan) -> list[pa.DataType]:
    (below,) = plan.inputs
    assert isinstance(below, Aggregate)
    return [key.type for key in below.keys]


def test_a_window_is_grouped_by_its_start() -> None:
    before = grouped(project(T, WINDOW, column(1)))
    plan = struct_keys(before)
    verify(plan)
    assert plan.schema == before.schema
    assert isinstance(plan, Project)
    assert keys_of(plan) == [TIME, INT]
    start = Column(0, TIME)
    assert plan.expressions == (struct(start, later(micros(start))), column(1), column(2))
    assert_same_rows(before, plan)


@pytest.mark.parametrize(
    "end", [later(column(2)), time(call("add", column(0), column(2))), time(column(2))], ids=str
)
def test_an_end_that_the_start_doesnt_determine_is_a_key_too(end: Call) -> None:
    before = grouped(project(T, struct(time(column(0)), end), column(1)))
    plan = struct_keys(before)
    verify(plan)
    assert keys_of(plan) == [TIME, TIME, INT]
    assert_same_rows(before, plan)


def test_each_pane_of_a_hopping_window_has_its_own_start() -> None:
    panes = tuple(
        (struct(time(start), later(start)), column(1))
        for start in (column(0), call("add", column(0), literal(1)))
    )
    before = grouped(Expand(T, panes, (Field("window", FIELDS), *schema("b"))))
    plan = struct_keys(before)
    verify(plan)
    assert keys_of(plan) == [TIME, INT]
    assert_same_rows(before, plan)


def test_a_rollup_stands_between_the_struct_and_the_grouping() -> None:
    below = project(T, WINDOW, column(1))
    sets = tuple((Column(0, FIELDS), b) for b in (column(1), literal(None)))
    before = grouped(Expand(below, sets, below.schema))
    plan = struct_keys(before)
    verify(plan)
    assert keys_of(plan) == [TIME, INT]
    assert_same_rows(before, plan)


def test_distinct_windows() -> None:
    before = Distinct(project(T, WINDOW, column(1)))
    plan = struct_keys(before)
    verify(plan)
    (below,) = plan.inputs
    assert isinstance(below, Distinct)
    assert [field.type for field in below.schema] == [TIME, INT]
    assert_same_rows(before, plan)


def test_a_struct_that_was_there_before_stays_a_key() -> None:
    made = project(T, WINDOW, column(1))
    for kept in (
        grouped(Project(Distinct(made), (Column(0, FIELDS), column(1)), made.schema)),
        replace(grouped(made), keys=(column(1), column(1)), schema=schema("b", "c", "n")),
        Distinct(project(T, column(0))),
    ):
        (below,) = struct_keys(kept).inputs
        assert type(below) is type(kept.inputs[0])
