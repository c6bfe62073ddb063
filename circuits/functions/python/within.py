"""Whether what a circuit is made of calls functions that its user has written."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from dbsp.circuits.functions.python.function import PythonFunction


def calls_python(value: object) -> bool:
    """Of an operator, an expression, or a tuple of such. Cost: its size."""
    if isinstance(value, PythonFunction):
        return True
    if isinstance(value, tuple):
        return any(map(calls_python, value))
    return is_dataclass(value) and any(calls_python(getattr(value, field.name)) for field in fields(value))
