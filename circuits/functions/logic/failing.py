"""RAISE_ERROR and ASSERT_TRUE, which fail, and TRY_..., which don't."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.expressions.registry import Evaluate, Value, form, kernel
from dbsp.circuits.expressions.vectors.spread import spread


@kernel("raise_error")
def raise_error(call: Call, condition: Value, parameters: Value) -> Value:
    """Fails for the first row it is evaluated on, with the parameter errorMessage."""
    name = condition.as_py() if isinstance(condition, pa.Scalar) else condition[0].as_py()
    message = dict(spread(parameters, 1)[0].as_py() or [])
    shown = message.get("errorMessage", ", ".join(f"{key}: {value}" for key, value in message.items()))
    raise EvaluationError(str(name), str(shown), 0)


# What has a way of its own to give NULL in place of an error, and what never fails.
_OPTION: dict[str, tuple[str, object]] = {"unhex": ("failOnError", False), "un_base64": ("tried", True)}
_TRIED = {"add", "subtract", "multiply_ym_interval", "multiply_dt_interval"}
_TRIED |= {"divide_ym_interval", "divide_dt_interval"}
_OPTION |= dict.fromkeys(_TRIED, ("evalMode", "TRY"))


@form("try_eval")
def try_eval(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The value, NULL on rows where it has none, and where what is inside has none."""
    inner = call.arguments[0]
    plain = isinstance(inner, Call) and not any(isinstance(argument, Call) for argument in inner.arguments)
    if isinstance(inner, Call) and plain and inner.function in _OPTION:
        name, value = _OPTION[inner.function]
        inner = replace(inner, options=tuple(sorted({**dict(inner.options), name: value}.items())))
    return _halved(inner, rows, evaluate)


def _halved(inner: Expression, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The rows that fail are found by halves: n rows of which k fail are evaluated about k log n times."""
    try:
        return evaluate(inner, rows)
    except EvaluationError:
        if rows.num_rows <= 1:
            return pa.nulls(rows.num_rows, inner.type)
    half = rows.num_rows // 2
    parts = [rows.slice(0, half), rows.slice(half)]
    return pa.concat_arrays([spread(_halved(inner, part, evaluate), part.num_rows) for part in parts])
