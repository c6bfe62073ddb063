"""A kernel that wants a constant, for each value of a column in that place.

    by_value(k)(run)(x, …, pₖ, …)[i] = run(x[i], …, pₖ[i], …)

It runs once for each distinct value, over the rows that have it: patterns, units and time zones are few, and
what is made of one is worth making once. NULL where that value is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Kernel, Value

Rows = npt.NDArray[np.int64]


def by_value(position: int, check: Callable[[str], None] = lambda value: None) -> Callable[[Kernel], Kernel]:
    """check: raises EvaluationError for a value that can't be used. The compiler asks it of constants."""

    def decorate(run: Kernel) -> Kernel:
        @wraps(run)
        def whole(call: Call, *arguments: Value) -> Value:
            chosen = arguments[position]
            if isinstance(chosen, pa.Scalar):
                return run(call, *arguments)
            encoded = chosen.dictionary_encode()
            codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            if len(encoded.dictionary) == 1 and not chosen.null_count:
                everywhere = [*arguments[:position], encoded.dictionary[0], *arguments[position + 1 :]]
                check(encoded.dictionary[0].as_py())
                return run(call, *everywhere)
            order, parts = [np.flatnonzero(codes < 0)], [pa.nulls(int((codes < 0).sum()), call.type)]
            for code, value in enumerate(encoded.dictionary):
                rows = np.flatnonzero(codes == code)
                given = [_at(argument, rows) for argument in arguments]
                given[position] = value
                order.append(rows)
                parts.append(_run(run, call, given, rows, check, value.as_py()))
            places = np.empty(len(codes), np.int64)
            places[np.concatenate(order)] = np.arange(len(codes))
            return pa.concat_arrays(parts).take(pa.array(places))

        return whole

    return decorate


def _at(argument: Value, rows: Rows) -> Value:
    return argument if isinstance(argument, pa.Scalar) else argument.take(pa.array(rows))


def _run(
    run: Kernel, call: Call, given: list[Value], rows: Rows, check: Callable[[str], None], value: str
) -> pa.Array:
    try:
        check(value)
        made = run(call, *given)
    except EvaluationError as error:
        error.row = int(rows[error.row or 0])
        raise
    return pa.repeat(made, len(rows)) if isinstance(made, pa.Scalar) else made
