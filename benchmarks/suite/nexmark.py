"""Nexmark: every event counts, also those of tables that a query does not read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from benchmarks.nexmark import structured_streaming
from benchmarks.nexmark.generate import write
from benchmarks.nexmark.generator import Generator
from benchmarks.nexmark.queries import program
from benchmarks.suite import usage
from benchmarks.suite.holdings import as_parquet, on_disk
from benchmarks.suite.measurement import Measurement
from benchmarks.suite.stepping import Opened, Subject, insert, session, stepped

QUERIES = ("q0", "q3", "q4", "q5", "q7", "q9", "q15", "q17", "q18", "q19", "q20")
STEP = 100_000
WARM_UP = 2

DUCKDB = Path(__file__).parents[1] / "nexmark" / "duckdb.sql"


def in_process(query: str, steps: int) -> Iterator[Measurement]:
    part = "Nexmark, in process" if steps <= 50 else "A steady run, in process"
    yield from _ours(query, Subject(part, query, f"dbsp, {steps} steps", STEP), "inline", steps)


def on_spark(queries: tuple[str, ...], size: int, steps: int) -> Iterator[Measurement]:
    started = session()
    for query in queries:
        subject = Subject(f"Nexmark, on Spark, steps of {size:,} events", query, "dbsp", size)
        yield from _ours(query, subject, "spark", steps, started)
    started.stop()


def _ours(
    query: str, subject: Subject, runner: str, steps: int, spark: object = None
) -> Iterator[Measurement]:
    generator, size = Generator(), subject.events
    with Opened(program(query), runner, spark) as pipeline:
        measured = stepped(
            subject,
            pipeline,
            lambda n: insert(pipeline, generator.events(n * size, (n + 1) * size)),
            steps,
            WARM_UP,
        )
        held = {} if runner == "spark" else {"stored": on_disk(pipeline), "parquet": as_parquet(pipeline)}
    yield Measurement(**{**vars(measured), **held})


def streaming(queries: tuple[str, ...], steps: int) -> Iterator[Measurement]:
    """Structured Streaming over files, one a table and step, which it reads within its batches."""
    started = session()
    for query in queries:
        if query not in structured_streaming.RUNS:
            continue
        with TemporaryDirectory(prefix="dbsp-bench-") as directory:
            data = Path(directory)
            write(Generator(), STEP * (steps + WARM_UP), STEP, data)
            before = usage.cpu(children=True)
            with usage.memory(children=True) as used:
                seconds = structured_streaming.run(started, query, data, data)
            spent = usage.cpu(children=True) - before
        # a last batch without rows may follow
        warm = seconds[WARM_UP : WARM_UP + steps]
        who = "Structured Streaming" + (" (its join alone)" if query == "q4" else "")
        subject = Subject(f"Nexmark, on Spark, steps of {STEP:,} events", query, who, STEP)
        share = spent * sum(warm) / sum(seconds)
        yield subject.measured(warm, cpu=share, peak=used.peak, mapped=used.mapped)
    started.stop()


def recomputed(queries: tuple[str, ...], events: int) -> Iterator[Measurement]:
    """DuckDB in memory, two threads: each query once over all events, as a step without increments would."""
    connection = duckdb.connect(config={"threads": 2})
    for table, rows in Generator().events(0, events).items():
        connection.register("given", rows)
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
        connection.unregister("given")
    texts = _of_duckdb()
    for query in queries:
        seconds = []
        before = time.process_time()
        for _ in range(3):
            began = time.perf_counter()
            connection.sql(texts[query]).to_arrow_table()
            seconds.append(time.perf_counter() - began)
        spent = time.process_time() - before
        part = f"Nexmark, {events:,} events from scratch"
        yield Subject(part, query, "DuckDB, in memory", events).measured(seconds, cpu=spent)


def _of_duckdb() -> dict[str, str]:
    """The queries in DuckDB's spelling: where it differs, from a file beside Spark's."""
    own = dict(each.split(":", 1) for each in DUCKDB.read_text().split("-- query ")[1:])
    texts = {query: program(query).split(" AS\n", 1)[-1].rsplit(";", 1)[0] for query in QUERIES}
    texts["q0"] = program("q0").split("CREATE VIEW q0 AS ", 1)[1].rsplit(";", 1)[0]
    return {**texts, **own}
