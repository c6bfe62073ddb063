"""Nexmark: every query as a view of one program; after the steps each is what Spark SQL computes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dbsp
from benchmarks import recompute
from benchmarks.nexmark.generator import Generator
from benchmarks.nexmark.queries import PROGRAM, QUERIES
from dbsp.testing.bags import arrow_values, same_rows

pytestmark = [pytest.mark.spark, pytest.mark.slow]

STEPS, EVENTS = 2, 4_000
CLOCK, ARRIVED = datetime(2024, 1, 1, 10, 0, 5, tzinfo=UTC), pa.timestamp("us", "UTC")
SIDE_INPUT = pa.table({"key": pa.array(range(0, 10_000, 7)), "value": [f"v{i}" for i in range(0, 10_000, 7)]})


@pytest.mark.parametrize("retracting", [False, True])
def test_every_query_after_the_steps(spark: Any, retracting: bool) -> None:
    text = PROGRAM.read_text()
    if retracting:
        text = text.replace(" WITH (append_only = true)", "")
    generator, random = Generator(rate=200), np.random.default_rng(7)
    held: dict[str, pa.Table] = {}
    seen = set()
    with dbsp.Pipeline(sql=text, spark=spark, runner="inline") as pipeline:
        pipeline.upsert("side_input", SIDE_INPUT)
        for step in range(STEPS):
            clock = CLOCK + step * timedelta(seconds=7)
            for name, rows in generator.events(step * EVENTS, (step + 1) * EVENTS).items():
                pipeline.insert(name, rows)
                new = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
                if name == "bid":  # the arrival, which the step records
                    new = new.append_column("arrived", pa.repeat(pa.scalar(clock, ARRIVED), len(new)))
                held[name] = pa.concat_tables([held[name], new]) if name in held else new
                if retracting and step:
                    gone = random.random(len(held[name])) < 0.1
                    pipeline.delete(name, held[name].filter(pa.array(gone)))
                    held[name] = held[name].filter(pa.array(~gone))
            pipeline.step(clock)
        tables = {name: spark.createDataFrame(rows) for name, rows in held.items()}
        tables["side_input"] = spark.createDataFrame(SIDE_INPUT)
        for query, expected in recompute.views(spark, text, tables, {}).items():
            found = arrow_values(pipeline[query].to_arrow())
            difference = same_rows(found, arrow_values(expected.toArrow()))
            assert difference is None, f"{query}: {difference[:2000]}"
            seen.update([query] if found else [])
    assert seen == set(QUERIES), "queries that never had rows prove nothing"
