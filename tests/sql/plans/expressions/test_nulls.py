"""An expression that says to be NULL for nothing but its columns is."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.sql.plans.expressions.nulls import is_of

TIME = pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("function", "unit", "known"),
    [
        ("trunc_timestamp", "HOUR", True),
        ("trunc_timestamp", "millisecond", True),
        ("trunc_timestamp", "mon", True),
        ("trunc_timestamp", "fortnight", False),
        ("trunc_timestamp", None, False),
        ("trunc_date", "week", True),
        ("trunc_date", "HOUR", False),
    ],
)
def test_the_beginning_of_a_unit_is_there_where_its_time_is(
    function: str, unit: str | None, known: bool
) -> None:
    when = Literal(unit, pa.string())
    of_time = function == "trunc_timestamp"
    type_ = TIME if of_time else pa.date32()

    def of(column: Column) -> Call:
        return Call(function, (when, column) if of_time else (column, when), type_)

    assert is_of(of(Column(0, type_)), {0}) == known
    assert not is_of(of(Column(1, type_)), {0})
    truncated = evaluate(of(Column(0, type_)), pa.RecordBatch.from_arrays([pa.array([0], type_)], ["t"]))
    assert (truncated.null_count == 0) == known
