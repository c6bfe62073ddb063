"""Expectations: what a view's rows must be, as Databricks' pipelines spell it.

    CONSTRAINT name EXPECT (condition) [ON VIOLATION DROP ROW | ON VIOLATION FAIL UPDATE]

A row meets one where the condition is true. One that doesn't is left out, or fails the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.sql.text.tokens import Cursor, Slice


@dataclass(frozen=True, slots=True)
class Expectation:
    """fails: whether a row that doesn't meet it fails the step; counts: whether it stays, and counts. Else it
    is left out.
    """

    name: str
    condition: Slice
    fails: bool
    counts: bool = False


def expectation(cursor: Cursor) -> Expectation:
    """After CONSTRAINT name EXPECT."""
    first = cursor.ahead(-2)
    name = first.text.strip("`")
    if cursor.next.text != "(":
        cursor.fail(f"expectation '{name}' has its condition in parentheses: EXPECT (x > 0)")
    opened = cursor.take()
    depth = 1
    while depth and cursor.next.kind != "end":
        closed = cursor.take()
        depth += (closed.text == "(") - (closed.text == ")")
    if depth:
        cursor.fail("expected ), found the end")
    condition = Slice(cursor.source.text[opened.stop : closed.start], opened.stop)
    if not cursor.accept("ON", "VIOLATION"):
        cursor.ignore(
            f"expectation '{name}'",
            "rows that don't meet it stay; add ON VIOLATION DROP ROW or FAIL UPDATE",
            first,
        )
        return Expectation(name, condition, False, counts=True)
    if cursor.accept("DROP", "ROW"):
        return Expectation(name, condition, False)
    if not cursor.accept("FAIL", "UPDATE"):
        cursor.fail(f"unknown violation {cursor.next}; ON VIOLATION is DROP ROW or FAIL UPDATE")
    return Expectation(name, condition, True)


def checked(
    view: str, columns: Sequence[str], expectations: Sequence[Expectation]
) -> tuple[str | Slice, ...]:
    """What follows `SELECT * FROM (query` so that its rows meet them; () where none are.

    Those that fail a step come first: they are of all rows.
    """
    if not expectations:
        return ()
    listed = ", ".join(f"`{name.replace('`', '``')}`" for name in columns)
    parts: list[str | Slice] = [f") AS expected({listed}) WHERE " if columns else ") WHERE "]
    for number, one in enumerate(sorted(expectations, key=lambda one: not one.fails)):
        said = f"view {view}: a row does not meet the expectation {one.name}".replace("'", "''")
        parts += [
            " AND " if number else "",
            "CASE WHEN (" if one.fails else "(",
            one.condition,
            f") THEN true ELSE raise_error('{said}') END" if one.fails else ")",
        ]
    return tuple(parts)
