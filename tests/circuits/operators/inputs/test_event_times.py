"""Candidates of a percentile waterline, however a step's rows are spread over tasks."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.inputs.event_times import EventTimes, LastEventTimes
from dbsp.circuits.operators.linear import SEQUENCE
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.progress.percentile import Percentile, Recent
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.progress.test_percentile import by_the_book

DOUBLE = pa.float64()
SCHEMA = pa.schema([("k", pa.int64()), ("t", DOUBLE), (SEQUENCE, pa.int64())])
NAN = float("nan")
values = st.sampled_from([None, NAN, 0.0, 1.0, 2.0, 3.0, 9.0])


def lateness(percentile: Percentile, jump: float | None = None) -> Lateness:
    return Lateness("r.t", 1, DOUBLE, 0, jump, percentile)


def delta(times: list[float | None], places: list[int]) -> ZSet:
    """Rows of these times, numbered by their places."""
    columns = [pa.array([7] * len(times)), pa.array(times, DOUBLE), pa.array(places, pa.int64())]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.ones(len(times), np.int64))


def is_time(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def empty() -> Context:
    return Context(0, 1, None, True)


@given(
    steps=st.lists(st.lists(values, max_size=8), max_size=4),
    percentile=st.builds(Percentile, st.sampled_from([Decimal(0), Decimal(40)]), st.integers(1, 4)),
    tasks=st.integers(1, 3),
    order=st.randoms(use_true_random=False),
)
def test_the_order_of_arrival_is_put_back(
    steps: list[list[Any]], percentile: Percentile, tasks: int, order: Any
) -> None:
    one = lateness(percentile)
    expected = by_the_book([t for times in steps for t in times if is_time(t)], percentile)
    recent: dict[str, Recent] = {}
    for times in steps:
        numbered = list(enumerate(times))
        order.shuffle(numbered)
        found = []
        for task in range(tasks):
            part = numbered[task::tasks]
            mine = EventTimes((one,), 0).step(empty(), delta([t for _, t in part], [i for i, _ in part]))
            assert isinstance(mine, ZSet)
            found.append(mine)
        context = Context(0, 1, None, True, recent=recent)
        last = LastEventTimes(one)
        put_out = last.step(context, ZSet.sum(found[0].schema, found))
        assert isinstance(put_out, ZSet)
        here, expected = _split(expected, sum(map(is_time, times)))
        best = max((candidate for candidate in here if candidate is not None), default=None)
        assert put_out.rows.column(0).to_pylist() == ([] if best is None else [best])
        assert context.candidates == ({} if best is None else {"r.t": pa.scalar(best, DOUBLE)})
        recent |= context.risen


def _split(listed: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    return listed[:count], listed[count:]


def test_a_jump_ahead_is_no_event_time() -> None:
    one = lateness(Percentile(Decimal(0), 2), jump=5.0)
    context = Context(0, 1, None, True, waterlines={"r.t": pa.scalar(1.0, DOUBLE)})
    kept = EventTimes((one,), 0).step(context, delta([6.0, 6.5, 2.0, 0.5], [0, 1, 2, 3]))
    assert isinstance(kept, ZSet)
    assert kept.rows.to_pydict() == {"value": [6.0, 2.0, 0.5], SEQUENCE: [0, 2, 3]}
    first = EventTimes((one,), 0).step(empty(), delta([100.0], [0]))
    assert len(first) == 1, "nothing is ahead of a waterline that isn't there"  # type: ignore[arg-type]


def test_where_the_values_are_from() -> None:
    times = EventTimes((lateness(Percentile(Decimal(0), 1)),), 0)
    assert [times.origin(i, SCHEMA) for i in range(2)] == [(0, 1), None]
    assert not times.retracts([True]) and times.held([("a",)]) is None
    assert LastEventTimes(times.lateness[0]).schema().names == ["r.t"]


@pytest.mark.parametrize("weight", [1, -1, 3])
def test_a_retraction_is_an_arrival_too(weight: int) -> None:
    rows = delta([4.0], [0])
    weighted = ZSet(rows.rows, np.array([weight]))
    found = EventTimes((lateness(Percentile(Decimal(0), 1)),), 0).step(empty(), weighted)
    assert isinstance(found, ZSet)
    assert (found.rows.column(0).to_pylist(), found.weights.tolist()) == ([4.0], [1])
