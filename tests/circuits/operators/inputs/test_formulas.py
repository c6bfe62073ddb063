"""A computed column is of the row's others, of rows that come and of those that go."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.inputs.formulas import Formulas
from dbsp.circuits.operators.inputs.rules import Formula
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from tests.circuits.engine import source

SCHEMA = pa.schema([("n", pa.int64()), ("q", pa.int64())])
N = Column(0, pa.int64())
QUOTIENT = Call(
    "integral_divide", (Literal(100, pa.int64()), N), pa.int64(), True, (("evalMode", "ANSI"),), "100 DIV n"
)


def step(formulas: Formulas, rows: list[tuple[int | None, int | None]], weights: list[int]) -> list[object]:
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in range(2)]
    delta = ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array(weights))
    made = formulas.step(Context(0, 1, None, True), delta)
    assert isinstance(made, ZSet) and made.weights.tolist() == weights
    return made.rows.column(1).to_pylist()


def test_whatever_is_brought_is_computed() -> None:
    formulas = Formulas((Formula(1, QUOTIENT),))
    assert step(formulas, [(4, None), (5, 20), (None, 3), (10, 3)], [1, 2, 1, -1]) == [25, 20, None, 10]
    assert step(formulas, [], []) == []
    assert formulas.shown([], ["n", "q"]) == "q = 100 DIV n"
    assert formulas.origin(1, SCHEMA) == (0, 0) and formulas.origin(0, SCHEMA) == (0, 0)
    assert formulas.reads(0, {1}, SCHEMA) == {0}


def test_a_key_that_goes_says_nothing_of_the_row() -> None:
    """Not even where its row can't be: key 0 has none."""
    formulas = Formulas((Formula(1, QUOTIENT),), by_key=True)
    assert step(formulas, [(0, None), (4, None)], [-1, 1]) == [None, 25]


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (Formula(1, Literal(1, pa.int32())), "computes another type"),
        (Formula(1, Column(1, pa.int64())), "computed of what is computed"),
        (Formula(1, Column(7, pa.int64())), "no column 7"),
    ],
)
def test_it_is_of_the_column_s_type_and_of_others(formula: Formula, said: str) -> None:
    builder = CircuitBuilder()
    builder.add(Formulas((formula,)), source(builder, "t", SCHEMA))
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())
