"""TPC-H: all 22 queries in one program, kept while orders come and go, beside computing them from scratch.

A step inserts so many orders with their line items and deletes as many.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from benchmarks import recompute
from benchmarks.suite import usage
from benchmarks.suite.measurement import Measurement
from benchmarks.suite.stepping import Opened, Subject, session, stepped
from benchmarks.tpch.data import PROGRAM, Workload, queue, tables
from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.statements.statements import statements

DATA = Path(".benchmarks", "tpch")
LOADS, WARM_UP = 10, 3
ORDERS = 1_500  # 0.1 % of scale 1


def kept(scale: float, steps: int) -> Iterator[Measurement]:
    workload = Workload(tables(DATA / str(scale), scale), held=0.25)
    part = f"TPC-H at scale {scale:g}, 22 views"
    with Opened(PROGRAM.read_text(), "inline") as pipeline:
        loading = workload.load(LOADS)
        subject = Subject(part, "the first load, a tenth a step", "dbsp, in process")
        yield stepped(subject, pipeline, lambda _: queue(pipeline, next(loading)), LOADS, 0)
        what = f"{ORDERS:,} orders in and as many out"
        yield stepped(
            Subject(part, what, "dbsp, in process"),
            pipeline,
            lambda _: queue(pipeline, workload.refresh(ORDERS)),
            steps,
            WARM_UP,
        )


def by_spark(scale: float) -> Iterator[Measurement]:
    """Spark SQL over Parquet, each query once."""
    tables(DATA / str(scale), scale)
    spark = session()
    held = {path.stem: spark.read.parquet(str(path)) for path in (DATA / str(scale)).glob("*.parquet")}
    outputs = recompute.views(spark, PROGRAM.read_text(), held, {})
    before, began = usage.cpu(children=True), time.perf_counter()
    for rows in outputs.values():
        recompute.compute(rows)
    ended = time.perf_counter()
    subject = Subject(f"TPC-H at scale {scale:g}, 22 views", "all 22 from scratch", "Spark SQL, from Parquet")
    yield subject.measured([ended - began], cpu=usage.cpu(children=True) - before)
    spark.stop()


def recomputed(scale: float) -> Iterator[Measurement]:
    """DuckDB, in memory, two threads; it reads every query as Spark does."""
    connection = duckdb.connect(config={"threads": 2})
    for name, table in tables(DATA / str(scale), scale).items():
        connection.register("loaded", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM loaded")
        connection.unregister("loaded")
    for statement in statements(read(PROGRAM.read_text(), PROGRAM.name, {})):
        if isinstance(statement, CreateView):
            connection.execute(f"CREATE VIEW {statement.name} AS {statement.query.text}")
    seconds = []
    before = time.process_time()
    for _ in range(3):
        began = time.perf_counter()
        for number in range(1, 23):
            connection.sql(f"FROM q{number}").to_arrow_table()
        seconds.append(time.perf_counter() - began)
    subject = Subject(f"TPC-H at scale {scale:g}, 22 views", "all 22 from scratch", "DuckDB, in memory")
    yield subject.measured(seconds, cpu=time.process_time() - before)
