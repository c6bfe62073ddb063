"""Rows that break a condition fail the step; those that go are nobody's business."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.errors import BrokenRule
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.inputs.checks import Checks
from dbsp.circuits.operators.inputs.rules import Check
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from tests.circuits.engine import source

SCHEMA = pa.schema([("n", pa.int64()), ("m", pa.int64())])
SMALL = Call("less_than", (Column(0, pa.int64()), Literal(5, pa.int64())), pa.bool_())


def delta(values: list[int | None], weights: list[int]) -> ZSet:
    columns = [pa.array(values, pa.int64()), pa.nulls(len(values), pa.int64())]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array(weights))


def test_what_comes_meets_the_conditions() -> None:
    checks = Checks("t", (Check("CHECK (n < 5)", SMALL),))
    context = Context(0, 1, None, True)
    good = delta([1, None, 9], [1, 2, -1])
    assert checks.step(context, good) is good
    with pytest.raises(BrokenRule, match=r"table 't': CHECK \(n < 5\) isn't met: n=7"):
        checks.step(context, delta([1, 7], [1, 1]))
    assert checks.reads(0, {1}, SCHEMA) == {0, 1}
    assert checks.shown([], ["n", "m"]) == "CHECK (n < 5)"


@pytest.mark.parametrize(
    ("value", "said"),
    [(Column(0, pa.int64()), "isn't boolean|not boolean"), (Column(4, pa.bool_()), "no column 4")],
)
def test_a_condition_is_of_the_rows(value: Expression, said: str) -> None:
    builder = CircuitBuilder()
    builder.add(Checks("t", (Check("c", value),)), source(builder, "t", SCHEMA))
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())
