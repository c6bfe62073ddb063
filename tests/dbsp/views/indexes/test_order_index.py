"""Pages of an index that follows a view's chunks are those of all rows, sorted anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.indexes import order_index
from dbsp.views.indexes.order_index import OrderIndex, OrderIndexes
from dbsp.views.search import Indexes
from dbsp.views.view import Contents
from tests.dbsp.build import votes_program
from tests.effort import examples

SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string()), ("x", pa.float64())])
ROW = st.tuples(
    st.sampled_from([None, -1, 0, 1]),
    st.sampled_from([None, "", "a", "é", "ab"]),
    st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]),
)
BY = st.lists(
    st.builds(
        lambda i, down, last: SortOrder(Column(i, SCHEMA.field(i).type), down, last),
        st.integers(0, 2),
        st.booleans(),
        st.booleans(),
    ),
    max_size=2,
)


def part(rows: list[tuple[Any, ...]], weights: list[int]) -> ZSet:
    columns = [pa.array([row[i] for row in rows], one.type) for i, one in enumerate(SCHEMA)]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array(weights, np.int64))


@examples(40)
@given(data=st.data())
def test_a_page_is_cut_out_of_all_rows_in_order(data: st.DataObject) -> None:
    order = data.draw(BY)
    indexes = Indexes(votes_program())
    steps: list[dict[Chunk, ZSet]] = [{}]
    count = 0
    for _ in range(data.draw(st.integers(1, 4))):
        chunks = dict(steps[-1])
        for _ in range(data.draw(st.integers(1, 2))):
            rows = data.draw(st.lists(ROW, min_size=1, max_size=30))
            often = data.draw(st.integers(1, 2))
            chunks[Chunk(str(count), 0, 0, len(rows))] = part(rows, [often] * len(rows))
            count += 1
        if len(chunks) > 2 and data.draw(st.booleans()):  # a merge
            merged = [chunks.pop(chunk) for chunk in list(chunks)[:2]]
            total = ZSet.sum(SCHEMA, merged).consolidate()
            chunks[Chunk(str(count), 0, 0, len(total))] = total
            count += 1
        taken = next(iter(chunks.values()))
        gone = taken.take(np.flatnonzero([data.draw(st.booleans()) for _ in range(len(taken))]))
        if len(gone):
            chunks[Chunk(str(count), 0, 0, len(gone))] = -gone.consolidate()
            count += 1
        if ZSet.sum(SCHEMA, list(chunks.values())).consolidate().weights.min(initial=1) >= 0:
            steps.append(chunks)
    for chunks in [*steps[1:], *data.draw(st.permutations(steps[1:]))]:
        held = Contents("v", SCHEMA, list(chunks.values()), None, order, list(chunks), indexes)
        whole = Contents("v", SCHEMA, list(chunks.values()), None, order).sorted_batch()
        offset, size = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 20))
        page, total = held.page(offset, size)
        assert total == whole.num_rows
        assert repr(page.to_pylist()) == repr(whole.slice(offset, size).to_pylist())
        leading = Contents("v", SCHEMA, held.leading(size, order), None, order).sorted_batch()
        assert repr(leading.slice(0, size).to_pylist()) == repr(whole.slice(0, size).to_pylist())


def test_what_ties_with_the_last_row_leads_too() -> None:
    rows = part([(i // 300, str(i), None) for i in range(1000)], [1] * 1000)
    by = (SortOrder(Column(0, pa.int64())),)
    held = Contents("v", SCHEMA, [rows], None, (), [Chunk("0", 0, 0, 1000)], Indexes(votes_program()))
    assert [len(one) for one in held.leading(1, by)] == [300]
    assert [len(one) for one in held.leading(301, by)] == [600]
    assert [len(one) for one in held.leading(1000, by)] == [1000]


def test_only_what_changed_is_read_and_found_a_place_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law of cost: rows that are compared follow the change, not the view."""
    index, compared = OrderIndex((SortOrder(Column(0, pa.int64())),)), [0]
    rows = part([(i, "a", None) for i in range(50_000)], [1] * 50_000)
    parts = {Chunk("0", 0, 0, 50_000): rows}
    assert index.of(parts).total == 50_000
    keys = order_index._keys

    def counted(batch: pa.RecordBatch, *others: Any, **named: Any) -> list[np.ndarray]:
        compared[0] += batch.num_rows
        return keys(batch, *others, **named)

    monkeypatch.setattr(order_index, "_keys", counted)
    parts[Chunk("1", 0, 0, 2)] = part([(7, "b", None), (9, "a", None)], [1, -1])
    assert index.of(parts).page(6, 4).rows.column(0).to_pylist() == [6, 7, 7, 8]
    assert compared[0] < 2 * 2 * 20


def test_a_row_that_is_there_less_than_never_is_said() -> None:
    odd = part([(1, "a", None)], [-1])
    held = Contents("v", SCHEMA, [odd], None, (), [Chunk("0", 0, 0, 1)], Indexes(votes_program()))
    with pytest.raises(DataError, match="-1 times"):
        held.page(0, 10)


def test_the_indexes_that_were_asked_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_index, "_KEPT", 2)
    kept = OrderIndexes()
    first = kept.of("a", ())
    kept.of("b", ())
    assert kept.of("a", ()) is first
    kept.of("c", ())
    assert kept.of("a", ()) is first
    second = kept.of("b", ())
    assert kept.of("b", ()) is second
