"""The clock alone next changes something at the first instant that a row or a key waits for."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.emission.timers import After, Timers
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.next_wakeup import next_due
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.step import run_step
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import source

TIME = CLOCK.type
SCHEMA = pa.schema([("k", pa.int64()), ("t", TIME)])
NOW = Column(0, TIME)
START = datetime(2024, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def after(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


class Clocked:
    """A circuit of one operator over rows of a key and a time."""

    def __init__(self, root: str, *operators: Ahead | Timers) -> None:
        builder = CircuitBuilder(lateness=[CLOCK])
        rows = builder.placed(source(builder, "r", SCHEMA), (0,))
        for operator in operators:
            builder.add(operator, rows)
        self.circuit: Circuit = builder.build()
        self.state, self.segments, self.steps = State.empty(self.circuit), Segments(Path(root)), 0

    def step(self, clock: datetime | None, rows: list[tuple[int, int]], weight: int = 1) -> None:
        self.steps += 1
        columns = [pa.array([k for k, _ in rows], pa.int64()), pa.array([after(t) for _, t in rows], TIME)]
        delta = ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.full(len(rows), weight, np.int64))
        step = Step(number=self.steps, state=self.state, segment=f"{self.steps}", clock=clock, partitions=1)
        results = run_step(self.circuit, step, {"r": [Input(0, delta.to_batch())]}, self.segments)
        self.state = self.state.apply(results)

    def due(self) -> datetime | None:
        return next_due(self.circuit, self.state, self.segments)


def ahead(at_once: bool, silent: bool = False) -> Ahead:
    return Ahead((0,), 1, NOW, at_once, Column(1, TIME), silent)


steps = st.lists(
    st.tuples(
        st.integers(0, 3), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 20)), max_size=3, unique=True)
    ),
    min_size=1,
    max_size=4,
)


@given(steps, st.booleans())
def test_a_row_wakes_the_clock_up_when_it_is_passed(
    given_steps: list[tuple[int, list[tuple[int, int]]]], at_once: bool
) -> None:
    with tempfile.TemporaryDirectory() as root:
        clocked, now = Clocked(root, ahead(at_once)), 0
        waiting: list[int] = []
        for forward, rows in given_steps:
            now += forward
            clocked.step(after(now), rows)
            waiting = [t for t in [*waiting, *(t for _, t in rows)] if t > now or (t == now and not at_once)]
            expected = after(min(waiting)) + MICROSECOND * (not at_once) if waiting else None
            assert clocked.due() == expected


def test_nothing_is_due_before_the_clock_was_read(tmp_path: Path) -> None:
    clocked = Clocked(str(tmp_path), ahead(at_once=True))
    assert clocked.due() is None
    clocked.step(None, [(1, 5)])
    assert clocked.due() is None
    clocked.step(START, [])
    assert clocked.due() == after(5)


def test_the_first_of_all_operators_counts(tmp_path: Path) -> None:
    delayed = Timers((0,), After(3_000_000), Threshold((CLOCK,), (NOW,), at_once=True))
    clocked = Clocked(str(tmp_path), ahead(at_once=True), delayed)
    clocked.step(START, [(1, 5)])
    assert clocked.due() == after(3)
    clocked.step(after(3), [])
    assert clocked.due() == after(5)
    clocked.step(after(5), [])
    assert clocked.due() is None


def test_a_silent_timeline_and_one_without_a_clock_wake_nobody_up(tmp_path: Path) -> None:
    clocked = Clocked(str(tmp_path), ahead(True, silent=True), Ahead((0,), 1, None, True, Column(1, TIME)))
    clocked.step(START, [(1, 5)])
    assert clocked.due() is None


def test_a_row_that_was_retracted_costs_a_step_at_most(tmp_path: Path) -> None:
    """Its retraction may not be merged with it yet; the step at its instant then finds nothing."""
    clocked = Clocked(str(tmp_path), ahead(at_once=True))
    clocked.step(START, [(1, 5), (1, 9)])
    clocked.step(START, [(1, 5)], weight=-1)
    assert clocked.due() in (after(5), after(9))
    clocked.step(after(5), [])
    assert clocked.due() == after(9)
