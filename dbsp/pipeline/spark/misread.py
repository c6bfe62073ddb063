"""Why Spark couldn't read a text as a record: which of its values is none of its column's type.

    the text has a value of column c, and Spark, which reads on behind such a value, has read none there

Texts that were refused are parsed here once more, one by one; those that were read cost nothing.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, repeat
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.broken_text import listed
from dbsp.pipeline.spark.messages.options import VALUE, format_options
from dbsp.pipeline.spark.records import decoded_fields, record_columns
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field

# what Spark says by itself
MISREAD = "a value is none of its column's type, or the record is broken"
_BROKEN = "the record is broken, or no JSON object"
# characters of a value that are shown
_SHOWN = 80


@dataclass(frozen=True)
class Text:
    """form: csv or json. fields: what Spark reads it as, of CSV in their order. options: of the reader."""

    form: str
    fields: Sequence[Field]
    options: Mapping[str, str]

    def reasons(self, texts: pa.Array, read: pa.RecordBatch) -> pa.Array:
        """Of each text, what is wrong with it. read: the rows that Spark has made of them."""
        there = [field.name for field in self.fields if field.name in read.schema.names]
        columns = [read.column(name).is_null().to_pylist() for name in there]
        is_null = zip(*columns, strict=True) if columns else repeat((), len(texts))
        found = [
            self._reason(text, {*compress(there, nulls)}, all(nulls))
            for text, nulls in zip(listed(texts), is_null, strict=True)
        ]
        return pa.array(found, pa.string())

    def _reason(self, text: str, nulls: set[str], is_empty: bool) -> str:
        """nulls: the columns without a value. is_empty: there are no others."""
        return self._of_json(text, nulls, is_empty) if self.form == "json" else self._of_csv(text, nulls)

    def _of_json(self, text: str, nulls: set[str], is_empty: bool) -> str:
        # Spark reads more than Python: rows of a list, or names without quotes
        unread = _BROKEN if is_empty else MISREAD
        try:
            record = json.loads(text)
            if not isinstance(record, dict):
                return unread
            given = {name: record[name] for name in nulls if record.get(name) is not None}
            spelled = {name: json.dumps(value, ensure_ascii=False) for name, value in given.items()}
        except (ValueError, RecursionError):
            return unread
        return self._wrong(spelled)

    def _of_csv(self, text: str, nulls: set[str]) -> str:
        if self._dialect is None:
            return MISREAD
        try:
            values = next(csv.reader([text], **self._dialect), [])
        except (csv.Error, TypeError, ValueError):  # of the text; and of signs that Python's reader refuses
            return MISREAD
        if len(values) != len(self.fields):
            return f"the record has {len(values)} values for {len(self.fields)} columns"
        given = {field.name: value for field, value in zip(self.fields, values, strict=True)}
        null = self._option("", "nullvalue")
        return self._wrong({name: f"'{given[name]}'" for name in nulls if given[name] != null})

    def _wrong(self, values: Mapping[str, str]) -> str:
        """values: those of columns that have none, as they are spelled."""
        found = [
            f"column '{field.name}': {_shown(values[field.name])} is no {field.type_name}"
            for field in self.fields
            if field.name in values
        ]
        return "; ".join(found) or MISREAD

    @cached_property
    def _dialect(self) -> dict[str, Any] | None:
        """None: Python's reader has no such."""
        sep, quote = self._option(",", "sep", "delimiter"), self._option('"', "quote")
        escape = self._option("\\", "escape")
        if len(sep) != 1 or len(quote) > 1 or len(escape) > 1:
            return None
        quoting = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
        # a quote that is escaped by a quote is a doubled one
        return {"delimiter": sep, "escapechar": escape if escape not in ("", quote) else None, **quoting}

    def _option(self, usual: str, *names: str) -> str:
        return next((value for name, value in self.options.items() if name.lower() in names), usual)


def text_of(table: Table, read: frozenset[int] | None) -> Text | None:
    """What the columns of a source's records are read from; None: no text. read: see `decoded`."""
    if table.row_format not in ("csv", "json"):
        return None
    if table.value_format is None:
        return Text(table.row_format, record_columns(table), table.options)
    return Text(table.row_format, decoded_fields(table, read), format_options(table, VALUE, {}))


def _shown(value: str) -> str:
    """As UTF-8 can be: JSON may spell halves of characters."""
    whole = value.encode(errors="backslashreplace").decode()
    return whole if len(whole) <= _SHOWN else f"{whole[:_SHOWN]}..."
