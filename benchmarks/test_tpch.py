"""TPC-H: all 22 queries in one program, kept while orders come and go, beside computing them from scratch.

A step inserts `count` orders with their line items and deletes as many. Recomputed: by Spark SQL from
Parquet, and by DuckDB from its own tables, each query once over what the tables held at first.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from benchmarks import recompute
from benchmarks.figures import record
from benchmarks.tpch.data import PROGRAM, Workload, queue, tables
from dbsp.sql.text.create_view import CreateView
from dbsp.sql.text.source import read
from dbsp.sql.text.statements import statements

DATA = Path(".benchmarks", "tpch")
LOADS, WARM_UP, STEPS = 10, 3, 10
SCALES = [0.1, 1.0]
ORDERS = 1_500  # 0.1 % of scale 1


@pytest.mark.parametrize("runner", ["inline", "spark"])
@pytest.mark.parametrize("scale", SCALES)
def test_step(benchmark, opened, scale, runner):
    workload = Workload(tables(DATA / str(scale), scale), held=0.25)
    pipeline = opened(PROGRAM.read_text(), runner)
    for delta in workload.load(LOADS):
        queue(pipeline, delta)
        pipeline.step()

    def make() -> None:
        queue(pipeline, workload.refresh(ORDERS))

    benchmark.pedantic(pipeline.step, setup=make, rounds=STEPS, warmup_rounds=WARM_UP)
    record(benchmark, f"TPC-H, {ORDERS:,} orders in and as many out", f"scale {scale:g}, {runner}")


def test_spark(benchmark, spark):
    tables(DATA / "1.0", 1.0)
    held = {path.stem: spark.read.parquet(str(path)) for path in (DATA / "1.0").glob("*.parquet")}
    outputs = recompute.views(spark, PROGRAM.read_text(), held, {})

    def compute() -> None:
        for rows in outputs.values():
            recompute.compute(rows)

    benchmark.pedantic(compute, rounds=1)
    record(benchmark, f"TPC-H, {ORDERS:,} orders in and as many out", "scale 1, Spark SQL from scratch")


def test_duckdb(benchmark):
    connection = duckdb.connect(config={"threads": 2})
    for name, table in tables(DATA / "1.0", 1.0).items():
        connection.register("loaded", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM loaded")
        connection.unregister("loaded")
    for statement in statements(read(PROGRAM.read_text(), PROGRAM.name, {})):
        if isinstance(statement, CreateView):  # DuckDB reads every query as Spark does
            connection.execute(f"CREATE VIEW {statement.name} AS {statement.query.text}")
    names = [f"q{number}" for number in range(1, 23)]
    benchmark.pedantic(lambda: [connection.sql(f"FROM {name}").to_arrow_table() for name in names], rounds=3)
    record(benchmark, f"TPC-H, {ORDERS:,} orders in and as many out", "scale 1, DuckDB from scratch")
