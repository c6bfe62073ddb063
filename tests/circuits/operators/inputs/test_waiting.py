"""Rows that a watermark holds back, against a look at every row; and what is said of them holds."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.thresholds import Proved
from dbsp.circuits.operators.inputs.waiting import Released, Waiting
from dbsp.circuits.operators.operator import Context, Node
from dbsp.circuits.progress.waterline import Lateness, later
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet
from tests.generators.columns.zsets import naive_of, plus

Row = tuple[int, float | None]
rows = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.just(float("nan")), st.integers(0, 9).map(float)))
steps = st.lists(
    st.lists(st.tuples(rows, st.integers(-2, 2).filter(bool)), max_size=5), min_size=1, max_size=6
)
LINE = "t.ts (watermark)"


def zset(listed: list[tuple[Row, int]], kind: pa.DataType) -> ZSet:
    is_number = pa.types.is_floating(kind)
    instants = [row[1] if is_number or row[1] is None else int(row[1]) for row, _ in listed]
    schema = pa.schema([("k", pa.int64()), ("ts", kind)])
    columns = [pa.array([row[0] for row, _ in listed], pa.int64()), pa.array(instants, kind)]
    return ZSet(
        pa.RecordBatch.from_arrays(columns, schema=schema), np.array([w for _, w in listed], np.int64)
    )


@given(
    steps, st.integers(0, 4), st.integers(0, 7), st.sampled_from([pa.float64(), pa.int64()]),
    st.sampled_from([0, FOUR_BITS]),
)  # fmt: skip
def test_what_is_released(
    given_steps: list[list[tuple[Row, int]]], amount: int, end: int, kind: pa.DataType, seed: int
) -> None:
    """Of all rows those that the line has reached, and from the end of input on what came until then."""
    if kind == pa.int64():
        given_steps = [
            [one for one in listed if one[0][1] is None or is_time(one[0][1])] for listed in given_steps
        ]
    watermark = Lateness(LINE, 1, kind, amount)
    waiting, released, proved = Waiting((0,), watermark), Released(watermark), Proved((watermark,))
    layout = waiting.layout(zset([], kind).schema)
    before: tuple[SortedRun, ...] = ()
    waterlines: dict[str, pa.Scalar] = {}
    there, came, line = naive_of(zset([], kind)), Counter[Row](), float("-inf")
    for number, listed in enumerate(given_steps):
        delta, ending = zset(listed, kind), number == end
        context = Context(seed, number + 1, None, True, waterlines=waterlines, ending=ending)
        integral = waiting.integrate(context, layout, before, delta, proved.step(context, delta))
        assert isinstance(integral, Integral)
        before = (*before, *as_runs(integral.delta))
        for name, candidate in context.candidates.items():
            risen = later(waterlines.get(name), candidate)
            assert risen is not None
            waterlines = {name: risen}
        came.update({row: 0 for row, _ in listed})
        for row, weight in listed:
            came[row] += weight
            line = max(line, row[1] - amount) if is_time(row[1]) else line  # type: ignore[operator]
        if ending:
            line = max([line, *(row[1] for row, weight in came.items() if weight and is_time(row[1]))])  # type: ignore[type-var, assignment]
        there = plus(there, naive_of(released.step(context, delta, integral)))
        expected = [(row, weight) for row, weight in came.items() if not is_time(row[1]) or row[1] <= line]  # type: ignore[operator]
        assert there == naive_of(zset(expected, kind))


def is_time(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def test_what_waits_is_beyond_the_line_and_what_is_released_was() -> None:
    watermark = Lateness(LINE, 1, pa.int64(), 3)
    lateness, line = Column(0, pa.int64()), Column(1, pa.int64())
    lines = {"t.ts": lateness, LINE: line}
    table = {0: (lateness,), 1: (lateness,)}
    assert Waiting((0,), watermark).bounds([table, {}], lines) == {1: (line,)}
    assert Released(watermark).bounds([table, {1: (line,)}], lines) == {1: (lateness, line)}
    assert Released(watermark).bounds([{0: (lateness,)}, {1: (line,)}], lines) == {}


def test_what_it_holds_are_rows_of_the_table() -> None:
    watermark = Lateness(LINE, 1, pa.int64(), 3)
    assert Waiting((0,), watermark).held([("a",), None]) == ("a",)
    assert Waiting((0,), watermark).own_bound() == "the watermark, which its rows are ahead of"
    assert [Released(watermark).retracts([one, True]) for one in (False, True)] == [False, True]


def test_the_column_is_of_the_watermark_s_type() -> None:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
    child = Node(Proved(()), (), schema, (0,), 0)
    good = Waiting((0,), Lateness(LINE, 1, pa.int64(), 3))
    good.verify(Node(good, (), schema, (0,), 0), [child, child], "here")
    bad = Waiting((0,), Lateness(LINE, 1, pa.float64(), 3))
    with pytest.raises(AssertionError, match="here: the watermark is of another type"):
        bad.verify(Node(bad, (), schema, (0,), 0), [child, child], "here")
