"""session_window: rows are grouped by the merged session that they are in."""

from __future__ import annotations

from dbsp.sql.plans.nodes import Window
from dbsp.sql.plans.schemas import Windows
from tests.sql.recorded import nodes_of, plan_of, view_of

BY = "FROM e GROUP BY session_window(ts, '10 minutes')"


def test_sessions_are_of_the_other_keys_partitions() -> None:
    (window,) = nodes_of(plan_of(f"SELECT session_window.start AS s, k, count(*) AS n {BY}, k"), Window)
    assert window.finds_sessions
    assert [call.function for call in window.calls] == ["session_start", "session_end"]
    assert [window.input.schema[key.index].name for key in window.partition] == ["k"]
    (whole,) = nodes_of(plan_of(f"SELECT session_window.end AS s, max(k) AS m {BY}"), Window)
    assert whole.partition == ()


def test_a_rows_own_session_is_its_time_and_the_gap() -> None:
    (window,) = nodes_of(plan_of(f"SELECT session_window.start AS s, k, count(*) AS n {BY}, k"), Window)
    start, end = window.calls[0].arguments
    assert start.type == end.type
    assert window.calls[1].arguments == (start, end)


def test_a_session_has_a_start_an_end_and_no_width() -> None:
    query = f"SELECT session_window, session_window.start AS s, session_window.end AS e, count(*) AS n {BY}"
    fields = view_of(query).schema
    assert [field.window for field in fields] == [
        Windows("both", None),
        Windows("start", None),
        Windows("end", None),
        None,
    ]


def test_other_groupings_find_none() -> None:
    query = "SELECT window.start AS s, count(*) AS n FROM e GROUP BY window(ts, '1 hour')"
    assert not nodes_of(plan_of(query), Window)
