"""Replay files written as SQL.

    INSERT INTO votes VALUES (1, 1), (2, 1);      DELETE FROM votes VALUES (1, 1);
    UPSERT INTO customer VALUES (7, 'x');         DELETE FROM customer VALUES (7);      -- by key
    STEP;                                         STEP AT TIMESTAMP '2024-01-01 10:00:00';
    ADVANCE visit.at TO TIMESTAMP '2024-01-01 10:00:00';    -- a waterline
    INSERT INTO votes VALUES (1, DEFAULT);        WITH c AS (...) DELETE FROM votes WHERE ...
    UPDATE customer SET name = upper(name) WHERE id < 9;    DELETE FROM votes WHERE user_id = 1;
    INSERT INTO votes SELECT id, 0 FROM customer;           -- as of the step before; UPSERT, MERGE too

Columns may be named, as in INSERT INTO votes (story_id, user_id) VALUES ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.commands.replays.steps import (
    Advance,
    Change,
    Evaluated,
    StepOfFile,
    advance,
    find_table,
    find_waterline,
)
from dbsp.dml.reading.statements import read_statement
from dbsp.rows.json_values import read_moment
from dbsp.rows.sql_literals import literal, text_of, typed
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Cursor, Token, tokens

_QUERIES = frozenset({"SELECT", "FROM", "TABLE", "WITH"})
_KNOWN = (
    "statements are INSERT INTO, DELETE FROM, UPSERT INTO, UPDATE, MERGE INTO, TRUNCATE, ADVANCE and STEP"
)


def read_sql(text: str, name: str, program: Program) -> Iterator[StepOfFile]:
    """The steps of the file; what follows the last STEP is one too. Raises DataError, at line and column."""
    source = Source(name, text, text, (0,), (0,), (True,))
    step = StepOfFile()
    try:
        for cursor in _statements(source):
            if cursor.accept("STEP"):
                step.clock, step.end = _clock(cursor), source.location(cursor.tokens[0].start)
                yield step
                step = StepOfFile()
            elif cursor.accept("ADVANCE"):
                step.advances.append(_advance(cursor, program))
            elif _is_evaluated(cursor):
                step.statements.append(_evaluated(cursor, program))
            else:
                _changes(cursor, step, program)
    except ProgramError as error:
        raise DataError(str(error)) from None
    if not step.is_empty:
        yield step


def _statements(source: Source) -> Iterator[Cursor]:
    current: list[Token] = []
    for token in tokens(source):
        if token.text != ";" and token.kind != "end":
            current.append(token)
        elif current:
            yield Cursor(source, [*current, Token("end", "", token.start, token.start)])
            current = []


def _clock(cursor: Cursor) -> datetime | None:
    if cursor.next.kind == "end":
        return None
    cursor.expect("AT")
    cursor.accept("TIMESTAMP")
    clock: datetime = text_of(cursor, read_moment)
    _end(cursor)
    return clock


def _advance(cursor: Cursor, program: Program) -> Advance:
    token = cursor.name("a table's name")
    cursor.expect(".")
    parts = [token.text, cursor.name("a column's name").text]
    while cursor.accept("."):  # before the table stood its schema
        parts.append(cursor.name("a column's name").text)
    *relation, column = parts
    where = cursor.source.location(token.start)
    one = find_waterline(cursor.in_use.relation(relation), column, program, where)
    cursor.expect("TO")
    where = cursor.source.location(cursor.next.start)
    value = literal(cursor)
    _end(cursor)
    return advance(one, value, program, where)


def _is_evaluated(cursor: Cursor) -> bool:
    """Whether its rows aren't listed, but found."""
    if cursor.next.upper in ("UPDATE", "TRUNCATE", "MERGE", "WITH"):
        return True
    if not any(cursor.sees(*verb) for verb in (("DELETE", "FROM"), ("INSERT", "INTO"), ("UPSERT", "INTO"))):
        return False
    words, outermost = [token.upper for token in cursor.tokens], list(_outside_of_parentheses(cursor.tokens))
    if "VALUES" in outermost:
        return bool(_QUERIES & {*outermost[2 : outermost.index("VALUES")]})
    return words[0] == "DELETE" or bool(_QUERIES & {*words})


def _outside_of_parentheses(found: Sequence[Token]) -> Iterator[str]:
    depth = 0
    for token in found:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            yield token.upper


def _evaluated(cursor: Cursor, program: Program) -> Evaluated:
    start, stop = cursor.tokens[0].start, cursor.tokens[-1].start
    file = cursor.source
    piece = Source(file.name, file.text[start:stop], file.text, (0,), (start,), (True,))
    return Evaluated(read_statement(piece, program), piece)


def _end(cursor: Cursor) -> None:
    if cursor.next.kind != "end":
        cursor.fail(f"expected ; found {cursor.next}")


def _changes(cursor: Cursor, step: StepOfFile, program: Program) -> None:
    if cursor.accept("INSERT", "INTO") or cursor.accept("DELETE", "FROM") or cursor.accept("UPSERT", "INTO"):
        verb = cursor.tokens[0].upper
    else:
        cursor.fail(f"unknown statement {cursor.next}; {_KNOWN}")
    token = cursor.relation("a table's name")
    table = find_table(token.text, program, cursor.source.location(token.start))
    if verb == "UPSERT" and not table.primary_key:
        cursor.fail(f"table '{table.name}' has no PRIMARY KEY to upsert by; use INSERT INTO", token)
    columns = _columns(cursor, table)
    if not cursor.accept("VALUES"):
        cursor.fail(f"expected VALUES, found {cursor.next}; rows are listed: VALUES (1, 'a'), (2, 'b')")
    by_key = verb == "DELETE" and bool(table.primary_key)
    changes = step.changes.setdefault(table.name, [])
    while True:
        row, where = _row(cursor, table, columns, by_key)
        changes.append(Change(row, -1 if verb == "DELETE" else 1, by_key, where))
        if not cursor.accept(","):
            break
    _end(cursor)


def _columns(cursor: Cursor, table: Table) -> list[str] | None:
    if not cursor.accept("("):
        return None
    types = {column.name.lower(): column.name for column in table.schema}
    columns: list[str] = []
    while True:
        name = cursor.name("a column's name")
        if name.text.lower() not in types:
            existing = ", ".join(types.values())
            cursor.fail(f"unknown column '{name.text}' in '{table.name}'; columns: {existing}", name)
        if types[name.text.lower()] in columns:
            cursor.fail(f"column '{name.text}' is listed twice", name)
        columns.append(types[name.text.lower()])
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return columns


def _row(cursor: Cursor, table: Table, columns: list[str] | None, by_key: bool) -> tuple[Any, str]:
    start = cursor.expect("(")
    types = {column.name: column.type for column in table.schema}
    values: list[tuple[Token, Any]] = []
    while True:
        token = cursor.next
        values.append((token, None if cursor.accept("DEFAULT") else literal(cursor)))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    names = columns or list(types)
    if columns is None and by_key and len(values) == len(table.primary_key):
        names = list(table.primary_key)
    if len(values) != len(names):
        cursor.fail(f"{len(values)} values for {len(names)} columns ({', '.join(names)})", start)
    row = {}
    for name, (token, value) in zip(names, values, strict=True):
        row[name] = typed(cursor, token, value, name, types[name])
    return row, cursor.source.location(start.start)
