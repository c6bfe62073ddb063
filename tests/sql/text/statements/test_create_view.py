"""CREATE VIEW and CREATE RECURSIVE VIEW: their heads, and where a query's text ends."""

from __future__ import annotations

import pytest

from dbsp.sql.text.emission_clauses import TriggerClause
from dbsp.sql.text.statements.create_view import DEFAULT_ITERATIONS, CreateRecursiveView, CreateView
from tests.sql.text.reading import check_refused, only, source_of


@pytest.mark.parametrize(
    "query",
    ["SELECT 1 AS a", "WITH w AS (SELECT 1) TABLE w", "(SELECT 1) UNION (SELECT 2)", "FROM t", "VALUES (1)"],
)
@pytest.mark.parametrize("kind", ["", "LOCAL ", "MATERIALIZED "])
def test_a_view_keeps_its_query_as_written(kind: str, query: str) -> None:
    text = f"CREATE {kind}VIEW `a ``b` (x, `y z`) AS\n  {query}\n"
    found = only(text)
    assert isinstance(found, CreateView)
    assert (found.name, found.columns) == ("a `b", ("x", "y z"))
    assert found.kind == (kind.strip().lower() or "view")
    assert found.query.text == query
    assert source_of(text).location(found.query.start) == "p.sql:2:3"
    assert text[found.start] == "`"


def test_the_query_ends_where_an_emission_begins() -> None:
    found = only("CREATE VIEW v AS SELECT 1 -- the one\n TRIGGER COUNTING 2")
    assert isinstance(found, CreateView)
    assert found.query.text == "SELECT 1"
    assert isinstance(found.emission, TriggerClause)


def test_what_is_said_of_a_view() -> None:
    found = only("CREATE LOCAL VIEW v WITH (append_only = true, 'Arrival' = 'at') AS SELECT 1 AS a")
    assert isinstance(found, CreateView)
    assert (found.grows, found.arrival, found.emit_final, found.tick) == (True, "at", None, 0)


@pytest.mark.parametrize(
    ("clock", "seconds"), [("every 10 seconds", 10), ("EVERY minute", 60), ("every 2 hours", 7200)]
)
def test_how_often_the_clock_goes_on(clock: str, seconds: int) -> None:
    found = only(f"CREATE VIEW v WITH (clock = '{clock}') AS SELECT 1 AS a")
    assert isinstance(found, CreateView)
    assert found.tick == seconds * 1_000_000


@pytest.mark.parametrize("clock", ["10 seconds", "every 0 seconds", "every month", "every 400 days"])
def test_a_clock_that_says_no_time(clock: str) -> None:
    wrong = f"1:21: clock = '{clock}': say how often now() goes on, as 'every 10 seconds'"
    check_refused(f"CREATE VIEW v WITH (clock = '{clock}') AS SELECT 1 AS a", wrong)


def test_a_recursive_view_says_its_types_and_how_far_it_goes() -> None:
    found = only("CREATE LOCAL RECURSIVE VIEW v (a INT NOT NULL, b MAP<INT, STRING>) AS SELECT * FROM v")
    assert isinstance(found, CreateRecursiveView)
    assert [(c.name, c.type.text, c.not_null) for c in found.columns] == [
        ("a", "INT", True),
        ("b", "MAP<INT, STRING>", False),
    ]
    assert (found.kind, found.max_iterations) == ("local", DEFAULT_ITERATIONS)
    short = only("CREATE RECURSIVE VIEW v (a INT) WITH (MAX_iterations = 7) AS SELECT * FROM v")
    assert isinstance(short, CreateRecursiveView)
    assert short.max_iterations == 7


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE VIEW v SELECT 1", "1:15: expected AS, found 'SELECT'"),
        ("CREATE VIEW v AS", "1:17: expected a query, found the end"),
        (
            "CREATE VIEW v WITH (materialized = true) AS SELECT 1",
            "1:21: unknown property 'materialized'; properties of a view: append_only, arrival, clock,",
        ),
        ("CREATE VIEW v AS DROP TABLE t", "1:18: expected a query, found 'DROP'"),
        (
            "CREATE LOCAL VIEW v AS SELECT 1 TRIGGER COUNTING 1",
            "1:33: view 'v' is LOCAL: nothing of it leaves",
        ),
        (
            "CREATE RECURSIVE VIEW v AS SELECT 1",
            "1:25: recursive view 'v' needs its columns with their types: CREATE RECURSIVE VIEW v (column",
        ),
        ("CREATE RECURSIVE VIEW v (a) AS SELECT 1", "1:27: column 'a' has no type"),
        ("CREATE RECURSIVE VIEW v (a INT, A INT) AS SELECT 1", "1:33: column 'A' is defined twice"),
        ("CREATE RECURSIVE VIEW v (a INT PRIMARY KEY) AS SELECT 1", "1:26: a column of a recursive view is"),
        ("CREATE RECURSIVE VIEW v (a INT DEFAULT 1) AS SELECT 1", "1:26: a column of a recursive view is"),
        ("CREATE RECURSIVE VIEW v (a INT) WITH (max = 1) AS SELECT 1", "1:39: unknown property 'max'; prop"),
        (
            "CREATE RECURSIVE VIEW v (a INT) WITH (max_iterations = 0) AS SELECT 1",
            "1:39: max_iterations is a number from 1, not '0'",
        ),
        (
            "CREATE RECURSIVE VIEW v (a INT) WITH (max_iterations = 2147483648) AS SELECT 1",
            "1:39: max_iterations is a number from 1, not '2147483648'",
        ),
        (
            "CREATE RECURSIVE VIEW v (a INT) AS SELECT 1 TRIGGER COUNTING 1",
            "1:45: not supported yet: TRIGGER on a recursive view; give it to a view of it: CREATE VIEW v AS",
        ),
    ],
)
def test_refused(text: str, error: str) -> None:
    check_refused(text, error)
