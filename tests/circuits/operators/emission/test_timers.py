"""Timetables against a list of all their instants; and each entry of a timeline comes due once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.emission.timers import After, At, Timers, Timetable
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.progress.waterline import CLOCK, Lateness
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import as_runs
from dbsp.circuits.traces.zset import ZSet

TIME = CLOCK.type
NOW = Column(0, TIME)
KEYS = pa.schema([("end", TIME)])


def keys(*ends: int | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(ends, TIME)], schema=KEYS)


@st.composite
def timetables(draw: st.DrawFn) -> Timetable:
    first, complete, last = sorted(draw(st.integers(-6, 6)) for _ in range(3))
    every = draw(st.one_of(st.none(), st.integers(1, 4)))
    return Timetable(Column(0, TIME), first, every, complete, last)


def instants(table: Timetable, end: int) -> list[int]:
    """All of a key: the first, then every so many until it is complete, then the last."""
    found = {end + table.first, end + table.complete, end + table.last}
    if table.every is not None:
        found |= set(range(end + table.first, end + table.complete, table.every))
    return sorted(found)


@given(timetables(), st.integers(-3, 3), st.one_of(st.none(), st.integers(-12, 12)))
def test_the_next_instant_of_a_timetable(table: Timetable, end: int, now: int | None) -> None:
    clock = None if now is None else pa.scalar(now, TIME)
    (found,) = table.next(keys(end), clock).cast(pa.int64()).to_pylist()
    assert found == min((i for i in instants(table, end) if now is None or i > now), default=None)
    assert table.next(keys(None), clock).null_count == 1


def test_a_delay_is_from_now_on_for_every_key() -> None:
    delay = After(5)
    assert delay.next(keys(1, None, 3), pa.scalar(10, TIME)).cast(pa.int64()).to_pylist() == [15] * 3
    assert delay.next(keys(1, 2), None).to_pylist() == [None, None]
    assert delay.next(keys(), pa.scalar(10, TIME)).to_pylist() == []


def of_clock(at_once: bool = True) -> Threshold:
    return Threshold((CLOCK,), (NOW,), at_once)


class Stepped:
    """A trace of timers from step to step, on a clock in microseconds."""

    def __init__(self, timers: Timers, seed: int = 0) -> None:
        self.timers, self.seed = timers, seed
        self.layout = timers.layout(KEYS)
        self.before: tuple[SortedRun, ...] = ()
        self.waterlines: dict[str, Any] = {}

    def step(self, now: int, *touched: int | None, ending: bool = False) -> list[int]:
        """The keys that come due."""
        clock = datetime.fromtimestamp(0, UTC) + now * datetime.resolution
        context = Context(self.seed, 1, clock, True, waterlines=self.waterlines, ending=ending)
        delta = ZSet(keys(*touched), np.ones(len(touched), np.int64))
        integral = self.timers.integrate(context, self.layout, self.before, delta)
        self.before = (*self.before, *as_runs(integral.delta))  # type: ignore[union-attr]
        self.waterlines = {CLOCK.name: pa.scalar(now, TIME)}
        change = integral.delta  # type: ignore[union-attr]
        ends = change.rows.column(0).cast(pa.int64()).to_pylist()
        return sorted(end for end, weight in zip(ends, change.weights, strict=True) if weight < 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 9), max_size=3)), max_size=6))
def test_an_entry_comes_due_once_and_not_before_its_instant(steps: list[tuple[int, list[int]]]) -> None:
    stepped, now = Stepped(Timers((0,), At(Column(0, TIME)), of_clock())), 0
    waiting: list[int] = []
    for forward, touched in steps:
        now += forward
        due = sorted(end for end in waiting if end <= now)
        waiting = [end for end in [*waiting, *touched] if end > now]
        # entries of one key and instant are one row, of as many copies
        assert stepped.step(now, *touched) == sorted(set(due))


def test_a_key_is_scheduled_for_its_next_instant() -> None:
    """first 1, then 3 and 5, complete at 6, the last at 9 after the end of the window."""
    stepped = Stepped(Timers((0,), Timetable(Column(0, TIME), 1, 2, 6, 9), of_clock(), again=True))
    assert stepped.step(0, 0) == []
    assert [now for now in range(1, 12) if stepped.step(now) == [0]] == [1, 3, 5, 6, 9]


def test_what_is_due_in_its_own_step_is_never_written() -> None:
    stepped = Stepped(Timers((0,), At(Column(0, TIME)), of_clock()))
    assert stepped.step(5, 5, 3, None) == []
    assert stepped.before == ()
    assert stepped.step(6, 7) == []
    assert stepped.step(6, ending=True) == [7], "at the end everything is due"


@pytest.mark.parametrize("lateness", [CLOCK, Lateness("t.ts", 0, TIME, 0)])
def test_only_the_clock_wakes_it_up(lateness: Lateness) -> None:
    timers = Timers((0,), After(5), Threshold((lateness,), (NOW,)))
    assert timers.watches_clock == (lateness is CLOCK)
    if lateness is not CLOCK:
        assert timers.wakeup(0, lambda: pytest.fail("asked"), []) is None
    assert timers.own_bound() == "what is still to come due"
    assert timers.shown([], ["k"]) == f"by (k) watching {lateness.name}"
