"""OVER: functions, frames and what they read, by DuckDB."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.nodes import Window
from tests.sql.recorded import check_rows, nodes_of, plan_of

# total, so that places are the same whoever counts them
ORDER = "ORDER BY b NULLS FIRST, c NULLS FIRST, d NULLS FIRST"
OVER = f"OVER (PARTITION BY a {ORDER}"


@pytest.mark.parametrize(
    "call",
    [
        f"row_number() {OVER})",
        "rank() OVER (PARTITION BY a ORDER BY b DESC NULLS LAST)",
        "dense_rank() OVER (ORDER BY c NULLS FIRST)",
        f"ntile(3) {OVER})",
        f"lag(c) {OVER})",
        f"lead(c, 2, 9) {OVER})",
        f"first_value(c) {OVER} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        f"last_value(c) {OVER} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        f"nth_value(c, 2) {OVER} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
        "sum(d) OVER (PARTITION BY a)",
        "count(*) OVER (PARTITION BY a ORDER BY b NULLS FIRST)",
        "count(c) FILTER (WHERE d > 0) OVER (PARTITION BY a)",
        "max(c) OVER (PARTITION BY a ORDER BY b NULLS FIRST RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        "min(c) OVER (PARTITION BY a ORDER BY b DESC NULLS LAST RANGE BETWEEN 2 PRECEDING AND CURRENT ROW)",
        f"sum(c) {OVER} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    ],
)
def test_rows(call: str) -> None:
    query = f"SELECT a, b, c, d, {call} AS w FROM t"
    # equal rows are in no order: of them any may have any place
    check_rows(f"SELECT DISTINCT a, b, c, d, w FROM ({query}) q" if "row_number" not in call else query)


def test_several_windows_and_what_is_over_groups() -> None:
    running = "sum(sum(c)) OVER (ORDER BY b NULLS FIRST) AS s"
    check_rows(f"SELECT b, {running}, rank() OVER (ORDER BY count(*)) AS r FROM t GROUP BY b")


def test_a_users_spelling_is_kept_for_messages() -> None:
    (window,) = nodes_of(plan_of("SELECT sum(d) OVER (PARTITION BY a) AS s FROM t"), Window)
    assert [call.text for call in window.calls] == ["sum(d) OVER (PARTITION BY a)"]


def test_partitions_of_doubles_are_by_value() -> None:
    (window,) = nodes_of(plan_of("SELECT rank() OVER (PARTITION BY x ORDER BY k) AS r FROM e"), Window)
    assert [key.function for key in window.partition] == ["normalize_na_n_and_zero"]


def test_a_range_of_times_is_in_the_sessions_zone() -> None:
    query = (
        "SELECT count(*) OVER (PARTITION BY k ORDER BY ts DESC RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND "
        "CURRENT ROW) AS n FROM e"
    )
    (window,) = nodes_of(plan_of(query), Window)
    lower = window.calls[0].frame.lower
    assert (lower.function, lower.option("timeZoneId")) == ("timestamp_add_interval", "UTC")
    # descending, what precedes is later
    assert lower.arguments[1].value.total_seconds() == 3600
    by_day = query.replace("ORDER BY ts", "ORDER BY day").replace("1 HOUR", "2 DAYS")
    (window,) = nodes_of(plan_of(by_day), Window)
    lower = window.calls[0].frame.lower
    assert (lower.function, lower.arguments[1].value) == ("date_add", 2)
