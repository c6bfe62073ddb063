"""Partitions tile the sort keys, each row in the one that an exchange sends it to."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.task import Step, Task, partition_start

EMPTY = State.empty(CircuitBuilder().build())
partitions = st.integers(1, 500)


def task(partition: int, count: int) -> Task:
    step = Step(number=1, state=EMPTY, segment="s", partitions=count)
    return Task(step=step, levels=range(1), segment="s", partition=partition)


@given(partitions)
@example(1)
@example(3)
def test_bounds_leave_no_gap_and_no_overlap(count: int) -> None:
    bounds = [task(p, count).bounds for p in range(count)]
    assert bounds[0][0] == 0 and bounds[-1][1] == 1 << 64
    assert all(end == start for (_, end), (start, _) in pairwise(bounds))
    assert all(low < high for low, high in bounds)


@given(partitions, st.integers(0, 2**64 - 1))
@example(3, 2**64 - 1)
@example(7, 0)
def test_a_key_lies_where_its_high_half_says(count: int, key: int) -> None:
    (mine,) = [p for p in range(count) if task(p, count).bounds[0] <= key < task(p, count).bounds[1]]
    assert mine == ((key >> 32) * count) >> 32


@pytest.mark.parametrize(
    ("partition", "count", "start"), [(0, 3, 0), (1, 2, 1 << 63), (1, 3, 0x55555556 << 32)]
)
def test_starts(partition: int, count: int, start: int) -> None:
    assert partition_start(partition, count) == start
    if start:  # the key before belongs to the partition before
        assert (((start - 1) >> 32) * count) >> 32 == partition - 1
