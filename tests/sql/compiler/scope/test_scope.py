"""What texts of a program mean in the light of what it has defined so far."""

from __future__ import annotations

import pytest

from dbsp.sql.compiler.scope.scope import renamed
from dbsp.sql.plans.nodes import Filter, Project
from dbsp.sql.plans.schemas import columns_of_schema
from tests.sql.hand_made import T, column, project, schema
from tests.sql.recorded import TABLES, check_program_refused, check_refused, compiled, nodes_of, plan_of


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE T (a INT);", "2:14: 'T' is already defined at p.sql:1:14"),
        (
            "CREATE VIEW v AS SELECT a FROM t; CREATE VIEW V AS SELECT a FROM t",
            "2:47: 'V' is already defined at p.s",
        ),
        (
            "CREATE VIEW Late_Rows AS SELECT a FROM t",
            "2:13: 'Late_Rows' is the system's view of what comes too",
        ),
        (
            "CREATE TABLE n (a VARIANT PRIMARY KEY); CREATE VIEW v AS SELECT 1 AS x",
            "2:19: column 'a' of 'n' is a VARIANT, which can't be in a PRIMARY KEY; take what is in it, as",
        ),
        ("CREATE TABLE n (a INTEGR); CREATE VIEW v AS SELECT 1 AS x", '2:19: Unsupported data type "INTEGR"'),
    ],
)
def test_names_and_types(text: str, error: str) -> None:
    text = text if "VIEW" in text else f"{text} CREATE VIEW v AS SELECT a FROM t"
    check_program_refused(f"{TABLES}\n{text}", error)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT amount FROM t", "8: unknown column 'amount' in 't'; columns: a, b, c, d"),
        ("SELECT a FROM tt", "15: unknown table 'tt'; tables and views so far: t, u, e"),
        (
            "SELECT v.a FROM v",
            "17: 'v' reads itself; write CREATE RECURSIVE VIEW v (column TYPE, ...) AS query",
        ),
        ("SELECT a FORM t", "15: syntax error at or near 't'"),
        (
            "SELECT a, b, count(*) AS n FROM t GROUP BY b",
            "1: a is neither in GROUP BY nor within an aggregate",
        ),
        ("SELECT a FROM t JOIN u ON t.a = u.a", "8: column 'a' could be any of t.a, u.a; say which"),
        (
            "SELECT count(*) AS n FROM e GROUP BY TUMBLE(ts, k)",
            "49: 'k' is no constant of fixed length; write an",
        ),
    ],
)
def test_queries(query: str, error: str) -> None:
    check_refused(query, error)


def test_spellings_of_others_are_read() -> None:
    plan = plan_of(
        "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS s FROM e GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"
    )
    assert plan.spelled == "distinct" or nodes_of(plan, Project)


def test_a_view_reads_what_is_above_it() -> None:
    program = compiled(
        f"{TABLES}CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT a FROM v WHERE a > 0"
    )
    assert isinstance(program.views["w"].plan, Filter)
    check_program_refused(
        f"{TABLES}\nCREATE VIEW w AS SELECT a FROM v; CREATE VIEW v AS SELECT a FROM t",
        "2:32: 'v' is defined further down; a view reads what is above it: move 'v' up",
    )


def test_names_are_the_users() -> None:
    assert renamed(T, ("a", "b", "c", "d")) is T
    assert renamed(T, ("x", "b", "c", "d")) == Project(
        T, columns_of_schema(T.schema), schema("x", "b", "c", "d")
    )
    below = project(T, column(1), names="x")
    assert [field.name for field in renamed(below, ("y",)).schema] == ["y"]
