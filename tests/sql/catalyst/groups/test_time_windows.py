"""A column of windows is known as one, however the query is written and whatever it is called."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.plans.schemas import Windows
from tests.sql.compiling import compiled, view

MINUTE = 60_000_000
HOUR = 60 * MINUTE
TUMBLING = "FROM orders GROUP BY window(ts, '10 minutes')"
HOPPING = "FROM orders GROUP BY window(ts, '25 minutes', '10 minutes')"
TUMBLE = "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
HOP = "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '3' HOURS)"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("query", "window"),
    [
        (f"SELECT window {TUMBLING}", Windows("both", 10 * MINUTE)),
        (f"SELECT window.start {TUMBLING}", Windows("start", 10 * MINUTE)),
        (f"SELECT window.start, count(*) AS `count(*)` {HOPPING}", Windows("start", 25 * MINUTE)),
        (f"SELECT window.start AS k {TUMBLING}", Windows("start", 10 * MINUTE)),
        (f"SELECT window.end AS k {TUMBLING}", Windows("end", 10 * MINUTE)),
        (
            "SELECT window.end AS k FROM orders GROUP BY window(ts, '9 minutes', '9 minutes', '2 minutes')",
            Windows("end", 9 * MINUTE),
        ),
        (f"SELECT window {HOPPING}", Windows("both", 25 * MINUTE)),
        (f"SELECT window.start AS k {HOPPING}", Windows("start", 25 * MINUTE)),
        (f"SELECT window.end AS k {HOPPING}", Windows("end", 25 * MINUTE)),
        (f"SELECT DISTINCT window_start FROM {TUMBLE}", Windows("start", HOUR)),
        (f"SELECT window_end AS k FROM {TUMBLE}", Windows("end", HOUR)),
        (f"SELECT window_start AS k, count(*) FROM {HOP} GROUP BY window_start", Windows("start", 3 * HOUR)),
        (f"SELECT window_end AS k FROM {HOP}", Windows("end", 3 * HOUR)),
        ("SELECT session_window FROM event GROUP BY session_window(ts, '5 minutes')", Windows("both", None)),
        (
            "SELECT session_window.end FROM event GROUP BY session_window(ts, '5 minutes')",
            Windows("end", None),
        ),
        ("SELECT date_trunc('HOUR', ts) FROM orders", Windows("start", HOUR)),
        ("SELECT FLOOR(ts TO WEEK) FROM orders", Windows("start", 7 * 24 * HOUR)),
        ("SELECT date_trunc('MONTH', ts) FROM orders", None),
        ("SELECT ts AS window_end FROM orders", None),
        ("SELECT timestamp_micros(unix_micros(ts) + 5) FROM orders", None),
        (
            f"SELECT w.end FROM (SELECT window AS w, count(*) AS n {TUMBLING}) WHERE n > 1",
            Windows("end", 10 * MINUTE),
        ),
        (
            f"SELECT w.end FROM (SELECT window AS w {TUMBLING}) ORDER BY w LIMIT 3",
            Windows("end", 10 * MINUTE),
        ),
        (f"SELECT window.end {TUMBLING} UNION ALL SELECT window.end {TUMBLING}", Windows("end", 10 * MINUTE)),
        (f"SELECT window.end {TUMBLING} UNION ALL SELECT window.end {HOPPING}", None),
        (f"SELECT window.end {TUMBLING} INTERSECT SELECT window.end {TUMBLING}", Windows("end", 10 * MINUTE)),
        (
            f"SELECT w.start FROM customer LEFT JOIN (SELECT window AS w {TUMBLING}) ON date(w.end) = since",
            Windows("start", 10 * MINUTE),
        ),
    ],
)
def test_a_column_of_windows(query: str, window: Windows | None, spark: Any) -> None:
    assert view(query, spark).schema[0].window == window


@pytest.mark.spark
def test_a_view_hands_on_what_its_columns_are(spark: Any) -> None:
    text = f"CREATE VIEW a (at, n) AS SELECT window.end, count(*) {TUMBLING};"
    program = compiled(f"{text}CREATE VIEW b AS SELECT n, at AS until FROM a;", spark)
    assert program.views["b"].schema[1].window == Windows("end", 10 * MINUTE)
