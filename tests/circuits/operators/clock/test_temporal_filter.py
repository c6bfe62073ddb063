"""Rows ahead of the clock, against a look at every row; and what is said of them holds."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.clock.temporal_filter import Ahead, Difference
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet
from tests.generators.columns.zsets import naive_of, plus

TIME = CLOCK.type
SCHEMA = pa.schema([("k", pa.int64()), ("t", TIME)])
START = datetime(1970, 1, 1, tzinfo=UTC)
Row = tuple[int, int | None]
rows = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 9)))
steps = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.tuples(rows, st.integers(-2, 2).filter(bool)), max_size=5)),
    max_size=5,
)


def zset(listed: list[tuple[Row, int]]) -> ZSet:
    columns = [pa.array([row[0] for row, _ in listed], pa.int64()), pa.array([r[1] for r, _ in listed], TIME)]
    weights = np.array([weight for _, weight in listed], np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), weights)


def ahead(at_once: bool, clock: bool = True) -> Ahead:
    return Ahead((0,), 1, Column(0, TIME) if clock else None, at_once, Column(1, TIME))


@given(steps, st.booleans(), st.booleans(), st.sampled_from([0, FOUR_BITS]))
def test_what_is_ahead_of_the_clock(
    given_steps: list[tuple[int, list[tuple[Row, int]]]], at_once: bool, clocked: bool, seed: int
) -> None:
    """A row that the clock has passed is needed no more, and neither is its retraction."""
    operator, now = ahead(at_once, clocked), 0
    layout = operator.layout(SCHEMA)
    before: tuple[SortedRun, ...] = ()
    waterlines: dict[str, pa.Scalar] = {}
    held, total = naive_of(zset([])), Counter[Row]()
    for forward, listed in given_steps:
        now += forward
        context = Context(seed, 1, START + timedelta(microseconds=now), True, waterlines=waterlines)
        integral = operator.integrate(context, layout, before, zset(listed))
        assert isinstance(integral, Integral)
        before = (*before, *as_runs(integral.delta))
        waterlines = {CLOCK.name: pa.scalar(now, TIME)}
        for row, weight in listed:
            total[row] += weight
        held = plus(held, naive_of(integral.zset))
        visible = [
            (row, weight)
            for row, weight in total.items()
            if row[1] is not None and (not clocked or row[1] > now or (row[1] == now and not at_once))
        ]
        # what was passed before its retraction came is gone already
        for row in [row for row in total if (row, total[row]) not in visible]:
            del total[row]
        assert held == naive_of(zset(visible))


def test_it_says_what_holds_it_and_what_empties_it() -> None:
    assert ahead(True).held([None]) == ("the clock",)
    assert ahead(True).own_bound() == "the clock, which its rows are ahead of"
    assert ahead(True, clock=False).held([("a",)]) == ("a",)
    assert ahead(True, clock=False).held([None]) is None
    assert ahead(True, clock=False).own_bound() is None
    assert [ahead(True, clock).retracts([False]) for clock in (True, False)] == [True, False]
    assert ahead(True, clock=False).retracts([True])
    assert ahead(True).shown([], ["k", "t"]) == "by (k) t ahead of now()"
    assert ahead(True, clock=False).shown([], ["k", "t"]) == "by (k) t, all of them"


def test_rows_are_bounded_by_the_clock_s_reading() -> None:
    line = Column(4, TIME)
    assert ahead(True).bounds([{}], {CLOCK.name: line}) == {1: (line,)}
    assert ahead(True, clock=False).bounds([{1: (line,)}], {CLOCK.name: line}) == {}


@given(
    st.lists(st.tuples(rows, st.integers(-2, 2)), max_size=6),
    st.lists(st.tuples(rows, st.just(1)), max_size=4),
)
def test_a_difference_lists_nothing_that_both_have(
    a: list[tuple[Row, int]], b: list[tuple[Row, int]]
) -> None:
    found = Difference().step(Context(0, 1, None, True), zset(a), zset(b))
    assert isinstance(found, ZSet)
    assert naive_of(found) == plus(naive_of(zset(a)), naive_of(-zset(b)))
    assert not b or len(found) == len(naive_of(found))


@pytest.mark.parametrize("inputs", [[True, False], [False, True], [False, False]])
def test_a_difference_retracts_what_its_first_input_does(inputs: list[bool]) -> None:
    assert Difference().retracts(inputs) == inputs[0]
