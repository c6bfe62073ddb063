"""An integral finds what a look at all its rows would; what a step adds is found when it is asked for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs, disjoint
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
Row = tuple[int | None, str | None]
rows = st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.sampled_from(["", "a", "b", None]))
listings = st.lists(st.lists(st.tuples(rows, st.sampled_from([-2, -1, 1, 2])), max_size=6), max_size=3)
keys = st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=5)
bounds = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6)


def zset(listed: list[tuple[Row, int]]) -> ZSet:
    columns = [
        pa.array([row[0] for row, _ in listed], pa.int64()),
        pa.array([row[1] for row, _ in listed], pa.string()),
    ]
    weights = np.array([weight for _, weight in listed], np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), weights)


def integral(layout: Layout, listed: list[list[tuple[Row, int]]], seed: int) -> Integral:
    """The last listing is the step's delta."""
    batches = [Batch.build(layout, zset(part), seed) for part in listed] or [Batch.empty(layout)]
    return Integral(layout, as_runs(*batches[:-1]), batches[-1])


def looked_up(trace: Integral, wanted: list[int | None], seed: int) -> dict[tuple[int, str | None], int]:
    """(position of the key, value): weight."""
    columns = [pa.array(wanted, pa.int64())]
    found: dict[tuple[int, str | None], int] = {}
    for owner, batch, there in trace.find(columns, hash_rows(columns, len(wanted), seed), (0,), False):
        for i, j in zip(owner.tolist(), there.tolist(), strict=True):
            assert batch.rows.column(0)[j].as_py() == wanted[i]
            key = (i, batch.rows.column(1)[j].as_py())
            found[key] = found.get(key, 0) + int(batch.weights[j])
    return {key: weight for key, weight in found.items() if weight}


def expected(
    parts: list[list[tuple[Row, int]]], wanted: list[int | None]
) -> dict[tuple[int, str | None], int]:
    total: dict[tuple[int, str | None], int] = {}
    for i, key in enumerate(wanted):
        for (k, v), weight in (entry for part in parts for entry in part):
            if k == key:
                total[i, v] = total.get((i, v), 0) + weight
    return {key: weight for key, weight in total.items() if weight}


def in_pieces(trace: Integral) -> Integral:
    """Each row of a sort key of its own in its own batch, as a long run is stored."""
    runs = [
        SortedRun([run.batches[0].between(int(key), int(key) + 1) for key in np.unique(run.batches[0].keys)])
        for run in trace.before
    ]
    return Integral(trace.layout, tuple(runs), trace.delta)


@given(listings, keys, st.sampled_from([0, FOUR_BITS]))
def test_what_is_found_by_key(
    listed: list[list[tuple[Row, int]]], wanted: list[int | None], seed: int
) -> None:
    layout = Layout(SCHEMA, (0,))
    trace = integral(layout, listed, seed)
    assert looked_up(trace, wanted, seed) == expected(listed[:-1], wanted)
    assert looked_up(in_pieces(trace), wanted, seed) == expected(listed[:-1], wanted)
    assert looked_up(trace.stepped, wanted, seed) == expected(listed, wanted)
    assert looked_up(trace.changed, wanted, seed) == expected(listed[-1:], wanted)
    assert sum(len(run) for run in trace.after) == sum(len(run) for run in trace.before) + len(trace.delta)


@given(listings, st.lists(rows, max_size=4), st.sampled_from([0, FOUR_BITS]))
def test_what_is_found_by_the_whole_row(
    listed: list[list[tuple[Row, int]]], wanted: list[Row], seed: int
) -> None:
    layout = Layout(SCHEMA, (0,))
    trace = integral(layout, listed, seed).stepped
    asked = zset([(row, 1) for row in wanted]).rows
    total = [0] * len(wanted)
    found = trace.find(asked.columns, layout.sort_keys(asked, seed), (0, 1), whole_key=True)
    for owner, batch, there in found:
        for i, j in zip(owner.tolist(), there.tolist(), strict=True):
            total[i] += int(batch.weights[j])
    assert total == [sum(w for part in listed for row, w in part if row == one) for one in wanted]


@given(listings.filter(bool), bounds, st.booleans())
def test_what_lies_within_ranges_of_the_key(
    listed: list[list[tuple[Row, int]]], ranges: list[tuple[int, int]], cut: bool
) -> None:
    layout = Layout(SCHEMA, (0,))
    trace = integral(layout, listed, FOUR_BITS)
    trace = in_pieces(trace) if cut else trace
    every = np.unique(
        np.concatenate([np.zeros(1, np.uint64), *(b.keys for r in trace.before for b in r.batches)])
    )
    ends = [(int(every[low % len(every)]), int(every[high % len(every)])) for low, high in ranges]
    least, greatest = (np.array([end[i] for end in ends], np.uint64) for i in range(2))
    inside = sorted(
        int(key)
        for run in trace.before
        for batch in run.batches
        for key in batch.keys
        if any(low <= key <= high for low, high in ends)
    )
    found, there = trace.within(least, greatest)
    assert sorted(found.tolist()) == inside
    assert sorted(layout.sort_keys(there.rows, FOUR_BITS).tolist()) == inside


@given(bounds)
def test_disjoint_ranges_hold_the_same_keys(ranges: list[tuple[int, int]]) -> None:
    least, greatest = disjoint(*(np.array([r[i] for r in ranges], np.uint64) for i in range(2)))
    held = {key for low, high in ranges for key in range(low, high + 1)}
    listed = [
        key for low, high in zip(least, greatest, strict=True) for key in range(int(low), int(high) + 1)
    ]
    assert listed == sorted(held)


@pytest.mark.parametrize("parts", [[], [[]]])
def test_an_empty_trace_finds_nothing(parts: list[list[tuple[Row, int]]]) -> None:
    trace = integral(Layout(SCHEMA, (0,)), parts, 0)
    assert (trace.before, trace.after) == ((), ())
    assert looked_up(trace, [1, None], 0) == {}
    assert not len(trace.within(np.zeros(1, np.uint64), np.full(1, 2**64 - 1, np.uint64))[1])


def test_a_long_run_is_read_where_it_is_asked_for() -> None:
    listed: list[tuple[Row, int]] = [((k, "a"), 1) for k in range(4)]
    layout = Layout(SCHEMA, (0,))
    trace = in_pieces(Integral(layout, as_runs(Batch.build(layout, zset(listed), 0)), Batch.empty(layout)))
    keys = [int(batch.keys[0]) for batch in trace.before[0].batches]
    assert len(keys) == 4
    for wanted in ([2], [3, 1]):
        assert looked_up(trace, list(wanted), 0) == {(i, "a"): 1 for i in range(len(wanted))}
    two = Integral(layout, (SortedRun(list(trace.before[0].batches)[:2]),), trace.delta)
    held = [batch.rows.column(0)[0].as_py() for batch in two.before[0].batches]
    assert looked_up(two, held, 0) == {(0, "a"): 1, (1, "a"): 1}


def test_rows_of_one_hash_are_told_apart() -> None:
    """Forty keys share sixteen hashes: each finds its own row, and no other one's."""
    keys = [*range(40)]
    trace = integral(Layout(SCHEMA, (0,)), [[((key, "a"), key + 1) for key in keys], []], FOUR_BITS)
    assert looked_up(trace, keys, FOUR_BITS) == {(key, "a"): key + 1 for key in keys}
    assert looked_up(trace, [99], FOUR_BITS) == {}
