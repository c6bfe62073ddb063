"""What other dialects have in a query and this one does not: refused by name and place.

They are recognised in the tokens, so that Spark's parser, which knows none of them, never reports them as
a syntax error somewhere near.
"""

from __future__ import annotations

import re

from dbsp.sql.text.tokens import Cursor, Token, unquote

# Spark computes TIMESTAMP 'now' and DATE 'today' once, as it reads the query.
_SPECIAL_TIME = re.compile(r"\s*(now|today|yesterday|tomorrow)\b.*", re.IGNORECASE | re.DOTALL)
_TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"}
SPECIAL_TIME = (
    "would stay what it is when the program is compiled; "
    "compare columns with now() or current_date() in WHERE, as ts > now() - INTERVAL 5 MINUTES"
)


def refuse_in_query(cursor: Cursor) -> None:
    """From the cursor to the end of the statement, which it leaves where it is."""
    depth = 0
    for token, after in zip(cursor.tokens[cursor.at :], cursor.tokens[cursor.at + 1 :], strict=False):
        depth += (token.text == "(") - (token.text == ")")
        if token.kind == "word":
            refuse_special_time(cursor, token, after)
            _refuse(cursor, token, after, depth)


def refuse_special_times(cursor: Cursor) -> None:
    """From the cursor to the end of the statement, which it leaves where it is."""
    for token, after in zip(cursor.tokens[cursor.at :], cursor.tokens[cursor.at + 1 :], strict=False):
        refuse_special_time(cursor, token, after)


def refuse_special_time(cursor: Cursor, token: Token, after: Token) -> None:
    if token.upper in _TIMES and after.kind == "string" and _SPECIAL_TIME.fullmatch(unquote(after.text)):
        cursor.fail(f"{token.text} {after.text} {SPECIAL_TIME}", token)


def _refuse(cursor: Cursor, token: Token, after: Token, depth: int) -> None:
    word = token.upper
    if word == "EMIT" and depth == 0 and after.upper in ("CHANGES", "FINAL", "STREAM"):
        cursor.fail(f"not supported: EMIT {after.upper}; write TRIGGER ... or EMIT (...)", token)
