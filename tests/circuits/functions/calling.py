"""Calls of a function by its name in the library, over arrays and constants."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate


def call(
    function: str, data_type: pa.DataType, /, *arguments: pa.Array | pa.Scalar, **options: object
) -> Call:
    """The call over one column for each array, the scalars being constants."""
    made: list[Expression] = []
    columns = 0
    for argument in arguments:
        if isinstance(argument, pa.Scalar):
            made.append(Literal(argument.as_py(), argument.type))
        else:
            made.append(Column(columns, argument.type))
            columns += 1
    return Call(function, tuple(made), data_type, True, tuple(sorted(options.items())))


def called(
    function: str, data_type: pa.DataType, /, *arguments: pa.Array | pa.Scalar, **options: object
) -> list[Any]:
    """Its value of each row. Without a column there is one row. Raises EvaluationError."""
    columns = [argument for argument in arguments if not isinstance(argument, pa.Scalar)] or [pa.nulls(1)]
    rows = pa.RecordBatch.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))])
    result = evaluate(call(function, data_type, *arguments, **options), rows)
    result.validate(full=not pa.types.is_string(data_type))
    assert result.type == data_type and len(result) == rows.num_rows
    found: list[Any] = result.to_pylist()
    return found
