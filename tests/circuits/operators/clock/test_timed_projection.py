"""Rows in their phases after every reading of the clock, against f(x, clock) of every row."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Expression, remap
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.clock.timed_projection import Crossing, TimedProjection
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.steps.next_wakeup import next_due
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from tests.circuits.engine import Engine, Options, output, source
from tests.effort import examples
from tests.generators.columns.zsets import Naive, naive_of, plus, zset_of
from tests.laws.operators_laws import hash_seeds, options

START = datetime(2024, 2, 29, 22, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NOW = Column(0, CLOCK.type)
ZONE = (("evalMode", "ANSI"), ("timeZoneId", "UTC"))
DATE = Call("cast", (NOW,), pa.date32(), True, ZONE)
MINUTES = Call("minute", (NOW,), pa.int32(), True, ZONE)
TIMES = pa.schema([("k", pa.int64()), ("t", CLOCK.type)])
NUMBERS = pa.schema([("k", pa.int64()), ("t", pa.int32())])
Value = Callable[[Any, datetime], Any]


def timed(
    schema: pa.Schema, function: str, reading: Expression, seed: int = 0, turns: bool = False
) -> Circuit:
    """f(x, now) = x.t <function> reading(now); rows of which it changes lie in a timeline by t."""
    builder = CircuitBuilder(seed, lateness=[CLOCK])
    rows = builder.placed(source(builder, "t", schema), (0,))
    column = Column(1, schema.field(1).type)
    of_now = remap(reading, {0: 2})
    at_once = function == "less_than_or_equal"
    ahead = Ahead((0,), 1, None if turns else reading, at_once and not turns, column, silent=turns)
    made = schema.append(pa.field("v", pa.bool_()))
    value = Call(function, (column, of_now), pa.bool_())
    operator = TimedProjection((Crossing(1, reading, at_once, turns),), (), (value,), None, (), False, made)
    output(builder, "v", builder.add(operator, rows, builder.add(ahead, rows)))
    return builder.build()


def dated(seed: int = 0) -> Circuit:
    """f(x, now) = (x.t, date of now), which is another for all rows at midnight."""
    builder = CircuitBuilder(seed, lateness=[CLOCK])
    rows = builder.placed(source(builder, "t", NUMBERS), (0,))
    made = NUMBERS.append(pa.field("d", pa.date32()))
    operator = TimedProjection((), (DATE,), (remap(DATE, {0: 2}),), None, (), False, made)
    output(builder, "v", builder.add(operator, rows, builder.add(Integrate((0,)), rows)))
    return builder.build()


@st.composite
def deltas(draw: st.DrawFn, schema: pa.Schema, values: list[Any]) -> list[tuple[datetime, ZSet]]:
    """(clock, delta) a step; the clock never goes back."""
    clock, steps = START, []
    rows = st.tuples(st.integers(0, 2), st.sampled_from([*values, None]))
    for _ in range(draw(st.integers(1, 5))):
        clock += draw(st.sampled_from([0, 1, 7, 30, 45, 100])) * MINUTE
        listed = draw(st.lists(st.tuples(rows, st.integers(-2, 2).filter(bool)), max_size=5))
        steps.append((clock, zset_of(schema, listed)))
    return steps


def check(circuit: Circuit, steps: list[tuple[datetime, ZSet]], f: Value, way: Options) -> None:
    """The view is f of all rows at each step's clock, and the clock alone changes it when it was said to."""
    held, view = Naive(), Naive()
    with tempfile.TemporaryDirectory() as root:
        engine = Engine(circuit, Path(root), way)
        for clock, delta in steps:
            view = plus(view, naive_of(engine.step({"t": delta}, clock)["v"]))
            held = plus(held, naive_of(delta))
            assert view == phases(held, f, clock)
            due = next_due(circuit, engine.state, engine.segments)
            later = clock + timedelta(hours=2)
            minutes = (clock + i * MINUTE for i in range(1, 121))
            first = next((m for m in minutes if phases(held, f, m) != view), later)
            assert first == later or (due is not None and clock < due <= first), "a wakeup too late"


def phases(held: Naive, f: Value, clock: datetime) -> Naive:
    found = Naive()
    for (_, k, t), weight in held.items():
        value = f(t, clock)
        found["list", k, t, ("bool", value) if isinstance(value, bool) else value] += weight
    return found


comparisons = st.sampled_from(["less_than", "less_than_or_equal"])


@examples(10)
@given(comparisons, st.data(), options, hash_seeds)
def test_a_row_that_the_clock_passes(function: str, data: st.DataObject, way: Options, seed: int) -> None:
    times = [START + i * MINUTE for i in (-5, 0, 1, 7, 8, 60)]
    steps = data.draw(deltas(TIMES, times))
    is_passed = datetime.__lt__ if function == "less_than" else datetime.__le__
    circuit = timed(TIMES, function, NOW, seed)
    check(circuit, steps, lambda t, now: None if t is None else is_passed(t, now), way)


@examples(10)
@given(comparisons, st.data(), options, hash_seeds)
def test_a_reading_that_goes_back(function: str, data: st.DataObject, way: Options, seed: int) -> None:
    """Minutes of the hour: rows come to either side of it, and back."""
    steps = data.draw(deltas(NUMBERS, [-1, 0, 15, 37, 59]))
    is_passed = int.__lt__ if function == "less_than" else int.__le__
    circuit = timed(NUMBERS, function, MINUTES, seed, turns=True)
    check(circuit, steps, lambda t, now: None if t is None else is_passed(t, now.minute), way)


@examples(10)
@given(st.data(), options, hash_seeds)
def test_a_reading_that_all_rows_share(data: st.DataObject, way: Options, seed: int) -> None:
    check(dated(seed), data.draw(deltas(NUMBERS, [1])), lambda _, now: now.date(), way)


def test_what_it_says_of_itself() -> None:
    passed, by_date = (circuit.nodes for circuit in (timed(TIMES, "less_than", NOW), dated()))
    one = next(n.operator for n in passed if isinstance(n.operator, TimedProjection))
    other = next(n.operator for n in by_date if isinstance(n.operator, TimedProjection))
    assert one.cost == "linear, and rows that the clock passes"
    assert other.cost.startswith("linear, and all rows when cast(now())")
    assert one.retracts([False, False]) and one.held([("a",), None]) == ("a",)
    assert (one.alters(0), one.alters(1)) == (False, True)
    assert one.reach(1, [{}, {}]) == ()
    assert one.shown([], ["k", "t"]) == "less_than(t, now())"
    line, other_line = (Column(7, CLOCK.type),), (Column(8, CLOCK.type),)
    assert one.bounds([{1: line}, {1: other_line}], {}) == {1: (*line, *other_line)}
    assert other.bounds([{1: line}, {1: line}], {}) == {}, "any row may be put out when all are"


def test_a_timeline_of_another_column_is_refused() -> None:
    builder = CircuitBuilder(lateness=[CLOCK])
    rows = builder.placed(source(builder, "t", pa.schema([*TIMES, ("u", CLOCK.type)])), (0,))
    ahead = builder.add(Ahead((0,), 2, NOW, False, Column(2, CLOCK.type)), rows)
    made = builder.nodes[rows].schema
    builder.add(
        TimedProjection((Crossing(1, NOW, False, False),), (), (), None, (), False, made), rows, ahead
    )
    with pytest.raises(AssertionError, match="the timeline of another column"):
        verify(builder.build())
