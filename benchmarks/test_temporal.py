"""Cost follows what comes due: a window of an hour by the clock, over ever more rows that are in it.

A step brings a hundred rows and lets as many go, however many there are.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.figures import record

PROGRAM = """
CREATE TABLE event (user BIGINT, ts TIMESTAMP) WITH (append_only = true);
CREATE VIEW recent AS
SELECT user, count(*) AS events FROM event WHERE ts > now() - INTERVAL 1 HOUR GROUP BY user;
"""
# rows change their group within the hour, and none leaves
AGED = """
CREATE TABLE event (user BIGINT, ts TIMESTAMP) WITH (append_only = true);
CREATE VIEW ages AS
SELECT CASE WHEN ts > now() - INTERVAL 1 HOUR THEN 'new' ELSE 'old' END AS age, user, count(*) AS events
FROM event GROUP BY CASE WHEN ts > now() - INTERVAL 1 HOUR THEN 'new' ELSE 'old' END, user;
"""
START = datetime(2024, 1, 1, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
ROWS = 100  # of a step
ROUNDS = 40


def events(random: np.random.Generator, rows: int, since: datetime, until: datetime) -> pa.Table:
    """Evenly in since < ts <= until."""
    step = (until - since) / rows
    times = [since + (i + 1) * step for i in range(rows)]
    columns = [pa.array(random.integers(0, 10_000, rows)), pa.array(times, pa.timestamp("us", "UTC"))]
    return pa.Table.from_arrays(columns, ["user", "ts"])


@pytest.mark.parametrize("held", [100_000, 1_000_000], ids=["100k", "1M"])
@pytest.mark.parametrize(
    ("program", "what"),
    [(PROGRAM, "out of an hour by the clock"), (AGED, "from new to old by the clock")],
    ids=["leaving", "ageing"],
)
def test_rows_of_the_last_hour(benchmark, opened, program, what, held):
    random, pipeline, clock = np.random.default_rng(0), opened(program, "inline"), START
    advance = HOUR / held * ROWS
    pipeline.insert("event", events(random, held, START - HOUR, START))
    pipeline.step(clock)

    def change() -> None:
        nonlocal clock
        pipeline.insert("event", events(random, ROWS, clock, clock + advance))
        clock += advance

    benchmark.pedantic(lambda: pipeline.step(clock), setup=change, rounds=ROUNDS, warmup_rounds=4)
    record(benchmark, f"{ROWS} rows in and {ROWS} {what}", f"over {held:,} rows")
