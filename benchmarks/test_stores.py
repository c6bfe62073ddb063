"""State on a store at 20 ms a request, beside a directory: a small step on Spark, opening it, adding a view.

The server is MinIO where it was built (`make minio`), else moto's; what delays requests is another process.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dbsp
from benchmarks.figures import record
from tests.servers.minio import PROGRAM, minio
from tests.servers.s3 import BUCKET, ENVIRONMENT, Server, outside, s3

DELAY, ROUNDS, WARM_UP, SMALL = 0.02, 40, 15, 100
ROWS, LOADED, KEPT = 10_000_000, 1_000_000, 100
TABLES = """
CREATE TABLE customer (id BIGINT NOT NULL, country STRING, PRIMARY KEY (id));
CREATE TABLE sale (id BIGINT NOT NULL, customer BIGINT, product BIGINT, cents BIGINT, PRIMARY KEY (id));
"""
JOINED = """
CREATE VIEW by_country AS
SELECT c.country, count(*) AS n, sum(s.cents) AS cents FROM sale s JOIN customer c ON s.customer = c.id
GROUP BY c.country;
CREATE VIEW best AS SELECT * FROM (
  SELECT id, cents, row_number() OVER (PARTITION BY product ORDER BY cents DESC, id) AS r FROM sale
) WHERE r <= 3;
"""
SALES = "CREATE VIEW sales AS SELECT * FROM sale;\n"
BY_PRODUCT = """
CREATE VIEW by_product AS SELECT product, count(*) AS n, sum(cents) AS cents FROM sale GROUP BY product;
"""
# opens a state, and makes a step
CHILD = """
import sys, time
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import load_program
program, began = load_program(sys.argv[1]), time.perf_counter()
with Pipeline(program, state=sys.argv[2], runner="inline") as p:
    opened, steps = time.perf_counter(), len(p.store.steps)
    p.upsert("sale", [(i * 99_991, 1, 1, 1) for i in range(100)])
    traffic = p.step().metrics.traffic
    print(opened - began, time.perf_counter() - opened, steps, traffic.gets, traffic.bytes_read)
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with minio(tmp_path / "minio") if PROGRAM.exists() else s3() as running:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": running.endpoint}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DBSP_CACHE", str(tmp_path / "cache"))
        yield running


def sales(start: int, rows: int) -> pa.Table:
    random = np.random.default_rng(start)
    drawn = {name: random.integers(0, n, rows) for name, n in (("customer", 1000), ("product", 2000))}
    return pa.table(
        {"id": np.arange(start, start + rows), **drawn, "cents": random.integers(0, 10_000, rows)}
    )


def test_a_small_step_on_spark(
    benchmark: Any, spark: Any, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In turns."""
    places = {"a directory": tmp_path / "state", "a store at 20 ms a request": f"s3://{BUCKET}/small"}
    taken: dict[str, list[float]] = {name: [] for name in places}
    with outside(server, DELAY) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        opened = {
            name: dbsp.Pipeline(sql=TABLES + JOINED, state=place, spark=spark)
            for name, place in places.items()
        }
        for p in opened.values():
            p.insert(
                "customer", pa.table({"id": range(1000), "country": [f"c{i % 20}" for i in range(1000)]})
            )
            p.insert("sale", sales(0, 100_000))
            p.step()
        for n in range(WARM_UP + ROUNDS):
            for name, p in opened.items():
                p.insert("sale", sales(100_000 + n * SMALL, SMALL))
                began = time.perf_counter()
                p.step()
                taken[name].append(time.perf_counter() - began)
        for p in opened.values():
            p.close()
    local, stored = (seconds[WARM_UP:] for seconds in taken.values())
    benchmark.pedantic(lambda: None, rounds=1)
    here, there = places
    record(benchmark, f"{SMALL} rows on Spark", there, 0, stored, (here, local))
    print("more than a directory, median of pairs", median(b - a for a, b in zip(local, stored, strict=True)))


def load(text: str, place: str | Path, **options: Any) -> tuple[float, float]:
    """Seconds, and of CPU, of the steps that make a state of ROWS rows."""
    seconds = cpu = 0.0
    with dbsp.Pipeline(sql=text, state=place, runner="inline", **options) as p:
        for start in range(0, ROWS, LOADED):
            p.insert("sale", sales(start, LOADED))
            began = time.perf_counter(), time.process_time()
            p.step()
            seconds, cpu = seconds + time.perf_counter() - began[0], cpu + time.process_time() - began[1]
        for n in range(options.get("keep_steps", 0)):
            p.upsert("sale", sales(n * SMALL, SMALL))
            p.step()
    return seconds, cpu


def test_opening(benchmark: Any, server: Server, tmp_path: Path) -> None:
    """KEPT steps are kept, and this host has no copies."""
    text, place = TABLES + SALES + BY_PRODUCT, f"s3://{BUCKET}/large"
    load(text, place, keep_steps=KEPT)
    found = []
    with outside(server, DELAY) as proxy:
        for n in range(3):
            cold = {"AWS_ENDPOINT_URL": proxy.endpoint, "DBSP_CACHE": str(tmp_path / f"cold{n}")}
            command = [sys.executable, "-c", CHILD, text, place]
            told = subprocess.run(command, env=os.environ | cold, check=True, capture_output=True, text=True)
            print("opening, first step, steps kept, GET, bytes:", told.stdout.strip())
            found.append(float(told.stdout.split()[0]))
    benchmark.pedantic(lambda: None, rounds=1)
    record(benchmark, f"opening {ROWS:,} rows and {KEPT} steps", "a store at 20 ms a request", 0, found)


def test_adding_a_view(benchmark: Any, tmp_path: Path) -> None:
    """Beside the load of all with the view, and a changed comment."""
    base = TABLES + SALES
    whole = load(base + BY_PRODUCT, tmp_path / "whole")
    alone = load(base, tmp_path / "state")
    taken = {}
    for name, text in (("a comment", f"-- more\n{base}"), ("a view", base + BY_PRODUCT)):
        dbsp.Pipeline(sql=text, runner="inline").close()  # so that it is compiled
        began = time.perf_counter(), time.process_time()
        dbsp.Pipeline(sql=text, state=tmp_path / "state", runner="inline", evolve=True).close()
        taken[name] = time.perf_counter() - began[0], time.process_time() - began[1]
    benchmark.pedantic(lambda: None, rounds=1)
    what = f"adding to {ROWS:,} rows"
    record(benchmark, what, "a view", ROWS, [taken["a view"][0]], ("a comment", [taken["a comment"][0]]))
    print("seconds and of CPU:", taken, "load with the view", whole, "without", alone)
    print("peak MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
