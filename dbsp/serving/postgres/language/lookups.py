"""Lookups by value, which need no compiler: SELECT columns FROM view WHERE column = value AND ...

What is anything else, or could mean anything else (a cast, a FLOAT, NULL), is left to the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
import pyarrow.types as pt

from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import Cursor, Word
from dbsp.serving.postgres.language.types import BPCHAR, INT2, INT4, INT8, NUMERIC, TEXT, VARCHAR
from dbsp.sql.plans.schemas import Schema

_INTEGER = re.compile(r"[+-]?\d{1,18}")


@dataclass
class Lookup:
    """columns: None: all of them. equal: what stands for each column."""

    view: str
    columns: list[str] | None = None
    equal: dict[str, Word] = field(default_factory=dict)

    def values(self, schema: Schema, parameters: Sequence[Value]) -> dict[str, object] | None:
        """What the columns are to be; None where that is for the compiler to say."""
        types = {one.name.lower(): one.type for one in schema}
        wanted = {*self.equal, *(self.columns or ())}
        if not wanted <= types.keys() or len(types) != len(schema):
            return None
        found: dict[str, object] = {}
        for column, word in self.equal.items():
            value = _value(word, types[column], parameters)
            if value is None:
                return None
            found[column] = value
        return found


def lookup_of(words: Sequence[Word]) -> Lookup | None:
    """The lookup that a statement is, if it is one."""
    reader = Cursor(words)
    if not reader.takes("SELECT"):
        return None
    columns: list[str | None] | None = None
    tables: list[str | None] = []
    if not reader.takes("*"):
        columns = []
        while True:
            table, column = _column(reader)
            if column is None:
                return None
            tables.append(table)
            columns.append(column)
            if not reader.takes(","):
                break
    if not reader.takes("FROM"):
        return None
    view = reader.relation()
    if view is None or not reader.takes("WHERE"):
        return None
    found = Lookup(view, None if columns is None else [name for name in columns if name is not None])
    while True:
        table, column = _column(reader)
        if column is None or column in found.equal or not reader.takes("="):
            return None
        tables.append(table)
        word = reader.value()
        if word is None:
            return None
        found.equal[column] = word
        if not reader.takes("AND"):
            break
    return found if reader.is_over and all(table in (None, view) for table in tables) else None


def _column(reader: Cursor) -> tuple[str | None, str | None]:
    """(its table, if that is named; its name)"""
    name = reader.name()
    return (name, reader.name()) if name is not None and reader.takes(".") else (None, name)


def _value(word: Word, type_: pa.DataType, parameters: Sequence[Value]) -> object | None:
    text: str | None = word.text
    is_text, is_number = word.kind == "string", word.kind == "number"
    if word.kind == "parameter":
        position = int(word.text[1:]) - 1
        if position >= len(parameters):
            return None
        given = parameters[position]
        text, is_text = given.text, given.is_text
        is_number = given.oid in (INT2, INT4, INT8, NUMERIC)
        if given.oid not in (TEXT, VARCHAR, BPCHAR):  # of no type: as the column
            is_number = is_number or is_text
    elif is_text:
        text = word.string
    if text is None:
        return None
    if pt.is_string(type_):
        return text if is_text else None
    if not is_number or not _INTEGER.fullmatch(text):
        return None
    if pt.is_integer(type_):
        number = int(text)
        return number if -(2 ** (type_.bit_width - 1)) <= number < 2 ** (type_.bit_width - 1) else None
    return Decimal(text) if pt.is_decimal(type_) and len(text) <= type_.precision - type_.scale else None
