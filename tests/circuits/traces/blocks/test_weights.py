"""What rows weigh between two places: the sum of their weights, however the run is cut."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.weights import PrefixWeights
from dbsp.circuits.traces.sorted_run import SortedRun
from tests.circuits.traces.test_sorted_run import cut

SCHEMA = pa.schema([("k", pa.int64())])


def batch_of(weights: list[int]) -> Batch:
    keys = np.arange(len(weights))
    rows = pa.RecordBatch.from_arrays([pa.array(keys)], schema=SCHEMA)
    return Batch(keys.astype(np.uint64), rows, np.array(weights, np.int64))


weights = st.one_of(
    st.lists(st.integers(-2, 3), min_size=1, max_size=80), st.integers(1, 80).map(lambda n: [1] * n)
)
places = st.lists(st.integers(0, 80), max_size=4)


@given(weights, places, st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=6), st.data())
def test_it_is_their_sum(
    held: list[int], at: list[int], listed: list[tuple[int, int]], data: st.DataObject
) -> None:
    run = SortedRun(cut(batch_of(held), at))
    bounds = [sorted(min(p, len(held)) for p in pair) for pair in listed]
    ranges = np.array(bounds, np.int64).reshape(-1, 2).T
    prefix = PrefixWeights(run, *ranges)
    within = [(i, *sorted(data.draw(st.tuples(*[st.integers(*pair)] * 2)))) for i, pair in enumerate(bounds)]
    start, stop = (np.array([w[i] for w in within], np.int64) for i in (1, 2))
    for _ in range(2):  # what was kept says the same
        assert prefix.between(start, stop).tolist() == [sum(held[a:b]) for _, a, b in within]
        prefix = PrefixWeights(run, *ranges)


def test_what_lies_outside_is_not_read() -> None:
    batches = cut(batch_of([2] * 40), [10, 20, 30])
    prefix = PrefixWeights(SortedRun(batches), np.array([12]), np.array([28]))
    assert prefix.between(np.array([13]), np.array([27])).tolist() == [28]
    assert [bool(batch._summaries) for batch in batches] == [False, True, True, False]
