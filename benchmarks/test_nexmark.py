"""Nexmark on Spark: steps with durable commits, beside Structured Streaming and a recomputation by Spark SQL.

Every event counts, also those of tables that a query does not read. The events of a step are made before it
is timed, and read by it: `insert` and `step` here, a file per table for Structured Streaming.
"""

from __future__ import annotations

import pytest

from benchmarks import recompute
from benchmarks.figures import record
from benchmarks.nexmark import structured_streaming
from benchmarks.nexmark.generate import write
from benchmarks.nexmark.generator import SCHEMAS, Generator
from benchmarks.nexmark.queries import QUERIES, program

WARM_UP = 2
STEPS = {100_000: 15, 500_000: 6}
SIZES = [pytest.param(size, id=f"{size // 1000}k") for size in STEPS]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("query", QUERIES)
def test_dbsp(benchmark, opened, query, size):
    pipeline = opened(program(query), "spark")
    generator, position, events = Generator(), 0, {}

    def make() -> None:
        nonlocal position, events
        events = generator.events(position, position + size)
        position += size

    def step() -> None:
        for table, rows in events.items():
            pipeline.insert(table, rows)
        pipeline.step()

    benchmark.pedantic(step, setup=make, rounds=STEPS[size], warmup_rounds=WARM_UP)
    record(benchmark, f"{query}, steps of {size:,} events", "dbsp", events=size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("query", structured_streaming.RUNS)
def test_structured_streaming(benchmark, spark, tmp_path, query, size):
    write(Generator(), size * (STEPS[size] + WARM_UP), size, tmp_path)
    seconds = benchmark.pedantic(structured_streaming.run, args=(spark, query, tmp_path, tmp_path), rounds=1)
    part = " (its join alone)" if query == "q4" else ""
    seconds = seconds[WARM_UP : WARM_UP + STEPS[size]]  # a last one without rows may follow
    record(benchmark, f"{query}, steps of {size:,} events", f"Structured Streaming{part}", size, seconds)


@pytest.mark.parametrize("query", QUERIES)
def test_recompute(benchmark, spark, tmp_path, query):
    """What a step costs without incremental maintenance: Spark SQL over all events so far."""
    size = 100_000
    events = size * (STEPS[size] + WARM_UP)
    write(Generator(), events, size, tmp_path)
    tables = {table: spark.read.parquet(str(tmp_path / table)) for table in SCHEMAS}
    tables["bid"] = tables["bid"].withColumn("arrived", tables["bid"]["dateTime"])  # as good as any
    outputs = recompute.views(spark, program(query), tables, {})

    def compute() -> None:
        for rows in outputs.values():
            recompute.compute(rows)

    benchmark.pedantic(compute, rounds=3, warmup_rounds=1)
    record(benchmark, f"{query} over {events:,} events, from scratch", "Spark SQL")
