"""Rows as a table of plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.types as pt

from circuits.json_text import encode


def text_table(rows: pa.RecordBatch) -> Iterator[str]:
    """Lines without line ends: the names, a rule, the rows; numbers to the right."""
    columns = [[name, *fields(rows.column(i))] for i, name in enumerate(rows.schema.names)]
    widths = [max(map(len, column)) for column in columns]
    right = [pt.is_integer(f.type) or pt.is_floating(f.type) or pt.is_decimal(f.type) for f in rows.schema]
    for number, row in enumerate(zip(*columns, strict=True)):
        cells = zip(row, widths, right, strict=True)
        yield "  ".join(c.rjust(width) if r else c.ljust(width) for c, width, r in cells).rstrip()
        if number == 0:
            yield "  ".join("-" * width for width in widths)


def fields(column: pa.Array, null: str = "NULL") -> list[str]:
    """The values as JSON has them, but strings without their quotes."""
    return [_bare(value, null) for value in encode(column)]


def _bare(value: str, null: str) -> str:
    if value == "null":
        return null
    return str(json.loads(value)) if value.startswith('"') else value
