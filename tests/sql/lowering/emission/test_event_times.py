"""The event time of windows: a table's column, as long as windows end after all that is in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.lowering.emission.event_times import event_time, least_delay
from dbsp.sql.lowering.emission.window_ends import window_end
from dbsp.sql.plans.schemas import Windows
from tests.sql.lowering.emission.timed import AN_HOUR, ENDS, HOUR, HOURS, MADE, TIME, by_hour, keyed_of

DAYS = Call("trunc_timestamp", (Literal("DAY", pa.string()), MADE), TIME, options=(("timeZoneId", "UTC"),))
IN_BERLIN = Call(
    "trunc_timestamp", (Literal("DAY", pa.string()), MADE), TIME, options=(("timeZoneId", "Europe/Berlin"),)
)


def test_it_is_the_tables_column() -> None:
    keyed = keyed_of(by_hour(Windows("end", HOUR)))
    assert event_time(keyed, window_end(keyed, "p.sql:1:1"), "p.sql:1:1") == ("bid", 0)


@pytest.mark.parametrize(
    ("time", "delay"),
    [
        (MADE, 0),
        (HOURS, 1 - HOUR),
        (ENDS, 1),
        (DAYS, 1 - 24 * HOUR),
        (IN_BERLIN, None),
        (Call("timestamp_add_interval", (MADE, Literal(timedelta(hours=-2), AN_HOUR.type)), TIME), -2 * HOUR),
        (Call("timestamp_add_interval", (MADE, Column(1, AN_HOUR.type)), TIME), None),
        (Call("from_utc_timestamp", (MADE,), TIME), None),
        (Literal(None, TIME), None),
    ],
)
def test_how_far_behind_the_column_a_time_is(time: Any, delay: int | None) -> None:
    assert least_delay(time) == delay


TABLES = "CREATE TABLE b (k INT, at TIMESTAMP, local TIMESTAMP_NTZ); "
FIVE = "(SELECT window(at, '5 minutes') AS w, count(*) AS n FROM b GROUP BY 1)"
SHIFTED = "(SELECT at - INTERVAL 30 MINUTES AS early, at + INTERVAL 30 MINUTES AS later FROM b)"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("key", "rows", "is_right"),
    [
        ("window(at, '10 minutes', '5 minutes', '1 minute')", "b", True),
        ("window(local, '1 hour')", "b", True),
        ("window(later, '1 hour')", SHIFTED, True),
        ("window(w, '1 hour')", FIVE, True),
        ("window(w.start, '1 hour')", FIVE, True),
        ("window(w.start, '7 minutes')", FIVE, False),
        ("window(w.start, '1 hour', '1 hour', '1 minute')", FIVE, False),
        ("window(early, '1 hour')", SHIFTED, False),
        ("window(date_trunc('DAY', at), '1 hour')", "b", False),
        ("window(date_trunc('MONTH', at), '1 hour')", "b", False),
        ("window(from_utc_timestamp(at, 'America/New_York'), '1 hour')", "b", False),
        ("window(timestamp_seconds(unix_timestamp(at) - 1800), '1 hour')", "b", False),
    ],
)
def test_windows_that_end_before_their_rows_are_refused(
    spark: Any, key: str, rows: str, is_right: bool
) -> None:
    view = f"SELECT {key} AS x, count(*) AS n FROM {rows} GROUP BY 1"
    text = f"{TABLES}CREATE VIEW v AS {view} EMIT (LATE UPDATES ON)"
    if is_right:
        compile_program(text, session=spark)
        return
    with pytest.raises(ProgramError, match="but a window may end before the 'at' of one of its rows"):
        compile_program(text, session=spark)
