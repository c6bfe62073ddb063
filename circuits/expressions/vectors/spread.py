"""Kernels that see columns only: a constant among columns is spread over their rows."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel

Run = Callable[..., Value]


def columnar(
    name: str, strict: bool = True, refuse: Callable[[Call], str | None] = lambda call: None
) -> Callable[[Run], Run]:
    """Register `run(call, *columns)`. strict: NULL where a constant argument is; columns are up to `run`.

    Constants alone are columns of one row, and give a constant.
    """

    def register(run: Run) -> Run:
        def whole(call: Call, *arguments: Value) -> Value:
            if strict and any(isinstance(each, pa.Scalar) and not each.is_valid for each in arguments):
                return pa.scalar(None, call.type)
            rows = next((len(each) for each in arguments if not isinstance(each, pa.Scalar)), None)
            value = run(call, *(spread(each, 1 if rows is None else rows) for each in arguments))
            return value[0] if rows is None and not isinstance(value, pa.Scalar) else value

        kernel(name, refuse=refuse)(whole)
        return run

    return register


def spread(value: Value, rows: int) -> pa.Array:
    """The value as a column of that many rows."""
    return pa.repeat(value, rows) if isinstance(value, pa.Scalar) else value
