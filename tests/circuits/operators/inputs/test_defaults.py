"""A row that is inserted without a value gets the default; every other value stays."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.operators.inputs.defaults import Default, Defaults
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
        (Default(1, Column(1, CLOCK.type)), "reads more than the clock"),
    ],
)
def test_a_default_is_of_the_column_s_type_and_of_the_clock_alone(default: Default, said: str) -> None:
    builder = CircuitBuilder()
    builder.add(Defaults((default,)), source(builder, "t", SCHEMA))
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())
