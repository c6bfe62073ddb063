"""Touched groups: every row of every group that a delta has a row of, before and after, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.touched import touched_groups
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import Naive, kinds, naive, naive_of, plus, schema_of, zsets
from tests.laws.operators_laws import hash_seeds


@st.composite
def traces(draw: st.DrawFn) -> Any:
    """(keys, placement, batches before, delta), all of one schema."""
    keys = draw(st.integers(0, 2))
    schema = schema_of([draw(kinds) for _ in range(keys + draw(st.integers(1, 2)))])
    placement = tuple(range(draw(st.integers(min(keys, 1), keys))))
    order = draw(st.sampled_from([None, len(schema) - 1]))
    layout = Layout(schema, placement, order)
    seed = draw(hash_seeds)
    parts = [draw(zsets(schema, 6)) for _ in range(draw(st.integers(0, 3)))]
    return keys, seed, layout, parts, draw(zsets(schema, 6))


def built(layout: Layout, delta: ZSet, seed: int) -> Batch:
    if layout.order is not None:
        valid = np.flatnonzero(~np.array(delta.rows.column(layout.order).is_null()))
        delta = delta.take(valid)
    return Batch.build(layout, delta, seed)


@given(traces())
def test_both_sides_of_the_groups_of_a_delta(case: Any) -> None:
    keys, seed, layout, parts, delta = case
    batches = tuple(built(layout, part, seed) for part in parts)
    integral = Integral(layout, as_runs(*batches), built(layout, delta, seed))
    by = tuple(range(keys))
    touched = touched_groups(
        integral, groups_of(integral.delta.rows, by, seed), by, (SortKey(len(layout.schema) - 1),), seed
    )
    groups = {row[1 : 1 + keys] for row in naive_of(integral.zset)}
    before = plus(*(naive_of(batch.zset) for batch in batches))
    after = plus(before, naive_of(integral.zset))
    for weights, side in ((touched.before, before), (touched.after, after)):
        there = Naive({row: n for row, n in side.items() if row[1 : 1 + keys] in groups and n > 0})
        assert naive(touched.rows, weights) == there
        sizes = sum(there.values())
        assert touched.sizes(weights).sum() == sizes
    assert touched.count == len(groups)
    listed = [identity(row) for row in zip(*(c.to_pylist() for c in touched.rows.columns), strict=True)]
    names = [identity(key) for key in zip(*(c.to_pylist() for c in touched.keys), strict=True)] or [("list",)]
    assert [row[: 1 + keys] for row in listed] == [names[g] for g in touched.group]
    assert len(set(listed)) == len(listed)
    assert (np.diff(touched.group) >= 0).all() and (np.diff(touched.peers) >= 0).all()
    assert ((touched.before >= 0) & (touched.after >= 0) & (touched.before + touched.after > 0)).all()


def test_only_touched_groups_are_read() -> None:
    """A delta of one group reads that group's rows of a trace of a thousand groups."""
    schema = pa.schema([("k", pa.int64()), ("v", pa.int64())])
    layout = Layout(schema, (0,))
    numbers = [pa.array(np.arange(5000) % 1000), pa.array(np.arange(5000))]
    ones = np.ones(5000, np.int64)
    held = Batch.build(layout, ZSet(pa.RecordBatch.from_arrays(numbers, schema=schema), ones), 0)
    delta = ZSet(pa.RecordBatch.from_arrays([pa.array([7]), pa.array([2007])], schema=schema), -ones[:1])
    integral = Integral(layout, as_runs(held), Batch.build(layout, delta, 0))
    touched = touched_groups(integral, groups_of(delta.rows, (0,)), (0,), (SortKey(1, True),))
    assert touched.rows.column(1).to_pylist() == [4007, 3007, 2007, 1007, 7]
    assert touched.before.tolist() == [1, 1, 1, 1, 1]
    assert touched.after.tolist() == [1, 1, 0, 1, 1]
