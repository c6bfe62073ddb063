"""The kernels a step is made of, one core, in process."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.figures import record
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

ROWS = 1_000_000
SCHEMA = pa.schema({"key": pa.int64(), "value": pa.int64(), "text": pa.string()})
LAYOUT = Layout(SCHEMA, (0,))


def delta(rows: int, seed: int, keys: int = ROWS) -> ZSet:
    random = np.random.default_rng(seed)
    words = pa.array([f"word number {i}" for i in range(1_000)])
    columns = [
        pa.array(random.integers(0, keys, rows)),
        pa.array(random.integers(0, 1 << 40, rows)),
        words.take(pa.array(random.integers(0, 1_000, rows))),
    ]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.ones(rows, dtype=np.int64))


@pytest.fixture(scope="module")
def million() -> Batch:
    return Batch.build(LAYOUT, delta(ROWS, 0), 0)


@pytest.mark.parametrize(("column", "what"), [("key", "int64"), ("text", "strings of 14 bytes")])
def test_hash(benchmark, column, what):
    array = delta(ROWS, 0).rows.column(column)
    benchmark(hash_rows, [array], ROWS)
    record(benchmark, f"hash {ROWS:,} {what}", "one core", events=ROWS)


def test_sort_and_consolidate(benchmark):
    rows = delta(ROWS // 10, 1)
    benchmark(Batch.build, LAYOUT, rows, 0)
    record(benchmark, f"sort and consolidate {ROWS // 10:,} rows", "one core", events=ROWS // 10)


def test_merge(benchmark):
    batches = [Batch.build(LAYOUT, delta(ROWS // 4, seed), 0) for seed in range(4)]
    benchmark.pedantic(Batch.merge, args=(LAYOUT, batches), rounds=5, warmup_rounds=1)
    record(benchmark, f"merge four runs into {ROWS:,} rows", "one core", events=ROWS)


def test_look_up(benchmark, million):
    wanted = Batch.build(LAYOUT, delta(ROWS // 100, 2), 0)
    integral = Integral(LAYOUT, (million,), wanted)
    columns = [wanted.rows.column(0)]

    def look_up() -> int:
        found = integral.find(columns, wanted.keys, (0,), whole_key=False)
        return sum(len(there) for _, _, there in found)

    assert benchmark(look_up) > 0
    what = f"look up {ROWS // 100:,} keys in a run of {ROWS:,} rows"
    record(benchmark, what, "one core", events=ROWS // 100)
