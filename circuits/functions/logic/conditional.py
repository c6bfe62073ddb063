"""IF, CASE, COALESCE: a branch is evaluated only on the rows that choose it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import retyped
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.expressions.partial import evaluate_where
from dbsp.circuits.expressions.registry import Evaluate, Value, form, kernel
from dbsp.circuits.functions.logic.logic import differs


@form("if")
def choose(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """arguments: condition, then, else."""
    condition, then, otherwise = call.arguments
    return _cases(call, [(condition, then)], otherwise, rows, evaluate)


@form("case_when")
def case_when(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """arguments: condition, value, condition, value, ... and maybe the ELSE."""
    pairs = list(zip(call.arguments[0::2], call.arguments[1::2], strict=False))
    otherwise = call.arguments[-1] if len(call.arguments) % 2 else None
    return _cases(call, pairs, otherwise, rows, evaluate)


def _cases(
    call: Call,
    branches: list[tuple[Expression, Expression]],
    otherwise: Expression | None,
    rows: pa.RecordBatch,
    evaluate: Evaluate,
) -> Value:
    """The value of the first branch whose condition is TRUE, else `otherwise`, else NULL."""
    open_rows = np.ones(rows.num_rows, dtype=np.bool_)
    conditions: list[pa.Array] = []
    values: list[Value] = []
    for condition, value in branches:
        met = open_rows & ~differs(evaluate_where(condition, rows, open_rows, evaluate), True, rows.num_rows)
        conditions.append(pa.array(met))
        values.append(retyped(evaluate_where(value, rows, met, evaluate), call.type))
        open_rows &= ~met
    if otherwise is None:
        last: Value = pa.scalar(None, call.type)
    else:
        last = retyped(evaluate_where(otherwise, rows, open_rows, evaluate), call.type)
    if len(conditions) == 1:
        return pc.if_else(conditions[0], values[0], last)
    names = [str(n) for n in range(len(conditions))]
    return pc.case_when(pa.StructArray.from_arrays(conditions, names=names), *values, last)


@form("coalesce")
def coalesce(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The first value that isn't NULL."""
    found = retyped(evaluate(call.arguments[0], rows), call.type)
    for argument in call.arguments[1:]:
        if isinstance(found, pa.Scalar):
            missing = np.full(rows.num_rows, not found.is_valid)
        else:
            missing = np.asarray(pc.is_null(found).to_numpy(zero_copy_only=False))
        if not missing.any():
            break
        found = pc.coalesce(found, retyped(evaluate_where(argument, rows, missing, evaluate), call.type))
    return found


@kernel("single_row")
def single_row(call: Call, value: Value, count: Value) -> Value:
    """The value, where it was the only one: what a scalar sub-query must be."""
    several = ~differs(pc.greater(count, 1), True, 1 if isinstance(count, pa.Scalar) else len(count))
    if several.any():
        message = "More than one row returned by a subquery used as an expression."
        raise EvaluationError("SCALAR_SUBQUERY_TOO_MANY_ROWS", message, int(np.argmax(several)))
    return value


@form("na_nvl")
def nan_vl(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The first value, or the second where the first is NaN."""
    value = evaluate(call.arguments[0], rows)
    is_nan = pc.fill_null(pc.is_nan(value), False)
    mask = ~differs(is_nan, True, rows.num_rows)
    if not mask.any():
        return value
    return pc.if_else(is_nan, evaluate_where(call.arguments[1], rows, mask, evaluate), value)
