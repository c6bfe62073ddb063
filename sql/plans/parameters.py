"""Parameters: literals that a compiled query leaves open, as calls of a function that nobody evaluates."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call

_FUNCTION = "parameter"


def parameter(number: int, negative: bool, type_: pa.DataType, text: str) -> Call:
    """What stands for a literal until it is there. negative: for the literal with a minus before it."""
    return Call(_FUNCTION, (), type_, False, (("negative", negative), ("number", number)), text)


def parameter_of(value: Any) -> tuple[int, bool] | None:
    """(its number, whether it is negative) of a parameter."""
    if type(value) is not Call or value.function != _FUNCTION:
        return None
    options: dict[str, Any] = dict(value.options)
    return options["number"], options["negative"]
