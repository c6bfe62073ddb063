"""How far the clock and the waterlines have come within a step, whatever partition proved it."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.thresholds import Proved, Threshold, reached
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.progress.waterline import CLOCK, Lateness
from dbsp.circuits.traces.zset import ZSet

INT = pa.int64()
A, B = Lateness("t.a", 0, INT, 2), Lateness("t.b", 1, INT, 0)
ROWS = pa.schema([("a", INT), ("b", INT)])
numbers = st.one_of(st.none(), st.integers(-9, 9))
listings = st.lists(st.lists(st.tuples(numbers, numbers), max_size=4), max_size=3)


def zset(listed: list[tuple[int | None, int | None]]) -> ZSet:
    columns = [pa.array([row[i] for row in listed], INT) for i in range(2)]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=ROWS), np.ones(len(listed), np.int64))


def context(clock: datetime | None = None, **waterlines: int) -> Context:
    lines = {f"t.{name}": pa.scalar(value, INT) for name, value in waterlines.items()}
    return Context(0, 1, clock, True, waterlines=lines)


@given(listings, numbers)
def test_waterlines_are_the_greatest_of_all_partitions(
    parts: list[list[tuple[int | None, int | None]]], before: int | None
) -> None:
    known = {} if before is None else {"a": before}
    proved = [Proved((A, B)).step(context(**known), zset(part)) for part in parts]
    assert all(len(one) <= 1 for one in proved)  # type: ignore[arg-type]
    now = reached(context(**known), proved)
    for one in (A, B):
        values = [row[one.column] for part in parts for row in part]
        found = [value - int(one.amount) for value in values if value is not None]
        found += [before] * (one is A and before is not None)
        assert now.get(one.name) == (pa.scalar(max(found), INT) if found else None)


def test_what_is_proved_is_reported_too() -> None:
    here = context()
    assert not len(Proved((A, B)).step(here, zset([(None, None)])))  # type: ignore[arg-type]
    assert here.candidates == {}
    Proved((A, B)).step(here, zset([(5, None), (7, None)]))
    assert here.candidates == {"t.a": pa.scalar(5, INT)}


def test_the_clock_is_the_step_s() -> None:
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    assert reached(context(noon), ()) == {CLOCK.name: pa.scalar(noon, CLOCK.type)}
    assert reached(context(), ()) == {}


def test_a_threshold_is_the_least_of_its_bounds_once_all_are_known() -> None:
    threshold = Threshold((A, B), (Column(0, INT), Column(1, INT)))
    assert threshold.value({"t.a": pa.scalar(5, INT)}) is None
    assert threshold.value({"t.a": pa.scalar(5, INT), "t.b": pa.scalar(3, INT)}) == pa.scalar(3, INT)
    assert threshold.value({"t.a": pa.scalar(1, INT), "t.b": pa.scalar(3, INT)}) == pa.scalar(1, INT)
