"""What is known of a view: when its changes leave, whether it takes rows back, what is wrong with it."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.program import Schedule, Triggers
from tests.sql.recorded import TABLES, check_program_refused, compiled


def test_when_changes_leave() -> None:
    late = "CREATE TABLE l (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE); "
    query = "SELECT window.end AS w, count(*) AS n FROM l GROUP BY window(ts, '10 minutes')"
    trigger = compiled(
        f"{late}CREATE VIEW v AS {query} TRIGGER COUNTING 2, AFTER DELAY INTERVAL 5 MINUTES"
    ).views["v"]
    assert isinstance(trigger.emission, Triggers)
    assert (trigger.emission.counting, trigger.emission.delay) == (2, 300_000_000)
    emit = compiled(f"{late}CREATE VIEW v AS {query} EMIT (LAST RESULT OFFSET INTERVAL 1 HOUR)").views["v"]
    assert isinstance(emit.emission, Schedule)
    assert (emit.emission.complete, emit.emission.last) == (0, 3_600_000_000)


def test_a_query_knows_what_never_retracts() -> None:
    table = "CREATE TABLE t (a BIGINT) WITH (append_only = true); "
    program = compiled(
        f"{table}CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT count(*) AS n FROM v"
    )
    assert [view.append_only for view in program.views.values()] == [True, False]


def test_a_view_may_have_the_order_of_arrival_and_be_one_that_only_grows() -> None:
    numbered = "CREATE LOCAL VIEW n WITH (arrival = at, append_only = true) AS SELECT a FROM t; "
    last = "CREATE VIEW v AS SELECT a, max(at) AS at FROM n GROUP BY a"
    table = "CREATE TABLE t (a BIGINT) WITH (append_only = true); "
    view = compiled(table + numbered + last).views["n"]
    assert [(column.name, str(column.type)) for column in view.schema] == [("a", "int64"), ("at", "int64")]
    assert view.plan.arriving() == {"t"}
    check_program_refused(
        f"CREATE TABLE t (a BIGINT); {numbered}{last}", "1:46: streaming table 'n' would take rows back"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE VIEW v (x, y) AS SELECT a FROM t", "2:13: view 'v' lists 2 columns, its query has 1"),
        (
            "CREATE VIEW v AS SELECT STREAM a FROM t TRIGGER COUNTING 2",
            "2:39: cannot convert table 't' to a stream; leave STREAM",
        ),
    ],
)
def test_refused(text: str, error: str) -> None:
    check_program_refused(f"{TABLES}\n{text}", error)
