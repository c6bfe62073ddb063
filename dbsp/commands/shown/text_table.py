"""Rows as a table of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.json_text import fields_of

if TYPE_CHECKING:
    from dbsp.pipeline.pipeline import Pipeline
    from dbsp.views.changes import Changes

TABLE_ROWS = 20


def text_table(rows: pa.RecordBatch) -> Iterator[str]:
    """Lines without line ends: the names, a rule, the rows; numbers to the right."""
    columns = [[name, *fields_of(rows.column(i))] for i, name in enumerate(rows.schema.names)]
    widths = [max(map(len, column)) for column in columns]
    right = [to_the_right(field.type) for field in rows.schema]
    for number, row in enumerate(zip(*columns, strict=True)):
        cells = zip(row, widths, right, strict=True)
        yield "  ".join(c.rjust(width) if r else c.ljust(width) for c, width, r in cells).rstrip()
        if number == 0:
            yield "  ".join("-" * width for width in widths)


def to_the_right(data_type: pa.DataType) -> bool:
    """Whether values of the type stand at the right of their column."""
    return bool(pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_decimal(data_type))


def view_tables(pipeline: Pipeline, changes: Changes) -> Iterator[str]:
    """Of each view that a step changed, its name and its first rows."""
    for view in sorted(changes):
        if len(changes[view]):
            contents = pipeline[view]
            size = len(contents)
            of = f", {TABLE_ROWS} of {size:,} rows" if size > TABLE_ROWS else ""
            yield f"step {changes.step}: {view}{of}"
            yield from text_table(contents.first(TABLE_ROWS))
