"""A run of batches answers as the one batch would that they were cut from."""

from __future__ import annotations

import itertools
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.narrow import column
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow.batch import NarrowBatch
from dbsp.circuits.traces.sorted_run import Found, SortedRun, sorted_runs
from dbsp.circuits.traces.trace import Integral, as_runs, disjoint
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.traces.narrow.test_merging import reread

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string()), ("n", pa.int64()), ("b", pa.bool_())])
LAYOUT = Layout(SCHEMA, (0,))


def whole(keys: list[int]) -> Batch:
    """Rows of a few keys each, NULLs among them, consolidated."""
    columns = [
        pa.array(keys, pa.int64()),
        pa.array([None if k % 3 == 0 else str(i) for i, k in enumerate(keys)], pa.string()),
        pa.array([None if k == 2 else i for i, k in enumerate(keys)], pa.int64()),
        pa.array([k % 2 == 0 for k in keys], pa.bool_()),
    ]
    rows = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return Batch.build(LAYOUT, ZSet(rows, np.arange(1, len(keys) + 1)), seed=0)


def cut(batch: Batch, places: list[int]) -> list[Batch]:
    """The batch in pieces, none of which begins in the middle of one sort key."""
    starts = {int(np.searchsorted(batch.keys, batch.keys[p % len(batch)])) for p in places if len(batch)}
    bounds = sorted({0, *starts, len(batch)})
    return [batch.slice(i, j) for i, j in itertools.pairwise(bounds)]


keys = st.lists(st.integers(0, 6), max_size=30)
places = st.lists(st.integers(0, 29), max_size=5)


@given(keys, places, st.lists(st.integers(0, 8), max_size=12))
def test_it_finds_and_takes_what_the_whole_batch_has(rows, at, asked):
    batch = whole(rows)
    (run,) = list(sorted_runs(cut(batch, at))) or [SortedRun([batch])]
    high = LAYOUT.sort_keys(whole(asked).rows, 0) & np.uint64(0xFFFFFFFF00000000)
    for wanted in (high, high[::-1]):  # in any order
        start, stop = run.ranges(wanted, wanted | np.uint64(0xFFFFFFFF))
        assert (start == np.searchsorted(batch.keys, wanted, "left")).all()
        assert (stop == np.searchsorted(batch.keys, wanted | np.uint64(0xFFFFFFFF), "right")).all()
        _, there = expand_ranges(start, stop)
        taken = run.take(there)
        assert taken.rows.equals(batch.rows.take(pa.array(there, pa.int64())))
        assert (taken.weights == batch.weights[there]).all() and (taken.keys == batch.keys[there]).all()
        assert (run.keys(there) == taken.keys).all()
        if len(there):
            order, shares = run.shares(there)
            placed = there if order is None else there[order]
            some = np.arange(0, len(there), 2)
            for found, positions in (
                (Found(shares), placed),
                (Found(shares).take(some), placed[some]),
                (Found(shares).take(some[:0]), placed[:0]),
            ):
                assert found.rows.equals(batch.rows.take(pa.array(positions, pa.int64())))
                assert (found.weights == batch.weights[positions]).all()


words = st.lists(st.sampled_from(["", "one", "two", "a third", None]), min_size=1, max_size=40)


@given(words, places, st.lists(st.booleans(), min_size=6, max_size=6), st.data())
def test_text_is_found_however_its_pieces_are_stored(texts, at, plain, data):
    schema = pa.schema([("k", pa.int64()), ("s", pa.string())])
    layout = Layout(schema, (0,))
    rows = pa.RecordBatch.from_arrays([pa.array(range(len(texts)), pa.int64()), texts], schema=schema)
    batch = Batch.build(layout, ZSet(rows, np.ones(len(texts), np.int64)), seed=0)
    there = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=60)), np.int64)
    for few in (-1, 24, 1 << 14):  # bytes of words that are looked up with those of the pieces beside theirs
        pieces = [b if p else reread(b, layout) for b, p in zip(cut(batch, at), plain, strict=False)]
        (run,) = sorted_runs(pieces)
        with patch.object(column, "_A_CALL", few):
            assert run.take(there).rows.equals(batch.rows.take(pa.array(there)))


def test_words_of_many_pieces_are_one_call():
    """Of text that repeats, and holds no NULL."""
    columns = [range(6000), ["one", "two", "three"] * 2000]
    rows = pa.RecordBatch.from_arrays(columns, names=["k", "s"])
    layout = Layout(rows.schema, (0,))
    batch = Batch.build(layout, ZSet(rows, np.ones(6000, np.int64)), seed=0)
    run = SortedRun([reread(batch.slice(i, i + 100), layout) for i in range(0, 6000, 100)])
    with patch.object(NarrowBatch, "column_at", side_effect=AssertionError):
        assert run.take(np.arange(6000)).column(1).equals(batch.column(1))


@given(keys, places, st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8))
def test_ranges_may_overlap_and_be_empty(rows, at, asked):
    batch = whole(rows)
    (run,) = list(sorted_runs(cut(batch, at))) or [SortedRun([batch])]
    ends = np.unique(np.concatenate([batch.keys, np.array([0, 1 << 63], np.uint64)]))
    least = np.array([ends[i % len(ends)] for i, _ in asked], np.uint64)
    greatest = np.array([ends[j % len(ends)] for _, j in asked], np.uint64)
    start, stop = run.ranges(least, greatest)
    held = [set(range(i, j)) for i, j in zip(start, stop, strict=True)]
    expected = [
        {i for i, key in enumerate(batch.keys) if low <= key <= high}
        for low, high in zip(least, greatest, strict=True)
    ]
    assert held == expected
    low, high = disjoint(least, greatest)
    assert (low <= high).all() and (low[1:] > high[:-1]).all()
    _, there = expand_ranges(*run.ranges(low, high))
    assert there.tolist() == sorted(set().union(*expected))


@given(keys, places, keys)
def test_an_integral_finds_the_same_however_its_runs_are_cut(rows, at, asked):
    batch, wanted = whole(rows), whole(asked)
    pieces = tuple(sorted_runs(cut(batch, at)))

    def found(before: tuple[SortedRun, ...]) -> list[tuple[object, ...]]:
        trace = Integral(LAYOUT, before, wanted)
        hits = trace.find([wanted.rows.column(0)], wanted.keys, (0,), whole_key=False)
        return sorted(
            (int(i), int(b.weights[j]), repr(b.rows.slice(int(j), 1).to_pylist()))
            for where, b, there in hits
            for i, j in zip(where, there, strict=True)
        )

    narrow = [reread(part, LAYOUT) for run in pieces for part in run.batches]
    expected = found(as_runs(batch))
    assert found(pieces) == expected
    assert found(as_runs(*narrow)) == found(tuple(sorted_runs(narrow))) == expected


def test_overlapping_batches_are_runs_of_their_own():
    low, high = cut(whole([0, 1, 2, 3]), [2])
    assert [len(s.batches) for s in sorted_runs([low, high, low, high, Batch.empty(LAYOUT)])] == [2, 2]


@pytest.mark.parametrize("side", [0, 1])
def test_a_key_beyond_either_end_is_found_nowhere(side):
    batch = whole([1, 2, 3, 4])
    run = SortedRun(cut(batch, [1, 2]))
    key = np.array([0 if side == 0 else np.iinfo(np.uint64).max], dtype=np.uint64)
    start, stop = run.ranges(key, key)
    assert start == stop == (0 if side == 0 else len(batch))
