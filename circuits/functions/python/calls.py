"""Calls of a program's own functions, written in Python."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.python.function import PythonFunction, results


@columnar("python_function", strict=False)
def python_call(call: Call, *columns: pa.Array) -> Value:
    function = call.option("function")
    assert isinstance(function, PythonFunction)
    return results(function, list(columns), call.type)
