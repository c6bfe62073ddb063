"""What a program hasn't, though others have it: refused by name and place, with what to write instead.

In a query what other dialects have is recognised in the tokens, so that Spark's parser, which knows none of
it, never reports it as a syntax error somewhere near. Of statements it is what Spark has: a program says what
its tables and views are, and what changes rows, or runs once, is done beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbsp.sql.text.tokens import Cursor, Token, unquote

# Spark computes TIMESTAMP 'now' and DATE 'today' once, as it reads the query.
_SPECIAL_TIME = re.compile(r"\s*(now|today|yesterday|tomorrow)\b.*", re.IGNORECASE | re.DOTALL)
_TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"}
SPECIAL_TIME = (
    "would stay what it is when the program is compiled; "
    "compare columns with now() or current_date() in WHERE, as ts > now() - INTERVAL 5 MINUTES"
)

_QUERY = "a query by itself is shown to nobody; write CREATE VIEW name AS"
_ROWS = "changes rows, and a program says what its tables and views are; rows change by"
_EDIT = f"{_ROWS} p.sql('{{0}} ...'), or by the same statement in a replay file"
_SCRIPT = "a script runs once, and a program holds at any time; what is computed is a view"
_VALUE = "a variable; write the value, or ${NAME} and --define NAME=value"
_PLAN = "`dbsp plan` says what a changed program does to a state"
_FLOW = "a flow belongs to a declared pipeline: dbsp pipeline run; here, INSERT INTO target SELECT ..."

# by their first words, the longer ones first
_REFUSED: dict[tuple[str, ...], str] = {
    ("DECLARE", "RECURSIVE", "VIEW"): (
        "DECLARE RECURSIVE VIEW; write CREATE RECURSIVE VIEW name (column TYPE, ...) AS query, "
        "which may refer to itself and to recursive views further down"
    ),
    ("WITH",): "WITH before INSERT; write INSERT INTO target WITH ..., of a query CREATE VIEW name AS WITH",
    ("FROM",): "FROM before INSERT; write INSERT INTO for each target, of a query CREATE VIEW name AS FROM",
    **{(word,): f"{_QUERY} {word} ..." for word in ("SELECT", "VALUES", "TABLE", "MAP", "REDUCE")},
    **{(word,): f"{word} {_EDIT.format(word)}" for word in ("DELETE", "UPDATE", "MERGE")},
    ("TRUNCATE",): f"TRUNCATE {_ROWS} p.replace(table, rows), or p.sql('DELETE FROM table')",
    ("LOAD", "DATA"): "LOAD DATA; files are a source: CREATE TABLE name (...) USING format LOCATION ...",
    ("ALTER", "VIEW"): f"ALTER VIEW; change its CREATE VIEW: {_PLAN}",
    ("ALTER", "TABLE"): f"ALTER TABLE; change its CREATE TABLE: {_PLAN}",
    ("CREATE", "FLOW"): f"CREATE FLOW; {_FLOW}",
    ("CREATE", "TEMPORARY", "TABLE"): "CREATE TEMPORARY TABLE; a program's tables are all there is",
    **{(word,): f"{word}; {_SCRIPT}" for word in ("BEGIN", "EXECUTE", "OPEN", "FETCH", "CLOSE", "CALL")},
    ("CREATE", "VARIABLE"): _VALUE,
    ("DECLARE",): _VALUE,
    ("SET", "VAR"): _VALUE,
    ("SET", "VARIABLE"): _VALUE,
    ("INSERT", "OVERWRITE"): (
        "INSERT OVERWRITE replaces what a table holds once; INSERT INTO one with a PRIMARY KEY keeps it "
        "equal to the query, and a CREATE VIEW is always what its query says"
    ),
    ("INSERT", "WITH"): "INSERT WITH SCHEMA EVOLUTION; a target's columns are those that are declared",
}  # fmt: skip


def refuse_statement(cursor: Cursor) -> None:
    """Raises ProgramError for one that is known to Spark alone."""
    for words, what in _REFUSED.items():
        if cursor.sees(*words):
            cursor.fail(f"not supported: {what}")


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


_UNIT = r"\s+(?:year|month|week|day|hour|minute|(?:milli|micro)?second)s?\b"
_INTERVAL = re.compile(rf"INTERVAL(?:\s*(?:'[^']*'|[-\d.]+)(?:{_UNIT}(?:\s+TO{_UNIT})?)?)+", re.IGNORECASE)


def ignore_delays(cursor: Cursor) -> None:
    """WATERMARK ts DELAY OF i, from the cursor to the end of the statement, which it leaves where it is."""
    rest = cursor.tokens[cursor.at :]
    for at, token in enumerate(rest):
        if token.upper != "WATERMARK" or token.kind != "word":
            continue
        delay = next((i for i in range(at + 1, len(rest) - 1) if _is_delay(rest, i)), None)
        if delay is None:
            continue
        said = cursor.source.text[rest[at + 1].start : rest[delay - 1].stop]
        amount = _INTERVAL.match(cursor.source.text, rest[delay + 2].start)
        cursor.ignore(
            f"WATERMARK {said} DELAY OF",
            "a view is of all rows, as Spark's is; to let go of what is too late, declare the table's column "
            f"LATENESS {amount[0] if amount else 'INTERVAL ...'}",
            token,
        )


def _is_delay(rest: Sequence[Token], at: int) -> bool:
    return rest[at].upper == "DELAY" and rest[at + 1].upper == "OF"
