"""Narrow batches are merged as the plain ones that they were written from."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.narrow import joining
from dbsp.circuits.columns.narrow.column import Narrow
from dbsp.circuits.columns.narrow.packing import narrowed
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow import merging
from dbsp.circuits.traces.narrow.batch import from_stored
from dbsp.circuits.traces.narrow.merging import appended, merge, parts, to_narrow
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.circuits.columns.narrow.test_column import listed
from tests.circuits.traces.test_batch import accumulations, layouts_with, same
from tests.generators.columns.zsets import seeds, zset_of


def reread(batch: Batch, layout: Layout) -> Batch:
    sink = pa.BufferOutputStream()
    stored = to_narrow(batch, layout)
    with pa.ipc.new_stream(sink, stored.schema) as stream:
        stream.write_batch(stored)
    return from_stored(pa.ipc.open_stream(sink.getvalue()).read_next_batch(), layout)


def alike(a: Batch, b: Batch) -> bool:
    """Equal; rows whose sort keys collide are listed in any order."""
    rows = [[*map(identity, zip(*(c.to_pylist() for c in x.rows.columns), strict=True))] for x in (a, b)]
    bags = [
        Counter(zip(x.keys.tolist(), map(repr, listed), x.weights.tolist(), strict=True))
        for x, listed in zip((a, b), rows, strict=True)
    ]
    return bags[0] == bags[1] and (a.keys == b.keys).all()


@given(layouts_with(3), seeds, st.lists(st.booleans(), min_size=3, max_size=3))
def test_merging_is_as_of_plain_batches(
    case: tuple[Layout, list[ZSet]], seed: int, narrow: list[bool]
) -> None:
    layout, deltas = case
    plain = [Batch.build(layout, delta, seed) for delta in deltas]
    stored = [
        reread(batch, layout) if is_narrow and len(batch) else batch
        for batch, is_narrow in zip(plain, narrow, strict=True)
    ]
    merged, expected = merge(layout, stored), Batch.merge(layout, plain)
    assert alike(merged, expected)
    if len(merged):
        assert alike(reread(merged, layout), expected)
    log = [batch for batch in stored if len(batch)]
    whole = ZSet.sum(layout.schema, [batch.zset for batch in plain])
    listed = appended(layout, log)
    assert same(listed, Batch(np.zeros(len(whole), np.uint64), whole.rows, whole.weights))


@given(layouts_with(2), seeds, st.integers(1, 6))
def test_parts_have_little_text_each(case: tuple[Layout, list[ZSet]], seed: int, limit: int) -> None:
    layout, deltas = case
    stored = [reread(batch, layout) for d in deltas if len(batch := Batch.build(layout, d, seed))]
    merged = merge(layout, stored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "TEXT_BYTES", limit)
        cut = parts(merged)
    assert sum(map(len, cut)) == len(merged)
    if len(merged):
        assert alike(Batch.merge(layout, [reread(part, layout) for part in cut]), merged.whole)
    for part in cut:
        texts = [part.stored_column(i) for i in range(len(layout.schema))]
        sizes = [t.text_bytes() for t in texts if isinstance(t, Narrow) and t.dictionary is not None]
        assert not sizes or sum(sizes)[1:].sum() <= limit, "one row alone may have more"


def test_long_text_that_repeats_is_joined_by_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain, all of it were more than a column can have."""
    monkeypatch.setattr(joining, "_PLAIN_BYTES", 100)
    few = pa.array(["a long text", "another long text"] * 4)
    column = joining.joined([narrowed(pa.concat_arrays([few] * 4)), few, few, few])
    assert isinstance(column, Narrow) and listed(column) == listed(pa.concat_arrays([few] * 7))


@given(accumulations(), seeds)
def test_accumulators_add_up(parts: list[list[tuple[int, int, int]]], seed: int) -> None:
    schema = pa.schema([("k", pa.int64()), ("a", pa.int64()), ("low", pa.int64())])
    layout = Layout(schema, (0,), sums=(1,), minima=(2,))
    rows = [[((key, total, total), weight) for key, weight, total in part] for part in parts]
    plain = [Batch.build(layout, zset_of(schema, part), seed) for part in rows]
    stored = [reread(batch, layout) if len(batch) else batch for batch in plain]
    assert same(merge(layout, stored), Batch.merge(layout, plain))
