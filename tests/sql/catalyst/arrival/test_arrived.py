"""Rows with their order of arrival: how many columns that takes, and who has none."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst.arrival.arrived import arrival_of, numbered_by_arrival, with_arrival
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.calls import AggregateCall, SortOrder
from dbsp.sql.plans.nodes import (
    Aggregate,
    ArrivalJoin,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Scan,
    Top,
    Union,
)
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.verify import verify
from dbsp.sql.text.tokens import Slice
from tests.sql.hand_made import (
    INT,
    T,
    U,
    call,
    column,
    literal,
    positive,
    project,
    random_bags,
    rows_of,
    schema,
)
from tests.sql.plans.nodes.test_clock import BOTH, PHASES
from tests.sql.text.reading import source_of

KEY = ((column(0),), (column(0),), (False,))
INSIDE = Filter(Scan("v", T.schema), positive(0))
LIST = call("create_array", column(0), column(1), type_=pa.list_(INT))
QUERY = Query(
    source_of("SELECT first(a)"), Slice("SELECT first(a)", 0), [], arriving=frozenset("tu"), views={"v": T}
)
NODE = {"c": "First", "s": [7, 14]}


def join(kind: str) -> Join:
    residual = call("less_than", column(1), column(6), type_=pa.bool_())
    return Join(T, U, kind, *KEY, residual, join_schema(kind, T.schema, U.schema))


def meeting(kind: str) -> ArrivalJoin:
    made = join(kind)
    return ArrivalJoin(T, U, kind, *KEY, made.residual, made.schema)


PLANS: list[tuple[Plan, int]] = [
    (T, 1),
    (INSIDE, 1),
    (project(T, column(2), call("add", column(0), column(1))), 1),
    (Expand(T, ((column(0),), (literal(1),)), schema("x")), 1),
    (Union((T, U), T.schema), 1),
    (Union((T, project(join("inner"), *map(column, range(4)))), T.schema), 3),
    (join("inner"), 3),
    (join("full"), 3),
    (join("semi"), 1),
    (join("anti"), 1),
    (meeting("left"), 1),
    (meeting("semi"), 1),
    (AsOf(T, U, "left", *KEY, column(1), column(1), "less_than", join_schema("left", T.schema, U.schema)), 1),
    (Generate(T, (0, 3), LIST, schema("a", "d", "e"), outer=True), 2),
    (with_arrival(replace(QUERY, looked_into=set()), NODE, T).plan, 1),
    (Top(T, (column(0),), (SortOrder(column(1)),), "rank", 2, False, T.schema), 1),
]


@pytest.mark.parametrize(("plan", "size"), PLANS, ids=lambda one: getattr(one, "spelled", ""))
def test_the_same_rows_with_columns_more(plan: Plan, size: int) -> None:
    found = with_arrival(QUERY, NODE, plan)
    verify(found.plan)
    assert found.size == size
    assert found.plan.schema[: len(plan.schema)] == plan.schema
    assert all(not column.nullable and column.type == INT for column in found.columns)
    if plan is INSIDE:
        return  # the view is lowered with its program
    bags = random_bags(size)
    width = len(plan.schema)
    assert sorted(str(row[:width]) for row in rows_of(found.plan, bags).elements()) == sorted(
        str(row) for row in rows_of(plan, bags).elements()
    )


def test_each_copy_of_a_row_has_its_own() -> None:
    found = with_arrival(QUERY, NODE, T)
    rows = rows_of(found.plan, {"t": [(1, 1, 1, 1)] * 5})
    assert len(rows) == 5
    assert all(row[:4] == (1, 1, 1, 1) for row in rows)


def test_a_view_is_looked_into() -> None:
    assert with_arrival(QUERY, NODE, INSIDE).plan.arriving() == {"t"}
    assert QUERY.looked_into == {"v"}


@pytest.mark.parametrize("plan", [BOTH, PHASES], ids=["filter", "values"])
def test_what_the_clock_changes_keeps_it(plan: Plan) -> None:
    found = with_arrival(replace(QUERY, arriving=frozenset("s")), NODE, plan)
    verify(found.plan)
    assert (found.size, found.plan.arriving()) == (1, {"s"})
    assert found.plan.schema[:-1] == plan.schema


def test_without_an_arrival_no_view_is_looked_into() -> None:
    query = replace(QUERY, looked_into=set())
    assert arrival_of(query, Union((INSIDE, Distinct(T)), T.schema)) is None
    assert query.looked_into == set()
    found = arrival_of(query, INSIDE)
    assert found is not None
    assert (found.size, query.looked_into) == (1, {"v"})


@pytest.mark.parametrize(
    ("plan", "over"),
    [
        (Distinct(T), "the rows of DISTINCT"),
        (
            Filter(Aggregate(T, (), (AggregateCall("count", (), INT, False),), schema("n")), positive(0)),
            "the rows of A",
        ),
        (Scan("unchecked", T.schema), "'unchecked'"),
        (Union((T, Distinct(U)), T.schema), "the rows of DISTINCT"),
    ],
)
def test_rows_that_are_made_of_many_have_none(plan: Plan, over: str) -> None:
    with pytest.raises(ProgramError) as raised:
        with_arrival(QUERY, NODE, plan)
    assert str(raised.value).startswith(f"p.sql:1:8: not supported yet: first() and last() over {over}")


def test_as_one_column_of_a_name() -> None:
    found = numbered_by_arrival(QUERY, NODE, project(T, column(2)), "at")
    assert [(one.name, one.nullable) for one in found.schema[1:]] == [("at", False)]
    rows = list(rows_of(found, {"t": [(1, 1, 7, 1), (1, 1, 8, 1), (1, 1, 7, 1)]}))
    assert [c for c, _ in sorted(rows, key=lambda row: row[1])] == [7, 8, 7]
    for several in (
        join("inner"),
        join("full"),
        Generate(T, (0, 3), LIST, schema("a", "d", "e"), outer=True),
    ):
        found = numbered_by_arrival(QUERY, NODE, several, "at")
        verify(found)
        assert [(one.name, one.nullable) for one in found.schema[len(several.schema) :]] == [("at", False)]
    with pytest.raises(ProgramError, match=r"1:8: not supported yet: a number over the rows of DISTINCT"):
        numbered_by_arrival(QUERY, NODE, Distinct(T), "at")
