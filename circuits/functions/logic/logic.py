"""AND, OR and NOT in three-valued logic.

The right operand is evaluated only on rows that the left one leaves open, so that `x <> 0 AND 1 / x > 2`
doesn't fail on x = 0.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.partial import evaluate_where
from dbsp.circuits.expressions.registry import Evaluate, Value, form, kernel


@form("and")
def conjunction(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """FALSE if an operand is FALSE, else NULL if one is NULL, else TRUE."""
    left = evaluate(call.arguments[0], rows)
    undecided = differs(left, False, rows.num_rows)
    return pc.and_kleene(left, evaluate_where(call.arguments[1], rows, undecided, evaluate))


@form("or")
def disjunction(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """TRUE if an operand is TRUE, else NULL if one is NULL, else FALSE."""
    left = evaluate(call.arguments[0], rows)
    undecided = differs(left, True, rows.num_rows)
    return pc.or_kleene(left, evaluate_where(call.arguments[1], rows, undecided, evaluate))


@kernel("not")
def negation(call: Call, value: Value) -> Value:
    return pc.invert(value)


def differs(value: Value, truth: bool, rows: int) -> np.ndarray:
    """bool[rows]: where a boolean value isn't `truth` (where it is NULL, it isn't)."""
    if isinstance(value, pa.Scalar):
        return np.full(rows, value.as_py() is not truth)
    known = pc.fill_null(value, not truth) if value.null_count else value
    same = np.asarray(known.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return same if not truth else ~same
