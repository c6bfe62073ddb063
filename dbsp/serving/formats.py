"""Rows as bytes, in the form that a client asks for, and back.

JSON values are those of `circuits/columns/forms/json_text.py`; in CSV NULL is nothing, and the empty text "".
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from dbsp.circuits.columns.forms.json_text import fields_of
from dbsp.circuits.columns.forms.outside import batch_to_outside, to_spark
from dbsp.circuits.errors import DataError
from dbsp.rows.json_values import json_value
from dbsp.views.shown import objects_of, shown

JSON, LINES, CSV = "application/json", "application/x-ndjson", "text/csv"
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
EVENTS, TEXT = "text/event-stream", "text/plain"
SHORT = {
    "json": JSON,
    "ndjson": LINES,
    "csv": CSV,
    "arrow": ARROW,
    "parquet": PARQUET,
    "events": EVENTS,
    "text": TEXT,
}
# what has columns by their places
_OTHERWISE = "; or ask for format=csv, arrow or parquet"


class NotAcceptable(DataError):
    """A form of which there is none."""


def form_of(asked: str | None, accept: str, offered: tuple[str, ...]) -> str:
    """The form that a client wants: by its short name, else the first of its Accept header that is offered.

    offered: the first is for those who take anything. Raises NotAcceptable.
    """
    names = [short for short, form in SHORT.items() if form in offered]
    if asked is not None:
        if asked.lower() not in names:
            raise NotAcceptable(f"format={asked}; there are: {', '.join(names)}")
        return SHORT[asked.lower()]
    wanted = sorted(map(_preference, accept.lower().split(",")), key=lambda one: -one[1])
    for kind, quality in wanted:
        if quality <= 0:
            continue
        if kind in ("", "*/*", "text/html", "application/*"):
            return offered[0]
        if kind in offered:
            return kind
    raise NotAcceptable(f"Accept: {accept}; there are: {', '.join(offered)}; or say format={'|'.join(names)}")


def _preference(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return kind, float(parameter[2:])
            except ValueError:
                return kind, 0.0
    return kind, 1.0


def spelled(rows: pa.RecordBatch, form: str, head: Mapping[str, object]) -> bytes:
    """The rows in a form. head: what an answer in JSON says beside its rows."""
    if form == JSON:
        fields = json.dumps(dict(head), ensure_ascii=False)[1:-1]
        return f'{{{fields}, "rows": [{", ".join(objects_of(rows, _OTHERWISE))}]}}'.encode()
    if form == LINES:
        return "".join(f"{row}\n" for row in objects_of(rows, _OTHERWISE)).encode()
    if form == CSV:
        return _csv(rows)
    sink = io.BytesIO()
    if form == ARROW:
        outside = batch_to_outside(rows)
        with pa.ipc.new_stream(sink, outside.schema) as writer:
            writer.write_batch(outside)
    else:  # Parquet has no interval of months, nor of days
        plain = pa.table([to_spark(column) for column in rows.columns], names=rows.schema.names)
        pq.write_table(plain, sink)
    return sink.getvalue()


def _csv(rows: pa.RecordBatch) -> bytes:
    columns = [pa.array(fields_of(one), mask=one.is_null().to_numpy(False)) for one in shown(rows).columns]
    sink = io.BytesIO()
    pc_csv.write_csv(pa.table(columns, names=rows.schema.names), sink)
    return sink.getvalue()


def read_rows(body: bytes, kind: str, types: Mapping[str, pa.DataType]) -> pa.Table | list[dict[str, Any]]:
    """The rows of a request. kind: its Content-Type. types: of the columns, by name in lower case.

    Raises DataError.
    """
    kind = kind.partition(";")[0].strip().lower()
    readers: dict[str, Callable[[], pa.Table | list[dict[str, Any]]]] = {
        JSON: lambda: _json(body),
        LINES: lambda: _lines(body),
        CSV: lambda: _from_csv(body, types),
        ARROW: lambda: pa.ipc.open_stream(body).read_all(),
        PARQUET: lambda: pq.read_table(io.BytesIO(body)),
    }
    if kind not in readers:
        raise NotAcceptable(f"Content-Type: {kind or 'none'}; rows come as {', '.join(readers)}")
    try:
        return readers[kind]()
    except (pa.ArrowException, ValueError) as error:
        raise DataError(f"the body is no {kind}: {str(error).splitlines()[0]}") from None


def _json(body: bytes) -> list[dict[str, Any]]:
    value = json_value(body)
    rows = value if isinstance(value, list) else [value]
    _check(rows)
    return rows


def _lines(body: bytes) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(body.decode().splitlines(), 1):
        try:
            if line.strip():
                rows.append(json_value(line))
        except json.JSONDecodeError as error:
            raise DataError(f"line {number}: no JSON: {error.msg}") from None
        except ValueError as error:
            raise DataError(f"line {number}: {error}") from None
    _check(rows)
    return rows


def _check(rows: list[Any]) -> None:
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f'row {number} is no object, such as {{"column": value}}')


def _from_csv(body: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    header = pc_csv.open_csv(io.BytesIO(body), convert_options=_as_text()).schema.names if body else []
    return pc_csv.read_csv(
        io.BytesIO(body),
        convert_options=_as_text({name: types[name.lower()] for name in header if name.lower() in types}),
    )


def _as_text(types: Mapping[str, pa.DataType] | None = None) -> pc_csv.ConvertOptions:
    return pc_csv.ConvertOptions(
        column_types=types or {},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
