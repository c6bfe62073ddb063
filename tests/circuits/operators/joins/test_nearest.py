"""The nearest row, against a look at every row of the sum of all runs."""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.operators.joins.nearest import BEYOND, Asked, nearest, wants_greatest
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import as_runs
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("v", pa.string())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
COMPARE = {
    "greater_than_or_equal": operator.ge,
    "greater_than": operator.gt,
    "less_than_or_equal": operator.le,
    "less_than": operator.lt,
}
# beyond 2²⁴ several times share an order code, so that more rows than the outermost few must be fetched
TIMES = [*range(4), *(2**40 + i for i in range(12))]
Row = tuple[int, int, str]
rows = st.tuples(st.integers(0, 1), st.sampled_from(TIMES), st.sampled_from("ab"))
parts = st.lists(st.lists(st.tuples(rows, st.sampled_from([-1, 1, 2])), max_size=14), max_size=3)
asked = st.lists(st.tuples(st.integers(0, 2), st.one_of(st.none(), st.sampled_from(TIMES))), max_size=5)


def batch_of(listed: list[tuple[Row, int]], seed: int) -> Batch:
    columns = [pa.array([row[i] for row, _ in listed], field.type) for i, field in enumerate(SCHEMA)]
    weights = np.array([weight for _, weight in listed], np.int64)
    return Batch.build(LAYOUT, ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), weights), seed)


@given(parts, asked, st.sampled_from(sorted(COMPARE)), st.sampled_from([0, FOUR_BITS]))
def test_the_nearest_row(
    listed: list[list[tuple[Row, int]]], wanted: list[tuple[int, int | None]], comparison: str, seed: int
) -> None:
    keys = [pa.array([k for k, _ in wanted], pa.int64())]
    times = pa.array([t for _, t in wanted], pa.int64())
    asking = Asked(keys, hash_rows(keys, len(wanted), seed), times)
    found = nearest(LAYOUT, as_runs(*(batch_of(part, seed) for part in listed)), (0,), asking, comparison)
    total: Counter[Row] = Counter()
    for part in listed:
        for row, weight in part:
            total[row] += weight
    assert found.rows.num_rows == len(found.there) == len(wanted)
    for (key, time), there, row in zip(wanted, found.there.tolist(), found.rows.to_pylist(), strict=True):
        candidates = [
            one
            for one, weight in total.items()
            if weight > 0 and one[0] == key and time is not None and COMPARE[comparison](time, one[1])
        ]
        sign = -1 if wants_greatest(comparison) else 1
        best = min(candidates, key=lambda one: (sign * one[1], one[2]), default=None)
        assert there == (best is not None)
        assert tuple(row.values()) == (best or (None, None, None))


@pytest.mark.parametrize("comparison", sorted(BEYOND))
def test_what_comes_next_lies_on_the_other_side(comparison: str) -> None:
    assert wants_greatest(comparison) != wants_greatest(BEYOND[comparison])


def test_some_of_what_is_asked() -> None:
    keys = [pa.array([1, 2, 3])]
    asking = Asked(keys, hash_rows(keys, 3, 0), pa.array([10, 20, None]))
    some = asking.take(np.array([2, 0]))
    assert (some.keys[0].to_pylist(), some.times.to_pylist()) == ([3, 1], [None, 10])
    assert some.hashes.tolist() == asking.hashes[[2, 0]].tolist()
