"""Sums over ranges of runs: what plain Python adds up of the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.arrow import fixed_values
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks import sums as module
from dbsp.circuits.traces.blocks.sums import Addends, Ranges, Summand, range_sums
from dbsp.circuits.traces.sorted_run import SortedRun

SCHEMA = pa.schema([("x", pa.int64())])


@dataclass(frozen=True)
class Remainders(Summand):
    """Of each sum the values that leave its number as remainder; of those without one nothing."""

    by: int
    columns: tuple[int, ...] = (0,)

    def of(self, columns: list[pa.Array], count: int) -> Addends:
        values = fixed_values(columns[0])
        (row,) = (values % 5 != 0).nonzero()
        return row, values[row] % self.by - 1, values[row]


rows = st.lists(st.tuples(st.integers(-9, 9), st.integers(-2, 2)), min_size=1, max_size=12)
runs = st.lists(rows, min_size=1, max_size=4)  # of batches


def run_of(batches: list[list[tuple[int, int]]]) -> SortedRun:
    made, at = [], 0
    for batch in batches:
        keys = np.arange(at, at + len(batch), dtype=np.uint64)
        values = pa.RecordBatch.from_arrays([pa.array([x for x, _ in batch], pa.int64())], schema=SCHEMA)
        made.append(Batch(keys, values, np.array([w for _, w in batch], np.int64)))
        at += len(batch)
    return SortedRun(made)


def ranges_of(
    held: list[list[list[tuple[int, int]]]], count: int, data: st.DataObject
) -> tuple[list[Ranges], list[list[tuple[int, int]]]]:
    """Some ranges of each run, and the rows that those of each number have in all runs."""
    ranges: list[Ranges] = []
    rows: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for run in held:
        whole = [row for batch in run for row in batch]
        edges = data.draw(
            st.lists(st.tuples(*[st.integers(0, len(whole))] * 2), min_size=count, max_size=count)
        )
        start, stop = (np.array([edge[i] for edge in edges], np.int64) for i in (0, 1))
        ranges.append((run_of(run), start, stop))
        for i, (first, end) in enumerate(edges):
            rows[i] += whole[first:end]
    return ranges, rows


@given(st.lists(runs, min_size=1, max_size=3), st.data(), st.sampled_from([1, 2, 3, 256]))
def test_sums_of_ranges(held: list[list[list[tuple[int, int]]]], data: st.DataObject, block: int) -> None:
    count = data.draw(st.integers(1, 4))
    ranges, rows = ranges_of(held, count, data)
    expected: dict[int, list[int]] = {number: [0] * count for number in range(-1, 2)}
    for i, within in enumerate(rows):
        for x, weight in within:
            if x % 5:
                expected[x % 3 - 1][i] += x * weight
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        for _ in range(2):  # sums are kept with the batches
            found = range_sums(ranges, Remainders(3), count)
            got = {
                number: found[number].tolist() if number in found else [0] * count for number in range(-1, 2)
            }
            assert got == expected
            assert set(found) <= set(expected)


def test_of_a_long_range_few_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of([[(1, 1)] * 5_000, [(1, 1)] * 5_000])
    ranges = [(run, np.array([100]), np.array([9_900]))]
    summand = Remainders(3)
    range_sums(ranges, summand, 1)
    looked_at = []
    of = Remainders.of
    monkeypatch.setattr(
        Remainders, "of", lambda self, columns, count: looked_at.append(count) or of(self, columns, count)
    )
    assert range_sums(ranges, summand, 1)[0].tolist() == [9_800]
    assert sum(looked_at) <= 4 * module._BLOCK
