"""Cost follows the change, construct by construct: eighty rows of three groups that grow, or forty new ones.

What reads all of the groups that a change touches takes as many times as long as they are larger.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.figures import record

TABLES = """
CREATE TABLE event (id BIGINT NOT NULL, k BIGINT, x BIGINT, d DOUBLE, ts TIMESTAMP);
CREATE TABLE other (k BIGINT, y BIGINT);
"""
QUERIES = {
    "sum, avg": "SELECT k, sum(x) AS a, avg(d) AS b FROM event GROUP BY k",
    "min, max": "SELECT k, min(x) AS a, max(x) AS b FROM event GROUP BY k",
    "count DISTINCT": "SELECT k, count(DISTINCT x) AS a FROM event GROUP BY k",
    "max_by": "SELECT k, max_by(d, x) AS a FROM event GROUP BY k",
    "stddev": "SELECT k, stddev(d) AS a FROM event GROUP BY k",
    "first": "SELECT k, first(x) AS a FROM event GROUP BY k",
    "median": "SELECT k, median(x) AS a FROM event GROUP BY k",
    "mode": "SELECT k, mode(x) AS a FROM event GROUP BY k",
    "above the average": "SELECT id FROM event e WHERE x > (SELECT avg(x) FROM event f WHERE f.k = e.k)",
    "EXISTS with <>": "SELECT id FROM event e "
    "WHERE EXISTS (SELECT 1 FROM event f WHERE f.k = e.k AND f.x <> e.x)",
    "join": "SELECT id, y FROM event JOIN other ON event.id = other.k",
    "anti-join": "SELECT id FROM event WHERE id NOT IN (SELECT k FROM other WHERE k IS NOT NULL)",
    "ten largest": "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY x DESC, id) AS n "
    "FROM event) WHERE n <= 10",
    "lag": "SELECT id, lag(x) OVER (PARTITION BY k ORDER BY ts, id) AS a FROM event",
    "last value but NULL": "SELECT id, last_value(nullif(x % 3, 0)) IGNORE NULLS OVER "
    "(PARTITION BY k ORDER BY ts) AS a FROM event",
    "six rows": "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id "
    "ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM event",
    "running sum of new rows": "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id) AS a FROM event",
    "running maximum of new rows": "SELECT id, max(x) OVER (PARTITION BY k ORDER BY ts, id) AS a FROM event",
    "row number of new rows": "SELECT id, row_number() OVER (PARTITION BY k ORDER BY ts, id) AS a FROM event",
    "two seconds": "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts "
    "RANGE BETWEEN INTERVAL 2 SECONDS PRECEDING AND CURRENT ROW) AS a FROM event",
    "sessions": "SELECT k, session_window.start AS a, count(*) AS n FROM event "
    "GROUP BY k, session_window(ts, '300 milliseconds')",
    "hops": "SELECT window.start AS a, k, max(x) AS b FROM event "
    "GROUP BY window(ts, '10 seconds', '5 seconds'), k",
}
GROUPS = 3
IN, OUT = 40, 40  # rows of a step
APART = 137_000  # µs
ROUNDS = 10


def events(ids: np.ndarray) -> pa.Table:
    """Functions of the id, so that rows can be taken back."""
    mixed = ids * 2_654_435_761 % (1 << 31)
    times = pa.array(ids * APART, pa.int64()).cast(pa.timestamp("us"))
    columns = [ids, ids % GROUPS, mixed % 1_000_003, mixed % 9_973 / 9_973, times]
    return pa.Table.from_arrays([pa.array(column) for column in columns], ["id", "k", "x", "d", "ts"])


@pytest.mark.parametrize("held", [20_000, 320_000], ids=["20k", "320k"])
@pytest.mark.parametrize("what", QUERIES)
def test_groups_that_grow(benchmark, opened, what, held):
    pipeline = opened(f"{TABLES} CREATE VIEW v AS {QUERIES[what]};", "inline")
    ids, order = np.arange(held), np.random.default_rng(0).permutation(held)
    pipeline.insert("event", events(ids))
    few = ids[: held // 10]
    pipeline.insert("other", pa.table({"k": few, "y": few % 997}))
    pipeline.step()
    turn = 0

    def change() -> None:
        nonlocal turn
        pipeline.insert("event", events(np.arange(IN) + held + turn * IN))
        if not what.endswith("of new rows"):  # a row that goes changes all sums behind it
            pipeline.delete("event", events(np.sort(order[turn * OUT : (turn + 1) * OUT])))
        turn += 1

    benchmark.pedantic(pipeline.step, setup=change, rounds=ROUNDS, warmup_rounds=2)
    rows = f"{IN} rows in" if what.endswith("of new rows") else f"{IN} rows in and {OUT} out"
    record(benchmark, f"{what}: {rows}", f"over {GROUPS} groups of {held:,} rows")
