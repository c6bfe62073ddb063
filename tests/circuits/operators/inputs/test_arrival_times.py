"""Rows get the clock of their step, which bounds those of all later steps."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.arrival_times import ROWTIME, ArrivalTime
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify

GIVEN = pa.schema([("v", pa.string())])
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def test_all_rows_of_a_step_have_its_clock() -> None:
    delta = ZSet(pa.RecordBatch.from_arrays([pa.array(["a", "b"])], schema=GIVEN), np.array([1, 2]))
    timed = ArrivalTime(1).step(Context(0, 1, NOON, True), delta)
    assert timed.schema.field(1) == pa.field(ROWTIME, CLOCK.type, nullable=False)
    assert timed.rows.column(1).to_pylist() == [NOON, NOON]
    assert (timed.rows.column(0).to_pylist(), timed.weights.tolist()) == (["a", "b"], [1, 2])


def test_a_step_without_a_row_needs_no_clock() -> None:
    assert ArrivalTime(1).step(Context(0, 1, None, True), ZSet.empty(GIVEN)).is_empty


def test_the_clock_bounds_it_and_the_rest_is_as_it_was() -> None:
    operator, clock = ArrivalTime(1), Column(3, CLOCK.type)
    below = {0: (Column(0, pa.string()),)}
    assert operator.bounds([below], {CLOCK.name: clock}) == {**below, 1: (clock,)}
    assert [operator.origin(i, GIVEN) for i in range(2)] == [(0, 0), None]
    assert operator.reads(0, {0, 1}, GIVEN) == {0}


def test_it_stands_behind_the_other_columns() -> None:
    builder = CircuitBuilder(0)
    builder.lateness.append(CLOCK)
    builder.add(ArrivalTime(0), builder.add(Source("t", GIVEN)))
    with pytest.raises(AssertionError, match="not behind the other columns"):
        verify(builder.build())
