"""Evaluate an expression on some of the rows: what makes CASE, AND and COALESCE lazy.

Laziness is visible only where an expression can fail (ANSI errors). One that can't is evaluated on all rows,
which is faster than moving rows out and back.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import spread
from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, remap
from dbsp.circuits.expressions.registry import Evaluate, Value

_NEVER_FAIL = frozenset(
    {
        "equal_to",
        "equal_null_safe",
        "less_than",
        "less_than_or_equal",
        "greater_than",
        "greater_than_or_equal",
        "in",
        "in_set",
        "greatest",
        "least",
        "is_null",
        "is_not_null",
        "is_na_n",
        "at_least_n_non_nulls",
        "and",
        "or",
        "not",
        "if",
        "case_when",
        "coalesce",
        "na_nvl",
        "known_nullable",
        "known_not_null",
        "known_floating_point_normalized",
        "normalize_na_n_and_zero",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "bitwise_not",
        "shift_left",
        "shift_right",
        "shift_right_unsigned",
        "unary_positive",
        "create_named_struct",
        "create_array",
        "get_struct_field",
        "fields_renamed",
        "size",
        "starts_with",
        "ends_with",
        "contains",
    }
)


@lru_cache(maxsize=4096)
def can_fail(expression: Expression) -> bool:
    """Whether some row may raise. True where it isn't known."""
    if not isinstance(expression, Call):
        return False
    return expression.function not in _NEVER_FAIL or any(map(can_fail, expression.arguments))


def evaluate_where(
    expression: Expression, rows: pa.RecordBatch, mask: np.ndarray, evaluate: Evaluate
) -> Value:
    """The expression's value on the rows where mask (bool[n]); anything on the others."""
    if mask.all() or not can_fail(expression):
        return evaluate(expression, rows)
    chosen = np.flatnonzero(mask)
    if not len(chosen):
        return pa.scalar(None, expression.type)
    columns, compact = _compact(expression)
    indices = pa.array(chosen)
    # an expression without columns still has rows
    arrays = [rows.column(i).take(indices) for i in columns] or [pa.nulls(len(chosen))]
    names = [rows.schema.names[i] for i in columns] or [""]
    value = evaluate(compact, pa.RecordBatch.from_arrays(arrays, names=names))
    if isinstance(value, pa.Scalar):
        return value
    return spread(value, chosen, len(mask))


@lru_cache(maxsize=4096)
def _compact(expression: Expression) -> tuple[tuple[int, ...], Expression]:
    """The columns an expression reads, and the expression over just these."""
    columns = tuple(sorted(set(columns_of(expression))))
    if isinstance(expression, Column | Call):
        return columns, remap(expression, {column: at for at, column in enumerate(columns)})
    return columns, expression
