"""A row that is inserted without a value gets the default; every other value stays."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.inputs.defaults import ARRIVED, Default, Defaults
from dbsp.circuits.operators.linear import SEQUENCE
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from tests.circuits.engine import source

SCHEMA = pa.schema([("n", pa.int64()), ("t", CLOCK.type)])
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
BEFORE = datetime(2023, 1, 1, tzinfo=UTC)
NOW = Column(0, CLOCK.type)


def test_the_step_s_clock_fills_in_what_is_absent() -> None:
    defaults = Defaults((Default(1, NOW), Default(0, Literal(7, pa.int64()))))
    columns = [pa.array([1, None, None, 4]), pa.array([None, BEFORE, None, BEFORE], CLOCK.type)]
    delta = ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array([1, 2, -1, -1]))
    made = defaults.step(Context(0, 1, NOON, True), delta)
    assert isinstance(made, ZSet)
    assert made.rows.to_pylist() == [
        {"n": 1, "t": NOON},
        {"n": 7, "t": BEFORE},
        {"n": None, "t": None},  # a retraction says all of its row
        {"n": 4, "t": BEFORE},
    ]
    assert made.weights.tolist() == [1, 2, -1, -1]
    assert defaults.shown([], ["n", "t"]) == "t = now(), n = 7"
    assert defaults.wakeup(0, lambda: pytest.fail("asked"), []) is None


@pytest.mark.parametrize(
    ("default", "said"),
    [
        (Default(0, NOW), "compares or gives other types"),
        (Default(1, Column(2, CLOCK.type)), "reads more than the clock"),
        (Default(0, ARRIVED), "rows without a place"),
    ],
)
def test_a_default_is_of_the_column_s_type_and_of_the_clock_alone(default: Default, said: str) -> None:
    builder = CircuitBuilder()
    builder.add(Defaults((default,)), source(builder, "t", SCHEMA))
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())


def test_a_row_draws_by_its_place_whatever_task_has_it() -> None:
    salted = Call("drawn_double", (NOW, ARRIVED), pa.float64(), False, (("salt", 3),))
    defaults = Defaults((Default(0, ARRIVED), Default(1, salted)))
    schema = pa.schema([("n", pa.int64()), ("x", pa.float64()), (SEQUENCE, pa.int64())])
    columns = [pa.array([None, 5, None, None]), pa.array([None, 0.5, 0.25, None]), pa.array([0, 1, 2, 3])]
    delta = ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), np.array([1, 1, 1, -1]))
    made = defaults.step(Context(0, 2, NOON, True), delta)
    n, x, _ = (column.to_pylist() for column in made.rows.columns)
    assert n == [2 << 32, 5, (2 << 32) + 2, None]
    assert x[1:] == [0.5, 0.25, None]
    assert 0 <= x[0] < 1
    parts = [
        defaults.step(Context(0, 2, NOON, True), delta.take(np.array(rows))) for rows in ([0, 2], [1, 3])
    ]
    apart = [row for part in parts for row in part.rows.to_pylist()]
    assert sorted(map(repr, apart)) == sorted(map(repr, made.rows.to_pylist()))
    again = defaults.step(Context(0, 3, NOON, True), delta)
    assert again.rows.column(1)[0].as_py() != x[0]
    assert defaults.shown([], ["n", "x"]) == "n = arrival, x = drawn_double(now(), arrival)"
