"""Rows near some keys of a trace: all of them, and with the weights that all runs together give them."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.operators.groups import nearby as module
from dbsp.circuits.operators.groups.nearby import Near, nearby
from dbsp.circuits.operators.groups.touched import each_once
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import as_runs
from dbsp.circuits.traces.zset import ZSet
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1)

Rows = dict[tuple[int, int], int]
runs_of_rows = st.lists(
    st.dictionaries(
        st.tuples(st.sampled_from([0, 1, 2]), st.integers(0, 12)), st.integers(-2, 2), max_size=12
    ),
    min_size=1,
    max_size=4,
)
ranges = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=4
)


def zset(rows: Rows) -> ZSet:
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in (0, 1)]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return ZSet(batch, np.array(list(rows.values()), dtype=np.int64))


@given(runs_of_rows, ranges, st.integers(0, 3), st.integers(0, 3), hash_seeds)
def test_what_is_near_is_there_as_it_is(
    held: list[Rows], asked: list[tuple[int, int, int]], before: int, after: int, seed: int
) -> None:
    total: Counter[tuple[int, int]] = Counter()
    for rows in held:
        total.update(rows)
    runs = as_runs(*(Batch.build(LAYOUT, zset(rows), seed) for rows in held))
    of, *edges = zip(*((k, x, x + length) for k, x, length in asked), strict=True)
    asking = [
        pa.RecordBatch.from_arrays([pa.array(of, pa.int64()), pa.array(edge, pa.int64())], schema=SCHEMA)
        for edge in edges
    ]
    groups = groups_of(asking[0], (0,), seed)
    first, last = (LAYOUT.sort_keys(rows, seed) for rows in asking)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORTH", 0)
        near = Near(first, last, groups.owner, before, after)
        found = nearby(runs, groups, (0,), near)
    if found is None:  # nothing is there, or hashes begin alike
        return
    owner, rows = each_once(LAYOUT, found.rows)
    keys = groups.keys[0].to_pylist()
    got = dict(zip(zip(*(c.to_pylist() for c in rows.rows.columns), strict=True), rows.weights, strict=True))
    assert [keys[group] for group in owner] == [k for k, _ in got]
    assert all(total[row] == weight for row, weight in got.items())
    for k, x, length in asked:
        of_group = sorted(row for row, weight in total.items() if row[0] == k and weight)
        assert all(row in got for row in of_group if x <= row[1] <= x + length)
        for outside, places in (
            ([row for row in reversed(of_group) if row[1] < x], before),
            ([row for row in of_group if row[1] > x + length], after),
        ):
            missing = next((i for i, row in enumerate(outside) if row not in got), len(outside))
            there = accumulate((total[row] for row in outside[:missing]), initial=0)
            assert missing == len(outside) or max(there) >= places


def test_of_few_rows_all_are_read() -> None:
    run = Batch.build(LAYOUT, zset({(0, x): 1 for x in range(20)}), 0)
    asking = zset({(0, 7): 1}).rows
    groups, key = groups_of(asking, (0,)), LAYOUT.sort_keys(asking, 0)
    near = Near(key, key, groups.owner, 1, 1)
    assert nearby(as_runs(run), groups, (0,), near) is None
    run = Batch.build(LAYOUT, zset({(0, x): 1 for x in range(200)}), 0)
    found = nearby(as_runs(run), groups, (0,), near)
    assert found is not None
    assert sum(len(batch) for _, batch in found.rows) == 3
