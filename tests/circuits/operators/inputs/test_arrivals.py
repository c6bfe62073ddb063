"""A retraction takes the earliest copies of its row that are left, as a queue a row would."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.operators.inputs.arrivals import ARRIVAL, Arrival, Remaining
from dbsp.circuits.operators.linear import SEQUENCE
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet
from tests.generators.columns.zsets import naive_of, plus

GIVEN = pa.schema([("v", pa.string()), (SEQUENCE, pa.int64())])
Listed = list[tuple[str | None, int]]
deltas = st.lists(
    st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(-3, 3).filter(bool)), max_size=6),
    max_size=5,
)


def zset(listed: Listed) -> ZSet:
    columns = [pa.array([v for v, _ in listed], pa.string()), pa.array(range(len(listed)), pa.int64())]
    weights = np.array([weight for _, weight in listed], np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=GIVEN), weights)


def context(step: int, seed: int = 0) -> Context:
    return Context(seed, step, None, True)


@given(deltas, st.sampled_from([0, FOUR_BITS]))
def test_the_earliest_copies_go(steps: list[Listed], seed: int) -> None:
    arrival, remaining = Arrival(), Remaining((0,))
    layout = remaining.layout(arrival.schema(GIVEN))
    before: tuple[SortedRun, ...] = ()
    queues: dict[str | None, list[int]] = {}
    held = naive_of(ZSet.empty(layout.schema))
    for number, listed in enumerate(steps, 1):
        arrived = arrival.step(context(number), zset(listed))
        assert arrived.schema.names == ["v", ARRIVAL]  # type: ignore[union-attr]
        integral = remaining.integrate(context(number, seed), layout, before, arrived)
        assert isinstance(integral, Integral)
        before = (*before, *as_runs(integral.delta))
        for position, (value, weight) in enumerate(listed):
            queues.setdefault(value, []).extend([(number << 32) + position] * max(weight, 0))
        for value, queue in queues.items():
            leaving = -sum(min(weight, 0) for v, weight in listed if v == value)
            del queue[:leaving]
        held = plus(held, naive_of(integral.zset))
        rows = [((value, arrived_at), 1) for value, left in queues.items() for arrived_at in left]
        columns = [pa.array([row[i] for row, _ in rows], t) for i, t in enumerate((pa.string(), pa.int64()))]
        copies = pa.RecordBatch.from_arrays(columns, schema=layout.schema)
        assert held == naive_of(ZSet(copies, np.ones(len(rows), np.int64)))


def test_more_rows_than_positions_are_no_step() -> None:
    rows = pa.RecordBatch.from_arrays([pa.array(["a"]), pa.array([1 << 32])], schema=GIVEN)
    with pytest.raises(AssertionError, match="more rows in a step than there are positions"):
        Arrival().step(context(1), ZSet(rows, np.ones(1, np.int64)))


def test_arrival_comes_from_no_column() -> None:
    assert [Arrival().origin(i, GIVEN) for i in range(2)] == [(0, 0), None]
