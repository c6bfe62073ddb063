"""Rules on hand-made plans: what each one changes, and what it must leave alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Project, Scan, Union
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.verify import verify
from dbsp.sql.rules import apply_rules
from dbsp.sql.rules.merge_projects import merge_projects
from dbsp.sql.rules.names import names
from dbsp.sql.rules.prune import prune
from dbsp.sql.rules.simplify import simplify
from dbsp.sql.rules.struct_keys import struct_keys

INT = pa.int64()


def schema(*columns: str) -> Schema:
    return tuple(Field(column, INT) for column in columns)


def column(index: int) -> Column:
    return Column(index, INT)


def literal(value: int) -> Literal:
    return Literal(value, INT)


def call(function: str, *arguments: Expression, type_: pa.DataType = INT) -> Call:
    return Call(function, arguments, type_)


T = Scan("t", schema("a", "b", "c", "d"))


def project(input_: Plan, *expressions: Expression, names: str = "wxyz") -> Project:
    return Project(
        input_, expressions, tuple(Field(n, e.type) for n, e in zip(names, expressions, strict=False))
    )


def positive(index: int) -> Call:
    return call("greater_than", column(index), literal(0), type_=pa.bool_())


def width(plan: Plan) -> int:
    return len(plan.schema)


def test_a_join_stores_keys_residual_and_what_is_read() -> None:
    residual = call("less_than", column(1), column(5), type_=pa.bool_())
    join = Join(T, T, "inner", (column(0),), (column(2),), (False,), residual, (*T.schema, *T.schema))
    plan = prune(project(join, column(7)))
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


def test_a_distinct_keeps_every_column() -> None:
    plan = prune(project(Distinct(T), column(1)))
    assert isinstance(plan, Project)
    assert plan.input == Distinct(T)


def test_rows_stay_where_no_column_is_read() -> None:
    counted = Aggregate(T, (), (AggregateCall("count", (), INT, False),), schema("n"))
    plan = prune(counted)
    verify(plan)
    assert width(plan.inputs[0]) == 1


def test_a_union_narrows_all_its_inputs() -> None:
    plan = prune(project(Union((T, T), T.schema), column(2)))
    verify(plan)
    assert all(width(input_) == 1 for input_ in plan.inputs[0].inputs)


def test_projects_merge_unless_a_call_would_be_computed_twice() -> None:
    inner = project(T, call("add", column(0), column(1)), column(2))
    once = merge_projects(project(inner, call("unary_minus", column(0)), column(1), column(1)))
    assert once == project(T, call("unary_minus", call("add", column(0), column(1))), column(2), column(2))
    twice = project(inner, call("multiply", column(0), column(0)))
    assert merge_projects(twice) == twice


def test_a_project_that_changes_nothing_goes_and_renaming_stays() -> None:
    assert merge_projects(Project(T, tuple(map(column, range(4))), T.schema)) == T
    renamed = Project(T, tuple(map(column, range(4))), schema("x", "b", "c", "d"))
    assert merge_projects(renamed) == renamed


def test_filters_merge_and_sink_below_columns_but_not_below_calls() -> None:
    total = call("add", column(0), column(0))
    plan = merge_projects(Filter(Filter(project(T, column(3), column(1), total), positive(0)), positive(1)))
    assert isinstance(plan, Project)
    assert plan.input == Filter(T, call("and", positive(3), positive(1), type_=pa.bool_()))
    above = Filter(project(T, column(3), total), positive(1))
    assert merge_projects(above) == above


def test_projects_merge_where_a_struct_is_taken_apart() -> None:
    parts = pa.struct([("p", INT), ("q", INT)])
    made = call("create_named_struct", literal(0), column(1), literal(0), column(2), type_=parts)
    fields = [Call("get_struct_field", (Column(0, parts),), INT, True, (("ordinal", i),)) for i in range(2)]
    plan = simplify(merge_projects(project(project(T, made), *fields)))
    assert plan == project(T, column(1), column(2))


def test_a_window_is_a_positive_remainder() -> None:
    rest = call("remainder", call("subtract", column(0), literal(0)), literal(10))
    shorter = call("remainder", column(0), literal(10))
    aligned = call(
        "case_when",
        call("less_than", rest, literal(0), type_=pa.bool_()),
        call("add", rest, literal(10)),
        rest,
    )
    assert simplify(project(T, aligned)) == project(T, call("pmod", *shorter.arguments))
    backwards = call("case_when", positive(0), call("add", rest, literal(10)), rest)
    kept = simplify(project(T, backwards))
    assert isinstance(kept, Project)
    assert kept.expressions[0] == call("case_when", positive(0), call("add", shorter, literal(10)), shorter)


def test_a_struct_key_becomes_its_fields_and_is_made_again_above() -> None:
    fields = pa.struct([("start", INT), ("end", INT)])

    def struct(start: Expression, end: Expression) -> Call:
        return call(
            "create_named_struct",
            Literal("start", pa.string()),
            start,
            Literal("end", pa.string()),
            end,
            type_=fields,
        )

    def micros(e: Expression) -> Call:
        return call("precise_timestamp_conversion", e)

    below = project(T, struct(micros(column(0)), micros(call("add", column(0), literal(5)))), column(1))
    grouped = Aggregate(
        below,
        (Column(0, fields), column(1)),
        (AggregateCall("count", (), INT, False),),
        (Field("window", fields), *schema("b", "n")),
    )
    plan = struct_keys(grouped)
    verify(plan)
    assert plan.schema == grouped.schema
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Aggregate)
    assert [key.type for key in plan.input.keys] == [INT, INT]
    end = micros(call("add", micros(column(0)), literal(5)))
    assert plan.expressions == (struct(column(0), end), column(1), column(2))


def test_aliases_make_no_difference_below_the_root() -> None:
    first = Distinct(project(T, call("add", column(0), column(1)), names="x"))
    second = Distinct(project(T, call("add", column(0), column(1)), names="y"))
    named = [names(plan) for plan in (first, second)]
    assert [plan.schema[0].name for plan in named] == ["x", "y"]
    assert named[0].inputs == named[1].inputs


@pytest.mark.parametrize(
    "broken",
    [
        Project(T, (Column(4, INT),), schema("x")),
        Project(T, (Column(0, pa.string()),), (Field("x", pa.string()),)),
        Project(T, (column(0),), (Field("x", pa.string()),)),
        Filter(T, column(0)),
        Join(T, T, "inner", (column(0),), (), (False,), None, (*T.schema, *T.schema)),
        Join(T, T, "inner", (), (), (), column(8), (*T.schema, *T.schema)),
        Union((T, T), schema("a")),
    ],
)
def test_verify_refuses_a_broken_plan(broken: Plan) -> None:
    with pytest.raises(AssertionError, match=type(broken).__name__):
        apply_rules(broken)
