"""Project: columns computed of each row; which of them still tell rows apart."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.nodes import Filter, Project
from dbsp.sql.plans.nodes.project import columns_in, narrowed, only_rows, selected
from dbsp.sql.plans.schemas import Key
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import INT, T, assert_as_duckdb, call, column, literal, positive, project

TIME = pa.timestamp("us", tz="UTC")
STRUCT = pa.struct([("x", INT), ("y", INT)])


def struct(*values: Expression) -> Call:
    named = [part for value in values for part in (Literal("x", pa.string()), value)]
    return call("create_named_struct", *named, type_=STRUCT)


def wrapping(mode: str) -> Call:
    return Call("add", (column(0), literal(1)), INT, True, (("evalMode", mode),))


@pytest.mark.parametrize(
    ("expressions", "key"),
    [
        ([column(0), column(1)], (0, 1)),
        ([column(1), column(2), column(0)], (2, 0)),
        ([column(0), column(2)], None),
        ([struct(column(0), column(1))], (0,)),
        ([call("add", column(0), literal(5)), column(1)], (0, 1)),
        ([call("precise_timestamp_conversion", column(0), type_=TIME), column(1)], (0, 1)),
        ([call("add", column(0), literal(5)), column(1), column(0)], (2, 1)),  # a column is best
        ([call("add", column(0), column(1)), column(1)], None),
        ([call("multiply", column(0), literal(2)), column(1)], None),
        ([wrapping("LEGACY"), column(1)], None),
        ([wrapping("ANSI"), column(1)], (0, 1)),
    ],
)
def test_what_still_tells_rows_apart(expressions: list[Expression], key: Key) -> None:
    assert project(T, *expressions).stream_key({"t": (0, 1)}) == key


def test_one_row_stays_one_row() -> None:
    assert project(T, column(0)).stream_key({"t": ()}) == ()
    assert project(T, column(0)).stream_key({"t": None}) is None


def test_columns_that_are_kept_are_known_as_before() -> None:
    lenient = Call("add", (column(1), literal(0)), pa.decimal128(5, 0), options=(("evalMode", "LEGACY"),))
    plan = project(Filter(T, positive(1)), column(1), call("add", column(1), literal(0)), lenient)
    assert plan.asked_for({}) == {0, 1}
    assert plan.append_only({"t": True})
    assert {*project(T, column(2), column(1)).monotonic({"t": {1: (column(1),)}})} == {1}


def test_narrower_plans() -> None:
    sums = project(T, call("add", column(0), column(1)), column(3))
    plan, position = narrowed(sums, {1})
    verify(plan)
    assert (len(plan.schema), position) == (1, {1: 0})
    assert_as_duckdb(plan, "SELECT d FROM t")
    plan, position = narrowed(sums, set())  # rows have to be somewhere, and nothing is computed
    assert (plan, position) == (only_rows(T), {})


def test_selecting_everything_changes_nothing() -> None:
    assert selected(T, range(4)) is T
    assert selected(T, [2, 0]) == Project(T, (column(2), column(0)), (T.schema[2], T.schema[0]))
    assert columns_in([call("add", column(0), column(3)), column(3)]) == {0, 3}


def test_spelling_and_names() -> None:
    plan = project(
        T, column(0), call("add", column(0), column(1)), Call("cast", (Column(2, INT),), pa.int32())
    )
    assert plan.spelled == "project a AS w, a + b AS x, CAST(c AS INT) AS y"
    assert [field.name for field in plan.named().schema] == ["a", "add", "c"]
