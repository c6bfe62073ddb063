"""Columns as CREATE TABLE and CREATE RECURSIVE VIEW define them.

An IDENTITY is a DEFAULT by another name. Computed columns and conditions of a table's rows are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.sql.text.annotations import (
    CLAUSES,
    LatenessClause,
    constant_clause,
    lateness_clause,
)
from dbsp.sql.text.stored_clauses import enforced, stored_clause
from dbsp.sql.text.tokens import Cursor, Slice, Token

_TYPE_ENDS = CLAUSES | {"MASK"}  # which is a function of constants, too


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
        elif cursor.sees("DEFAULT") or cursor.sees("GENERATED"):
            if default is not None:
                cursor.fail(f"column '{name.text}' has a DEFAULT already")
            default = _given(cursor, name.text, type_)
        elif cursor.sees("WATERMARK"):
            if watermark is not None:
                cursor.fail(f"column '{name.text}' has a WATERMARK already")
            cursor.take()
            watermark = constant_clause(cursor, "WATERMARK")
        elif check_constraint(cursor) or stored_clause(cursor) is not None:
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


def _given(cursor: Cursor, name: str, type_: Slice) -> Slice:
    """What a row has in the column where it is given nothing."""
    if cursor.accept("DEFAULT"):
        return constant_clause(cursor, "DEFAULT", "now()")
    return _identity(cursor, name, type_)


def _identity(cursor: Cursor, name: str, type_: Slice) -> Slice:
    """GENERATED ALWAYS | BY DEFAULT AS IDENTITY [(START WITH n INCREMENT BY m)], as a DEFAULT."""
    first = cursor.take()
    always = cursor.accept("ALWAYS")
    if not always:
        cursor.expect("BY")
        cursor.expect("DEFAULT")
    cursor.expect("AS")
    if not cursor.accept("IDENTITY"):
        text = _parenthesized(cursor)
        cure = (
            f"compute it where the table is read, as in CREATE VIEW v AS SELECT *, {text} AS {name} FROM ..."
        )
        cursor.fail(f"column '{name}' is GENERATED from others, which rows of a table aren't; {cure}", first)
    if type_.text.strip().upper() not in ("BIGINT", "LONG"):
        cursor.fail(f"column '{name}' is an IDENTITY, whose numbers are BIGINT; declare it so", first)
    if always:
        cursor.ignore("ALWAYS", "a row that comes with a number keeps it", first)
    bounds = {"START": 1, "INCREMENT": 1}
    if cursor.accept("("):
        while not cursor.accept(")"):
            word = cursor.take()
            if word.upper not in bounds:
                cursor.fail(f"IDENTITY has START WITH n and INCREMENT BY n, found {word}", word)
            cursor.accept("WITH" if word.upper == "START" else "BY")
            sign = -1 if cursor.accept("-") else 1
            number = cursor.take()
            if not number.text.isdecimal():
                cursor.fail(f"expected a whole number, found {number}", number)
            bounds[word.upper] = sign * int(number.text)
            cursor.accept(",")
    if bounds["INCREMENT"] == 0:
        cursor.fail("an IDENTITY that is INCREMENTed BY 0 is one number for all rows", first)
    return Slice(f"{bounds['START']} + {bounds['INCREMENT']} * monotonically_increasing_id()", first.start)


def _parenthesized(cursor: Cursor) -> str:
    """With the parentheses."""
    opened = cursor.next
    cursor.parentheses()
    return cursor.source.text[opened.start : cursor.ahead(-1).stop]


def check_constraint(cursor: Cursor) -> bool:
    """Whether [CONSTRAINT name] CHECK (condition) stands here: what nobody enforces is ignored.

    Raises ProgramError for others.
    """
    first = cursor.next
    if not cursor.sees("CHECK") and not (cursor.sees("CONSTRAINT") and cursor.ahead(2).upper == "CHECK"):
        return False
    name = cursor.name("a constraint's name").text if cursor.accept("CONSTRAINT") else "c"
    cursor.expect("CHECK")
    text = _parenthesized(cursor)
    if cursor.sees("NOT", "ENFORCED"):
        enforced(cursor)
        cursor.ignore("CHECK", "what isn't enforced says nothing of rows", first)
        return True
    view = f"CREATE VIEW v (CONSTRAINT {name} EXPECT {text} ON VIOLATION FAIL UPDATE) AS SELECT * FROM ..."
    return cursor.fail(f"not supported yet: CHECK of a table's rows; a view's are checked: {view}", first)


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
