"""Rows of a trace as input: ranges of the sort key are all of it, each row in one, what cancels in none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.extent import Extent
from dbsp.circuits.steps.task import Input
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.zset import WEIGHT, ZSet
from tests.circuits.steps.test_state import SCHEMA

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([-1, 1, 2])), max_size=12)


def zset(rows: list[tuple[int, int, int]]) -> ZSet:
    a, b, weights = ([row[i] for row in rows] for i in range(3))
    batch = pa.RecordBatch.from_arrays([pa.array(a, pa.int64()), pa.array(b, pa.int64())], schema=SCHEMA)
    return ZSet(batch, pa.array(weights, pa.int64()).to_numpy())


def stored(segments: Segments, layout: Layout, runs: list[list[tuple[int, int, int]]]) -> Extent:
    writer = segments.writer("a.trace", durable=False)
    chunks = []
    for rows in runs:
        batch = Batch.build(layout, zset(rows), 0)
        if len(batch):
            chunks.append(writer.write(batch.to_stored(layout), int(batch.keys[0]), int(batch.keys[-1])))
    writer.close()
    rows_ = sum(chunk.rows for chunk in chunks)
    return Extent(tuple(chunks), layout, SCHEMA, (0, 1), "a trace", rows_)


def opened(segments: Segments, parts: list[Extent]) -> list[tuple[int, ...]]:
    batches = [Input(0, part).open(segments, SCHEMA) for part in parts]
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("placement", [(0,), ()])
@given(runs=st.lists(ROWS, min_size=1, max_size=4), count=st.integers(1, 9))
def test_ranges_are_all_of_it(
    tmp_path_factory: pytest.TempPathFactory,
    placement: tuple[int, ...],
    runs: list[list[tuple[int, int, int]]],
    count: int,
) -> None:
    segments, layout = Segments(tmp_path_factory.mktemp("segments")), Layout(SCHEMA, placement)
    whole = stored(segments, layout, runs)
    expected: Counter[tuple[int, int]] = Counter()
    for a, b, weight in (row for rows in runs for row in rows):
        expected[a, b] += weight
    if whole.chunks:
        parts = whole.in_ranges(count)
        assert len(parts) == count
        assert all(len(part.chunks) <= len(whole.chunks) for part in parts)
        found = opened(segments, [part for part in parts if part.chunks])
        assert sorted(found) == sorted((*row, n) for row, n in expected.items() if n)
        logs = opened(segments, whole.of_log())
        assert len(logs) == whole.rows


def test_columns_as_they_are_asked_for(tmp_path: Path) -> None:
    segments, layout = Segments(tmp_path), Layout(SCHEMA, (0,))
    held = stored(segments, layout, [[(1, 2, 3)]])
    schema = pa.schema([("wide", pa.float64()), ("none", pa.string()), ("given", pa.string())])
    made = Extent(held.chunks, layout, schema, (1, None, pa.scalar("x")), "a trace", 1).open(segments)
    assert made.to_pylist() == [{"wide": 2.0, "none": None, "given": "x", WEIGHT: 3}]


@pytest.mark.parametrize("bag", [False, True])
@given(
    merged=st.lists(ROWS, max_size=3),
    more=st.lists(ROWS, max_size=2),
    count=st.integers(1, 5),
)
def test_what_was_merged_meanwhile_cancels(
    tmp_path_factory: pytest.TempPathFactory,
    bag: bool,
    merged: list[list[tuple[int, int, int]]],
    more: list[list[tuple[int, int, int]]],
    count: int,
) -> None:
    """Between two states of a trace: runs that have become one, and runs that came."""
    segments = Segments(tmp_path_factory.mktemp("segments"))
    layout = Layout(SCHEMA, (0,), bag=bag)
    chunks = stored(segments, layout, [*merged]).chunks
    writer = segments.writer("b.trace", durable=False)
    came = []
    for batch in (
        Batch.build(layout, zset([row for rows in merged for row in rows]), 0),
        *(Batch.build(layout, zset(rows), 0) for rows in more),
    ):
        if len(batch):
            came.append(writer.write(batch.to_stored(layout), int(batch.keys[0]), int(batch.keys[-1])))
    writer.close()
    rows = sum(chunk.rows for chunk in (*came, *chunks))
    whole = Extent(tuple(came), layout, SCHEMA, (0, 1), "a trace", rows, minus=chunks)
    expected: Counter[tuple[int, int]] = Counter()
    for a, b, weight in (row for rows_ in more for row in rows_):
        expected[a, b] += weight
    if rows:
        parts = [part for part in whole.in_ranges(count) if part.chunks or part.minus]
        found: Counter[tuple[int, ...]] = Counter()
        for *row, weight in opened(segments, parts):
            found[tuple(row)] += weight
        assert {row: n for row, n in found.items() if n} == {row: n for row, n in expected.items() if n}
        if not more:
            assert not found  # what cancels isn't there: one who never sees a retraction isn't shown any
