"""Groups among whose rows others lie: those that a look at every row finds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.state.mingled import mingled
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH, Layout, of_placement
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.traces.test_sorted_run import cut
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
rows_of = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=20)
listings = st.lists(st.tuples(rows_of, st.lists(st.integers(0, 19), max_size=4)), min_size=1, max_size=3)


@given(listings, st.sets(st.integers(0, 9), min_size=1), hash_seeds)
def test_every_row_of_the_ranges_is_of_the_group(listed: object, asked: set[int], seed: int) -> None:
    runs = []
    for rows, at in listed:  # type: ignore[attr-defined]
        columns = [pa.array([row[i] for row in rows], pa.int64()) for i in (0, 1)]
        batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
        runs.append(SortedRun(cut(Batch.build(LAYOUT, ZSet(batch, np.ones(len(rows), np.int64)), seed), at)))
    keys = [pa.array(sorted(asked), pa.int64())]
    high = LAYOUT.placed(keys, len(asked), seed) & HIGH
    ranges = [(run, *run.ranges(*of_placement(high))) for run in runs]
    expected = [
        any(
            run.take(np.arange(start[i], stop[i])).column(0).to_pylist() != [k] * int(stop[i] - start[i])
            for run, start, stop in ranges
        )
        for i, k in enumerate(sorted(asked))
    ]
    for _ in range(2):  # what was kept says the same
        assert mingled(ranges, keys, high, (0,)).tolist() == expected
