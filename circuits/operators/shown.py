"""Operators' parameters for people, with names for positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass

import pyarrow as pa

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.progress.waterline import Lateness

# parameters that are columns of the input, and the word before them
_COLUMNS = {
    "columns": "by",
    "placed_by": "by",
    "key": "key",
    "sums": "adding",
    "minima": "least",
    "maxima": "greatest",
}


def parameters(operator: Operator, names: Sequence[str] = ()) -> str:
    """All of them, in order. names: of the input's columns."""
    return " ".join(_parameters(operator, names))


def _parameters(operator: Operator, names: Sequence[str]) -> Iterator[str]:
    assert is_dataclass(operator), operator
    for parameter in fields(operator):
        value = getattr(operator, parameter.name)
        if value is None or value is False or value == () or isinstance(value, pa.Schema | pa.RecordBatch):
            continue
        if value is True:
            yield parameter.name
        elif parameter.name == "order" and isinstance(value, int):
            yield f"ordered by {names[value]}"
        elif parameter.name in _COLUMNS:
            yield f"{_COLUMNS[parameter.name]} {listed(names, value)}"
        else:
            yield spelled(value, names)


def listed(names: Sequence[str], columns: Sequence[int]) -> str:
    """Columns in parentheses."""
    return f"({', '.join(names[column] for column in columns)})"


def ordered(order: Sequence[SortKey], names: Sequence[str]) -> str:
    return ", ".join(names[by.column] + (" DESC" if by.descending else "") for by in order)


def spelled(value: object, names: Sequence[str]) -> str:
    """A parameter's value."""
    if isinstance(value, Column | Literal | Call):
        return re.sub(r"#(\d+)", lambda match: names[int(match[1])], str(value))
    if isinstance(value, tuple):
        return f"({', '.join(spelled(item, names) for item in value)})"
    if isinstance(value, Lateness):
        return value.name
    text = getattr(value, "text", "")
    return text if isinstance(text, str) and text else str(value)
