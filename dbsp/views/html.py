"""Rows as a table of HTML, for notebooks: nothing of a value is markup."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html import escape

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.json_text import encode, plain
from dbsp.views.shown import shown

SHOWN = 20
_LONGEST = 200
_TITLE = "white-space: nowrap; text-align: left"  # else it is as narrow as a narrow table
_MARK = "background: rgba(255, 190, 0, 0.3)"  # on white as in the dark


def html_table(title: str, rows: pa.RecordBatch, size: int, marked: Collection[int] = ()) -> str:
    """title: above the rows, of which there may be more: `size`. marked: places of rows that stand out."""
    more = f", {rows.num_rows} of {size:,} rows" if size > rows.num_rows else ""
    return "".join(
        [
            f'<table><caption style="{_TITLE}">{escape(title)}{more}</caption><thead><tr>',
            *(f"<th>{escape(name)}</th>" for name in rows.schema.names),
            "</tr></thead><tbody>",
            *_rows(rows, marked),
            "</tbody></table>",
        ]
    )


def _rows(rows: pa.RecordBatch, marked: Collection[int]) -> Iterator[str]:
    columns = [[_shown(plain(value)) for value in encode(column)] for column in shown(rows).columns]
    sides = ["right" if _is_number(column.type) else "left" for column in rows.columns]
    for place, row in enumerate(zip(*columns, strict=True)):
        cells = (f'<td style="text-align: {side}">{cell}</td>' for cell, side in zip(row, sides, strict=True))
        mark = f' style="{_MARK}"' if place in marked else ""
        yield f"<tr{mark}>{''.join(cells)}</tr>"


def _shown(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _is_number(data_type: pa.DataType) -> bool:
    return bool(pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_decimal(data_type))
