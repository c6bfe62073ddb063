"""Bags of rows as plain values, and what two of them don't have in common.

Doubles are compared up to 1e-9, relatively: Spark adds them in no fixed order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

Row = tuple[Any, ...]

_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


def arrow_values(table: pa.Table | pa.RecordBatch) -> list[Row]:
    """Rows as plain values, by position: column names may repeat."""
    return [normal(row) for row in zip(*map(_listed, table.columns), strict=True)]


def _listed(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Its values; of times beyond Python's calendar the counts."""
    try:
        return list(column.to_pylist())
    except OverflowError:
        return list(column.cast(pa.int32() if column.type == pa.date32() else pa.int64()).to_pylist())


def normal(value: Any) -> Any:
    """One spelling of a value, whoever computed it."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, pa.MonthDayNano):
        return tuple(value) if value.days or value.nanoseconds else value.months
    if isinstance(value, dict):
        return tuple(normal(item) for item in value.values())
    if isinstance(value, list | tuple):
        return tuple(normal(item) for item in value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value


def identity(value: Any) -> Any:
    """A hashable stand-in, equal exactly where a Z-set sees the same value: NaN is NaN, -0.0 isn't 0.0."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1, value))
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return ("struct", *((name, identity(item)) for name, item in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *map(identity, value))
    return value


def unpaired(mine: Iterable[Row], theirs: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """(missing, surplus): rows that only `theirs` has, and that only `mine` has, as often as that is so."""
    buckets: dict[Row, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((mine, theirs)):
        for row in rows:
            buckets[tuple(map(_exact, row))][side].append(row)
    missing, surplus = [], []
    for ours, others in buckets.values():
        left = list(others)
        for row in ours:
            match = next((i for i, other in enumerate(left) if _close(row, other)), None)
            if match is None:
                surplus.append(row)
            else:
                left.pop(match)
        missing += left
    return missing, surplus


def same_rows(mine: Iterable[Row], theirs: Iterable[Row]) -> str | None:
    """None where both are the same bag; else what is where."""
    missing, surplus = unpaired(mine, theirs)
    return f"missing {missing}, surplus {surplus}" if missing or surplus else None


def _exact(value: Any) -> Any:
    """What must agree exactly; 2 and Decimal('2.00') do, 2 and 2.0 or True don't."""
    if isinstance(value, float):
        return "a double"
    if isinstance(value, tuple):
        return tuple(
            "NaN" if isinstance(item, float) and math.isnan(item) else _nested(item) for item in value
        )
    return ("boolean", value) if isinstance(value, bool) else value


def _nested(value: Any) -> Any:
    """Doubles inside arrays and structs come from columns: they agree exactly."""
    return value if isinstance(value, float) else _exact(value)


def _close(a: Row, b: Row) -> bool:
    """Whether the doubles of two rows are the same, but for rounding."""
    doubles = [(x, y) for x, y in zip(a, b, strict=True) if isinstance(x, float)]
    return all(
        math.isclose(x, y, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE) or (math.isnan(x) and math.isnan(y))
        for x, y in doubles
    )
