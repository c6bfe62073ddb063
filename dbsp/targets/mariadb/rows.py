r"""Arrow rows as the text that LOAD DATA reads: tabs between values, a line a row.

NULL is \N; a backslash, a tab and a line's end in a text stand after a backslash; bytes are two digits each,
for UNHEX; instants are in UTC.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.errors import DataError
from dbsp.targets.databases.texts import as_hex

LOAD = r"FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n'"
_ESCAPED = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"))


def as_lines(rows: pa.RecordBatch) -> pa.Buffer:
    """Of the types that a target in MariaDB can have. Raises DataError for a number that it hasn't."""
    columns = [
        _text(name, column).fill_null("\\N")
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    ]
    tab, end, nothing = (pa.scalar(text, pa.large_string()) for text in ("\t", "\n", ""))
    lines = pc.binary_join_element_wise(*columns, tab)
    ended = pc.binary_join_element_wise(lines, end, nothing)
    _, ends, data = ended.buffers()
    if not len(ended):
        return pa.py_buffer(b"")
    offsets = pa.Array.from_buffers(pa.int64(), len(ended) + 1, [None, ends], offset=ended.offset)
    return data.slice(offsets[0].as_py(), offsets[-1].as_py() - offsets[0].as_py())


def _text(name: str, values: pa.Array) -> pa.Array:
    kind = values.type
    if pt.is_string(kind):
        text = values.cast(pa.large_string())
        for plain, escaped in _ESCAPED:
            text = pc.replace_substring(text, plain, escaped)
        return text
    if pt.is_binary(kind):
        return as_hex(values)
    if pt.is_floating(kind):
        odd = pc.drop_null(values.filter(pc.invert(pc.is_finite(values))))
        if len(odd):
            raise DataError(
                f"column '{name}' has {odd[0]}, and MariaDB no such number; make it NULL in the view"
            )
    if pt.is_boolean(kind):
        values = values.cast(pa.int8())
    if pt.is_timestamp(kind) and kind.tz is not None:
        values = values.cast(pa.timestamp("us"))
    return values.cast(pa.string()).cast(pa.large_string())
