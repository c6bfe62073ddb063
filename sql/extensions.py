"""The streaming extensions of the language that this version does not have: refused by name and place.

They are recognised in the tokens, so that Spark's parser, which knows none of them, never reports them as
a syntax error somewhere near.
"""

from __future__ import annotations

from sql.tokens import Cursor, Token

STATEMENTS = {
    ("DECLARE", "RECURSIVE", "VIEW"): (
        "DECLARE RECURSIVE VIEW; write CREATE RECURSIVE VIEW name (column TYPE, ...) AS query, "
        "which may refer to itself and to recursive views further down"
    ),
    (
        "CREATE",
        "TEMPORARY",
        "FUNCTION",
    ): "TEMPORARY; write CREATE FUNCTION: a program's functions are its own",
}


def refuse_statement(cursor: Cursor) -> None:
    for words, what in STATEMENTS.items():
        if cursor.sees(*words):
            cursor.fail(f"not supported yet: {what}")


def refuse_in_query(cursor: Cursor) -> None:
    """From the cursor to the end of the statement, which it leaves where it is."""
    depth = 0
    for token, after in zip(cursor.tokens[cursor.at :], cursor.tokens[cursor.at + 1 :], strict=False):
        depth += (token.text == "(") - (token.text == ")")
        if token.kind == "word":
            _refuse(cursor, token, after, depth)


def _refuse(cursor: Cursor, token: Token, after: Token, depth: int) -> None:
    word = token.upper
    if word == "EMIT" and depth == 0 and after.upper in ("CHANGES", "FINAL", "STREAM"):
        cursor.fail(f"not supported: EMIT {after.upper}; write TRIGGER ... or EMIT (...)", token)
