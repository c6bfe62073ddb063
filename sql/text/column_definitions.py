"""Columns as CREATE TABLE and CREATE RECURSIVE VIEW define them."""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.sql.text.annotations import (
    LatenessClause,
    constant_clause,
    lateness_clause,
)
from dbsp.sql.text.stored_clauses import enforced, stored_clause
from dbsp.sql.text.tokens import Cursor, Slice, Token

_TYPE_ENDS = {
    "NOT", "PRIMARY", "LATENESS", "CONSTANT", "COMMENT", "DEFAULT", "GENERATED", "UNIQUE", "CHECK",
    "REFERENCES", "MASK", "FOREIGN", "WATERMARK",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    name: str
    type: Slice
    not_null: bool
    start: int
    lateness: LatenessClause | None = None
    constant_domain: bool = False
    default: Slice | None = None
    watermark: Slice | None = None


def column_definition(cursor: Cursor) -> tuple[ColumnDefinition, bool]:
    """name TYPE, then clauses in any order, as the error for an unknown one lists them, and COMMENT."""
    name = cursor.name("a column's name")
    type_ = cursor.type(f"column '{name.text}'", _TYPE_ENDS)
    not_null = is_key = constant_domain = False
    lateness: LatenessClause | None = None
    default: Slice | None = None
    watermark: Slice | None = None
    while not (cursor.sees(",") or cursor.sees(")")):
        if cursor.accept("NOT", "NULL"):
            not_null = True
        elif cursor.accept("PRIMARY", "KEY"):
            is_key = True
            enforced(cursor)
        elif cursor.sees("LATENESS"):
            if lateness is not None:
                cursor.fail(f"column '{name.text}' has a LATENESS already")
            cursor.take()
            lateness = lateness_clause(cursor)
        elif cursor.accept("CONSTANT", "DOMAIN"):
            constant_domain = True
        elif cursor.sees("DEFAULT"):
            if default is not None:
                cursor.fail(f"column '{name.text}' has a DEFAULT already")
            cursor.take()
            default = constant_clause(cursor, "DEFAULT", "now()")
        elif cursor.sees("WATERMARK"):
            if watermark is not None:
                cursor.fail(f"column '{name.text}' has a WATERMARK already")
            cursor.take()
            watermark = constant_clause(cursor, "WATERMARK")
        elif stored_clause(cursor) is not None:
            continue
        else:
            form = (
                "a column is name TYPE [NOT NULL] [PRIMARY KEY] [LATENESS amount] [WATERMARK amount] "
                "[CONSTANT DOMAIN] [DEFAULT constant]"
            )
            cursor.fail(f"column '{name.text}': unknown clause {cursor.next}; {form}")
    definition = ColumnDefinition(
        name.text, type_, not_null, name.start, lateness, constant_domain, default, watermark
    )
    return definition, is_key


def check_new(cursor: Cursor, column: ColumnDefinition, columns: list[ColumnDefinition], at: Token) -> None:
    """Refuse a column that has the name of another one."""
    if column.name.lower() in {other.name.lower() for other in columns}:
        cursor.fail(f"column '{column.name}' is defined twice", at)


def names(cursor: Cursor) -> tuple[str, ...]:
    """(a, b, ...)"""
    return tuple(token.text for token in name_tokens(cursor))


def name_tokens(cursor: Cursor) -> tuple[Token, ...]:
    """The same, each with its place."""
    cursor.expect("(")
    names = [cursor.name("a column's name")]
    while cursor.accept(","):
        names.append(cursor.name("a column's name"))
    cursor.expect(")")
    return tuple(names)
