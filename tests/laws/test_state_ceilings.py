"""State of a program with LATENESS on an endless stream: bounded by window, lateness and keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.laws.small_steps import set_small

pytestmark = [pytest.mark.spark, pytest.mark.slow]

STEPS, ROWS, KEYS = 100, 30, 5
STEP = timedelta(seconds=10)
LATENESS, WINDOW = 20, 60  # seconds
START = datetime(2024, 1, 1, tzinfo=UTC)

# steps whose rows can still matter: those within the window and the lateness, the current one, and one more,
# since a step is filtered and collected by the waterline of the step before
LIVE_STEPS = (WINDOW + LATENESS) // 10 + 3

TABLES = f"""
CREATE TABLE a (k BIGINT, v BIGINT, ts TIMESTAMP LATENESS INTERVAL {LATENESS} SECONDS);
CREATE TABLE b (k BIGINT, v BIGINT, ts TIMESTAMP LATENESS INTERVAL {LATENESS} SECONDS);
"""
# per program, how many rows of state a step can add to a collected trace: a multiple of ROWS
PROGRAMS = {
    "sums by window": "SELECT window.start s, k, sum(v) x FROM a GROUP BY window(ts, '60 seconds'), k",
    "extremes by window": (
        "SELECT window.start s, max(v) x, min(k) y FROM a GROUP BY window(ts, '60 seconds')"
    ),
    "averages of doubles": (
        "SELECT window.start s, avg(CAST(v AS DOUBLE)) x FROM a GROUP BY window(ts, '60 seconds')"
    ),
    "distinct by second": "SELECT DISTINCT date_trunc('SECOND', ts) s, k FROM a",
    "count distinct": "SELECT window.start s, count(DISTINCT v) x FROM a GROUP BY window(ts, '60 seconds')",
    "equal times": "SELECT a.v, b.v w FROM a JOIN b ON a.ts = b.ts",
    "within a minute": (
        "SELECT a.k, b.v FROM a JOIN b ON a.k = b.k "
        "AND b.ts BETWEEN a.ts - INTERVAL 60 SECONDS AND a.ts + INTERVAL 60 SECONDS"
    ),
    "within a minute, then grouped": (
        "SELECT window.start s, count(*) x FROM (SELECT a.ts FROM a JOIN b ON a.k = b.k "
        "AND b.ts BETWEEN a.ts - INTERVAL 60 SECONDS AND a.ts + INTERVAL 60 SECONDS) "
        "GROUP BY window(ts, '60 seconds')"
    ),
    "rolling sums": (
        "SELECT k, ts, sum(v) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 60 SECONDS PRECEDING) x FROM a"
    ),
    "sessions": (
        "SELECT session_window.end s, k, count(*) n FROM a GROUP BY session_window(ts, '1 second'), k"
    ),
    "joined, then grouped": (
        "SELECT s, max(n) x FROM (SELECT date_trunc('MINUTE', a.ts) s, a.k, count(*) n FROM a JOIN b "
        "ON a.ts = b.ts AND a.k = b.k GROUP BY date_trunc('MINUTE', a.ts), a.k) GROUP BY s"
    ),
}


def rows(rng: np.random.Generator, step: int) -> pa.RecordBatch:
    """On-time rows: up to the lateness behind the step's time."""
    base = int((START + step * STEP).timestamp() * 1e6)
    behind = rng.integers(0, LATENESS, ROWS) * 1_000_000
    return pa.record_batch(
        {
            "k": rng.integers(0, KEYS, ROWS),
            "v": rng.integers(0, 1000, ROWS),
            "ts": pa.array(base - behind, pa.timestamp("us", tz="UTC")),
        }
    )


@pytest.mark.parametrize("small", [2048, 0], ids=["merging", "dropping whole runs"])
@pytest.mark.parametrize("query", PROGRAMS)
def test_rows_kept_stay_below_a_ceiling(spark: Any, query: str, small: int) -> None:
    program = compile_program(f"{TABLES}CREATE VIEW v AS {PROGRAMS[query]};", session=spark)
    circuit = program.circuit
    views = {output.trace for output in circuit.outputs} | {output.node for output in circuit.outputs}
    stateful = [i for i in circuit.layouts if i not in views]
    assert set(stateful) == set(circuit.retentions), "a trace without a bound"
    rng = np.random.default_rng(7)
    most = 0
    with Pipeline(program, runner="inline") as pipeline:
        set_small(pipeline, small)
        for step in range(STEPS):
            pipeline.insert("a", rows(rng, step))
            pipeline.insert("b", rows(rng, step))
            pipeline.step()
            most = max(most, *(pipeline._position.state.rows()[i] for i in stateful))
    # a double is at most three parts, a run waits for its last row
    assert most <= 3 * ROWS * (LIVE_STEPS + 2)
