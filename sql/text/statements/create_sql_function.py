"""CREATE FUNCTION of a function written in SQL, as Spark spells it.

    CREATE [OR REPLACE] [TEMPORARY] FUNCTION f(x INT [DEFAULT 1], ...) [RETURNS TYPE | TABLE (...)] RETURN ...

What follows the name is Spark's to read: its analyser puts the body in the place of each call, so that a
function is part of the plans that call it, and of a program's identity by them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.sql.text.extensions import refuse_special_times
from dbsp.sql.text.tokens import Cursor, Slice


@dataclass(frozen=True, slots=True)
class CreateSqlFunction:
    """definition: all that follows the name."""

    name: str
    definition: Slice
    start: int


def is_sql_function(cursor: Cursor) -> bool:
    """Whether RETURN stands behind the parameters, outside of all parentheses. cursor: before the name."""
    depth = 0
    for token in cursor.tokens[cursor.at :]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.upper in ("RETURN", "AS"):
            return token.upper == "RETURN"
    return False


def create_sql_function(cursor: Cursor) -> CreateSqlFunction:
    """After CREATE FUNCTION."""
    name = cursor.name("a function's name")
    if cursor.sees("."):
        cursor.fail(
            f"a function's name has no schema: CREATE FUNCTION f(...), and f(x) where '{name.text}.f(x)' is",
            name,
        )
    if not cursor.sees("("):
        cursor.fail(f"expected (, found {cursor.next}; CREATE FUNCTION {name.text}(x TYPE, ...) RETURN ...")
    refuse_special_times(cursor)
    return CreateSqlFunction(name.text, cursor.until(), name.start)
