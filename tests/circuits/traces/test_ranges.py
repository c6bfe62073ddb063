"""Ranges: together they are the trace, none is large, and what cancels lies in one of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH, Layout
from dbsp.circuits.traces.ranges import in_ranges
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,))
ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=30)


def batch(rows: list[tuple[int, int]], weight: int) -> Batch:
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in range(2)]
    given = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return Batch.build(LAYOUT, ZSet(given, np.full(len(rows), weight, np.int64)), 0)


@given(st.lists(ROWS, min_size=1, max_size=4), st.integers(1, 8), st.booleans())
def test_their_sums_add_up(runs: list[list[tuple[int, int]]], most: int, whole: bool) -> None:
    batches = [batch(rows, 1 - 2 * (i % 2)) for i, rows in enumerate(runs)]
    sums = [Batch.merge(LAYOUT, parts) for parts in in_ranges(batches, most, whole)]
    assert ZSet.sum(SCHEMA, [one.zset for one in sums]) == Batch.merge(LAYOUT, batches).zset
    keys = np.concatenate([one.keys for one in sums])
    assert (keys[1:] >= keys[:-1]).all()
    if whole:
        halves = [set(one.keys & HIGH) for one in sums]
        assert sum(map(len, halves)) == len(set().union(*halves))


@pytest.mark.parametrize("runs", [1, 3])
def test_none_is_large(runs: int) -> None:
    batches = [batch([(number, run) for number in range(5000)], 1) for run in range(runs)]
    sizes = [sum(map(len, parts)) for parts in in_ranges(batches, 1000)]
    assert len(sizes) >= 5 * runs
    assert max(sizes) <= 3000
