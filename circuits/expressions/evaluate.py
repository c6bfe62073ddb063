"""Evaluate an expression over a batch: one vectorised kernel per call, no loop over rows."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.columns.json_text import described
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of
from dbsp.circuits.expressions.registry import Value, find


def evaluate(expression: Expression, rows: pa.RecordBatch) -> pa.Array:
    """The expression's value for each row, of `expression.type`.

    Raises EvaluationError, with the expression and an example row in the message.
    """
    value = evaluate_value(expression, rows)
    if isinstance(value, pa.Scalar):
        value = pa.repeat(value, rows.num_rows)
    if isinstance(value, pa.ChunkedArray):
        value = value.combine_chunks()
    if value.type != expression.type:
        value = value.cast(expression.type)
    return value


def evaluate_value(expression: Expression, rows: pa.RecordBatch) -> Value:
    """Like `evaluate`, but a constant stays a scalar."""
    if isinstance(expression, Column):
        return rows.column(expression.index)
    if isinstance(expression, Literal):
        return pa.scalar(expression.value, expression.type)
    assert isinstance(expression, Call), f"a lambda's parameter outside of its lambda: {expression}"
    if not rows.num_rows:  # constants fail only where there is a row to compute them for
        return pa.array([], expression.type)
    function = find(expression.function)
    assert function is not None, f"unregistered function {expression.function}: {expression}"
    if function.is_form:
        return function.run(expression, rows, evaluate_value)
    arguments = [evaluate_value(argument, rows) for argument in expression.arguments]
    try:
        return function.run(expression, *arguments)
    except EvaluationError as error:
        raise _located(error, expression, rows) from None


def _located(error: EvaluationError, call: Call, rows: pa.RecordBatch) -> EvaluationError:
    """The same error, after the innermost failing expression and an example row."""
    if error.expression is not None:
        return error
    example = ""
    if error.row is not None and error.row < rows.num_rows:
        read = sorted(set(columns_of(call)))
        example = f" where {described(rows, error.row, read)}" if read else ""
    error.expression = str(call)
    return error.within(f"{call}{example}")
