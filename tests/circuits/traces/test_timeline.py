"""Timelines: each row comes due once, however the threshold goes on, and the earliest is the least ahead."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.timeline import due, earliest, passed
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1, timeline=True)
# neighbours, and beyond 55 bits, where instants share a code
INSTANTS = [-(2**62), -(2**55) - 1, -(2**55), -1, 0, 1, 2, 3, 2**55 - 1, 2**55, 2**55 + 1, 2**62]
instants = st.sampled_from(INSTANTS)
rows = st.lists(st.tuples(st.integers(0, 3), instants), max_size=12)
thresholds = st.one_of(st.none(), instants)


def scalar(value: int | None) -> pa.Scalar | None:
    return None if value is None else pa.scalar(value, pa.int64())


def trace(listed: list[tuple[int, int]], parts: int, seed: int) -> list[SortedRun]:
    """The rows as a few runs; the last one is cut in two batches."""
    runs = []
    for part in range(parts):
        own = listed[part::parts]
        columns = [pa.array([row[i] for row in own], pa.int64()) for i in range(2)]
        zset = ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.ones(len(own), np.int64))
        batch = Batch.build(LAYOUT, zset, seed)
        if len(batch):
            runs.append([batch])
    if runs and len(runs[-1][0]) > 1:
        (batch,) = runs.pop()
        middle = int(np.searchsorted(batch.keys, batch.keys[len(batch) // 2]))
        runs.append([part for part in (batch.slice(0, middle), batch.slice(middle, len(batch))) if len(part)])
    return [SortedRun(batches) for batches in runs]


def came(parts: list[ZSet]) -> list[tuple[int, int]]:
    return sorted(
        (row["k"], row["t"])
        for part in parts
        for row, weight in zip(part.rows.to_pylist(), part.weights.tolist(), strict=True)
        for _ in range(weight)
    )


@given(
    rows, st.lists(instants, max_size=4), st.booleans(), st.integers(1, 3), st.sampled_from([0, FOUR_BITS])
)
def test_each_row_comes_due_in_one_step(
    listed: list[tuple[int, int]], risen: list[int], at_once: bool, parts: int, seed: int
) -> None:
    before = trace(listed, parts, seed)
    steps: list[int | None] = [None, *sorted(risen)]
    for earlier, now in itertools.pairwise(steps):
        found = came(list(due(LAYOUT, before, scalar(earlier), scalar(now), at_once)))

        def is_passed(instant: int, by: int | None) -> bool:
            return by is not None and (instant < by or (at_once and instant == by))

        assert found == sorted(row for row in listed if is_passed(row[1], now) > is_passed(row[1], earlier))


@given(rows, thresholds, st.booleans(), st.integers(1, 3), st.sampled_from([0, FOUR_BITS]))
def test_the_earliest_is_the_least_that_is_not_passed(
    listed: list[tuple[int, int]], now: int | None, at_once: bool, parts: int, seed: int
) -> None:
    ahead = [t for _, t in listed if now is None or t > now or (t == now and not at_once)]
    found = earliest(LAYOUT, trace(listed, parts, seed), scalar(now), at_once)
    assert (None if found is None else found.as_py()) == (min(ahead) if ahead else None)


def test_nothing_is_due_before_there_is_a_threshold() -> None:
    assert list(due(LAYOUT, trace([(0, 1)], 1, 0), None, None, True)) == []


@pytest.mark.parametrize(
    ("at_once", "expected"), [(False, [True, False, False]), (True, [True, True, False])]
)
def test_a_null_is_never_passed(at_once: bool, expected: list[bool]) -> None:
    listed = pa.array([1, 2, None])
    assert passed(listed, pa.scalar(2), at_once).tolist() == expected
    assert passed(listed.slice(1), pa.scalar(9), at_once).tolist() == [True, False]
    assert not passed(listed, None, at_once).any()


@pytest.mark.parametrize("listed", [[1, 2], [1, 2, 3], [1, 1, 2]])
def test_what_comes_next_lies_behind_what_was_just_passed(listed: list[int]) -> None:
    found = earliest(LAYOUT, trace([(0, t) for t in listed], 1, 0), scalar(1), at_once=True)
    assert found is not None
    assert found.as_py() == 2


def test_instants_that_share_a_code_are_told_apart() -> None:
    runs = trace([(0, 2**55 + 1), (0, 2**62), (0, 2**55)], 1, 0)
    found = earliest(LAYOUT, runs, scalar(2**55 + 1), at_once=True)
    assert found is not None
    assert found.as_py() == 2**62
