"""Narrow batches are the plain ones that they were written from: to read, to cut, to merge, to look up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.segments.writing import SegmentWriter
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow.batch import NarrowBatch, from_stored
from dbsp.circuits.traces.narrow.merging import to_narrow
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.columns.narrow.test_column import listed
from tests.circuits.traces.narrow.test_merging import reread
from tests.circuits.traces.test_batch import layouts_with, same
from tests.generators.columns.zsets import seeds


@given(layouts_with(1), seeds, st.data())
def test_it_is_the_batch_that_was_written(
    case: tuple[Layout, list[ZSet]], seed: int, data: st.DataObject
) -> None:
    layout, (delta,) = case
    plain = Batch.build(layout, delta, seed)
    if not len(plain):
        return
    stored = reread(plain, layout)
    assert len(stored) == len(plain) and stored.schema == layout.schema
    assert same(stored, plain) and same(stored.whole, plain)
    read = data.draw(st.sets(st.integers(0, len(layout.schema) - 1)))
    some = stored.rows_of(read)
    assert some.schema == layout.schema and some.num_rows == len(plain)
    assert all(listed(some.column(i)) == listed(stored.column(i)) == listed(plain.column(i)) for i in read)
    at = np.array(data.draw(st.lists(st.integers(0, len(plain) - 1), min_size=1)))
    assert same(SortedRun([stored]).take(at), plain.take(at)) and same(stored.take(at), plain.take(at))
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(plain))] * 2)))
    assert same(stored.slice(first, last), plain.slice(first, last))
    low = int(plain.keys[at[0]])
    assert same(stored.between(low, 1 << 64), plain.between(low, 1 << 64))


def test_what_all_rows_share_has_no_bytes(tmp_path: Path) -> None:
    """As a log's sort keys, and weights of 1. Multiples of a number take 2 bytes each, few texts 1."""
    layout = Layout(pa.schema([("n", pa.int64()), ("text", pa.string())]), (0,), bag=True)
    rows = pa.RecordBatch.from_pydict(
        {"n": np.arange(10_000) * 1_000_000, "text": ["the same"] * 10_000}, schema=layout.schema
    )
    log = Batch(np.zeros(10_000, np.uint64), rows, np.ones(10_000, np.int64))
    writer = SegmentWriter(tmp_path, "one", durable=False)
    small = writer.write(to_narrow(log, layout), described=True)
    plain = writer.write(log.to_stored(layout))
    writer.close()
    assert small.length < 32_000 and plain.length > 320_000
    segments = Segments(tmp_path)
    read = [from_stored(segments.open(chunk, layout.stored_schema), layout) for chunk in (small, plain)]
    assert [isinstance(batch, NarrowBatch) for batch in read] == [True, False]
    assert same(read[0], log) and same(read[1], log)
