"""The event time of windows: a table's column, as long as windows end after all that is in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.lowering.emission.event_times import ends_later, event_time
from dbsp.sql.lowering.emission.window_ends import window_end
from dbsp.sql.plans.schemas import Windows
from tests.sql.lowering.emission.timed import AN_HOUR, ENDS, HOUR, MADE, TIME, by_hour, keyed_of


def test_it_is_the_tables_column() -> None:
    keyed = keyed_of(by_hour(Windows("end", HOUR)))
    assert event_time(keyed, window_end(keyed, "p.sql:1:1"), "p.sql:1:1") == ("bid", 0)


def truncated(unit: str | None, time: Any = MADE, zone: str = "UTC") -> Call:
    return Call("trunc_timestamp", (Literal(unit, pa.string()), time), TIME, options=(("timeZoneId", zone),))


def later(time: Any, hours: float) -> Call:
    return Call("timestamp_add_interval", (time, Literal(timedelta(hours=hours), AN_HOUR.type)), TIME)


@pytest.mark.parametrize(
    ("end", "known"),
    [
        (ENDS, True),
        (later(truncated("day"), 24), True),
        (later(truncated("DAY", truncated("MINUTE")), 24), True),
        (later(truncated("WEEK", truncated("DAY")), 168), True),
        (later(truncated("DAY", truncated("WEEK")), 24), False),
        (later(truncated("HOUR", truncated("MINUTE", zone="+05:30")), 1), True),
        (later(truncated("DAY", zone="+05:30"), 24), True),
        (later(truncated("DAY", truncated("HOUR", zone="+05:30"), zone="+05:30"), 24), False),
        (later(truncated("DAY", truncated("HOUR", zone="+05:30")), 24), False),
        (later(truncated("DAY", zone="Europe/Berlin"), 24), False),
        (later(truncated("MONTH"), 24), False),
        (later(truncated(None), 24), False),
        (later(truncated("HOUR", later(MADE, 2)), 1), True),
        (later(truncated("HOUR", later(MADE, -0.5)), 1), False),
        (later(truncated("HOUR", Call("from_utc_timestamp", (MADE,), TIME)), 1), False),
        (MADE, False),
    ],
)
def test_which_ends_are_known_to_come_later(end: Any, known: bool) -> None:
    assert ends_later(end) == known


TABLES = "CREATE TABLE b (k INT, at TIMESTAMP, local TIMESTAMP_NTZ); "
FIVE = "(SELECT window(at, '5 minutes') AS w, count(*) AS n FROM b GROUP BY 1)"
SHIFTED_FIVE = FIVE.replace("'5 minutes'", "'5 minutes', '5 minutes', '1 minute'")
HOPPING = FIVE.replace("'5 minutes'", "'10 minutes', '5 minutes'")
HOURLY = f"(SELECT window(w.start, '1 hour') AS w, count(*) AS n FROM {FIVE} GROUP BY 1)"
SHIFTED = "(SELECT at - INTERVAL 30 MINUTES AS early, at + INTERVAL 30 MINUTES AS later FROM b)"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("key", "rows", "is_right"),
    [
        ("window(at, '10 minutes', '5 minutes', '1 minute')", "b", True),
        ("window(local, '1 hour')", "b", True),
        ("window_end", "HOP(TABLE b, DESCRIPTOR(at), INTERVAL '4' MINUTE, INTERVAL '10' MINUTE)", True),
        ("window(date_trunc('MINUTE', at), '1 hour')", "b", True),
        ("window(date_trunc('MILLISECOND', at), '1 hour')", "b", True),
        ("window(timestamp_micros(unix_micros(at)), '1 hour')", "b", True),
        ("date_trunc('DAY', date_trunc('HOUR', at))", "b", True),
        ("window(later, '1 hour')", SHIFTED, True),
        ("window(w, '1 hour')", FIVE, True),
        ("window(w.start, '1 hour')", FIVE, True),
        ("date_trunc('DAY', w.start)", FIVE, True),
        ("window(w.start, '1 hour', '30 minutes')", FIVE, True),
        ("window(w.start, '1 day')", HOURLY, True),
        ("window(w, '1 hour', '30 minutes')", HOPPING, True),
        ("window(w.start, '1 hour', '30 minutes')", HOPPING, False),
        ("window(w.start, '1 hour', '1 hour', '1 minute')", SHIFTED_FIVE, True),
        ("window(w.start, '7 minutes')", FIVE, False),
        ("window(w.start, '1 hour', '1 hour', '1 minute')", FIVE, False),
        ("window(early, '1 hour')", SHIFTED, False),
        ("window(date_trunc('DAY', at), '1 hour')", "b", False),
        ("window(date_trunc('MONTH', at), '1 hour')", "b", False),
        ("window(from_utc_timestamp(at, 'America/New_York'), '1 hour')", "b", False),
        ("window(timestamp_seconds(unix_timestamp(at) - 1800), '1 hour')", "b", False),
    ],
)
def test_windows_that_may_end_before_their_rows_are_refused(
    spark: Any, key: str, rows: str, is_right: bool
) -> None:
    view = f"SELECT {key} AS x, count(*) AS n FROM {rows} GROUP BY 1"
    text = f"{TABLES}CREATE VIEW v AS {view} EMIT (LATE UPDATES ON)"
    if is_right:
        compile_program(text, session=spark)
        return
    with pytest.raises(ProgramError, match="a window isn't known to end after that of its rows"):
        compile_program(text, session=spark)
