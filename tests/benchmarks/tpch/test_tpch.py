"""TPC-H: the 22 queries as views of one program; after every step each is what Spark SQL computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dbsp
from benchmarks import recompute
from benchmarks.tpch.data import PROGRAM, Delta, Workload, queue, tables
from tests.oracles.oracle import arrow_values, same_rows

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCALE = 0.01  # 60,000 line items; at less, several queries have no rows
QUERIES = [f"q{number}" for number in range(1, 23)]


def steps(workload: Workload) -> Iterator[Delta]:
    """Two chunks of the initial load, changes in every table, then orders in and out."""
    yield from workload.load(2)
    yield workload.mixed(0.02)
    yield workload.mixed(0.002)
    yield workload.refresh(15)


def test_every_query_after_every_step(spark: Any, tmp_path: Path) -> None:
    workload = Workload(tables(tmp_path / "data", SCALE))
    text = PROGRAM.read_text()
    seen = set()
    with dbsp.Pipeline(sql=text, spark=spark, runner="inline", state=tmp_path / "state") as pipeline:
        for number, delta in enumerate(steps(workload), 1):
            queue(pipeline, delta)
            pipeline.step()
            held = {}
            for name, table in workload.contents.items():
                path = tmp_path / f"{number}-{name}.parquet"
                pq.write_table(table, path)
                held[name] = spark.read.parquet(str(path))
            expected = recompute.views(spark, text, held, {})
            assert list(expected) == QUERIES
            for query, rows in expected.items():
                found = arrow_values(pipeline[query].to_arrow())
                difference = same_rows(found, arrow_values(rows.toArrow()))
                assert difference is None, f"step {number}, {query}: {difference}"
                seen.update([query] if found and any(value is not None for value in found[0]) else [])
    # at this scale two of them may find nothing
    assert set(QUERIES) - seen <= {"q17", "q18"}, "queries that never had rows prove nothing"


def test_the_same_seed_gives_the_same_changes(tmp_path: Path) -> None:
    loaded = tables(tmp_path, 0.001)
    one, other = Workload(loaded), Workload(loaded)
    for left, right in zip(steps(one), steps(other), strict=True):
        assert left == right
    assert one.contents == other.contents
