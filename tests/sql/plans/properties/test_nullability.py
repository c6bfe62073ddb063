"""Columns that a filter or a join asks for are never NULL, also in a view that reads the view."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.sql.plans.nodes import Expand, Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.properties.nullability import never_null, with_not_null
from dbsp.sql.plans.schemas import Field

INT = pa.int64()
SCHEMA = (Field("a", INT), Field("b", INT), Field("c", INT, nullable=False))
A, B = Column(0, INT), Column(1, INT)
T = Scan("t", SCHEMA)


def view(name: str, plan: Plan) -> View:
    return View(name, plan.schema, "view", plan, False, "p.sql:1:1")


KNOWN = view("known", Filter(T, Call("is_not_null", (B,), pa.bool_())))
READER = view("reader", Project(Scan("known", SCHEMA), (B, A), SCHEMA[:2]))


def test_what_a_view_asks_for_its_readers_have() -> None:
    views = {"known": KNOWN, "reader": READER}
    assert never_null(KNOWN, views) == {1, 2}
    assert never_null(READER, views) == {0}


def test_of_a_view_that_reads_itself_the_types_say_it_all() -> None:
    recursive = replace(KNOWN, component=("known",))
    assert never_null(READER, {"known": recursive, "reader": READER}) == set()
    late = view("late_rows", Scan("late_rows", SCHEMA))
    assert never_null(late, {"late_rows": late}) == {2}


def test_a_windows_start_is_there_where_its_time_is() -> None:
    """ts − pmod(ts, width), which is NULL for no other reason; by 0, or where it may overflow, it is."""
    ten, zero = Literal(10, INT), Literal(0, INT)

    def start(of: Column, width: Literal, mode: str = "ANSI") -> Call:
        rest = Call("pmod", (of, width), INT)
        return Call("subtract", (of, rest), INT, True, (("evalMode", mode),))

    c = Column(2, INT, False)
    expressions = (start(c, ten), start(A, ten), start(c, zero), start(c, ten, "TRY"))
    windows = view("windows", Project(T, expressions, tuple(Field(name, INT) for name in "wxyz")))
    assert never_null(windows, {"windows": windows}) == {0}


def test_of_several_rows_of_one_what_all_say_counts() -> None:
    c = Column(2, INT, False)
    rows = ((c, A, c), (Call("add", (c, Literal(1, INT)), INT), c, A))
    several = Expand(T, rows, tuple(Field(name, INT) for name in "xyz"))
    assert several.never_null({}) == {0}


def test_the_columns_of_views_say_it() -> None:
    views = with_not_null({"known": KNOWN, "reader": READER})
    assert [column.nullable for column in views["known"].schema] == [True, False, False]
    assert [column.nullable for column in views["reader"].schema] == [False, True]
    assert views["known"].plan is KNOWN.plan
    recursive = replace(KNOWN, component=("known",))
    assert with_not_null({"known": recursive}) == {"known": recursive}
