"""MERGE as it is written, which is Spark's.

MERGE INTO t [[AS] name] USING relation | (query) [[AS] name [(columns)]] ON condition
  WHEN MATCHED [AND condition] THEN UPDATE SET column = expression, ... | UPDATE SET * | DELETE
  WHEN NOT MATCHED [BY TARGET] [AND condition] THEN INSERT (columns) VALUES (...) | INSERT *
  WHEN NOT MATCHED BY SOURCE [AND condition] THEN UPDATE SET ... | DELETE

DEFAULT stands for a value, as NULL does: no column with a DEFAULT is ever NULL. DO NOTHING is PostgreSQL's.
"""

from __future__ import annotations

from dbsp.dml.reading.clauses import assigned_column, columns_listed, row_name, source_of, value_text
from dbsp.dml.statement import Merge, When
from dbsp.sql.plans.program import Table
from dbsp.sql.text.tokens import Cursor, quoted


def read_merge(cursor: Cursor, table: Table) -> Merge:
    """After the table's name. Raises ProgramError."""
    name = row_name(cursor) or table.name.rpartition(".")[2]
    cursor.expect("USING")
    source, called = source_of(cursor)
    cursor.expect("ON")
    on = _text(cursor, "ON")
    clauses = []
    while cursor.next.kind != "end":
        clauses.append(_when(cursor, table, name, called))
    if not clauses:
        cursor.fail("MERGE does nothing; add WHEN MATCHED THEN ..., or WHEN NOT MATCHED THEN ...")
    return Merge(table, name, source, on, tuple(clauses))


def _when(cursor: Cursor, table: Table, name: str, called: str) -> When:
    cursor.expect("WHEN")
    matched = not cursor.accept("NOT")
    cursor.expect("MATCHED")
    of = "matched" if matched else "source"
    if not matched and cursor.accept("BY"):
        of = "target" if cursor.accept("SOURCE") else "source"
        if of == "source":
            cursor.expect("TARGET")
    condition = _text(cursor, "AND", "THEN") if cursor.accept("AND") else ""
    cursor.expect("THEN")
    if cursor.accept("DO", "NOTHING"):
        return When(of, condition, None, stays=True)
    if of != "source" and cursor.accept("DELETE"):
        return When(of, condition, None)
    if of != "source":
        cursor.expect("UPDATE")
        cursor.expect("SET")
        return When(of, condition, _assigned(cursor, table, name, called if of == "matched" else ""))
    cursor.expect("INSERT")
    return When(of, condition, _inserted(cursor, table, called))


def _all(table: Table, called: str) -> dict[str, str]:
    return {column.name: quoted([called, column.name]) for column in table.schema}


def _assigned(cursor: Cursor, table: Table, name: str, called: str) -> dict[str, str]:
    """After SET. name: the table's row. called: the source's row; '' where there is none."""
    if called and cursor.accept("*"):
        return _all(table, called)
    texts: dict[str, str] = {}
    while True:
        column = assigned_column(cursor, table, name, texts)
        texts[column] = _value(cursor, f"{column} =", ",", "WHEN")
        if not cursor.accept(","):
            return texts


def _inserted(cursor: Cursor, table: Table, called: str) -> dict[str, str]:
    """After INSERT."""
    if cursor.accept("*"):
        return _all(table, called)
    columns = [column.name for column in table.schema]
    if cursor.sees("("):
        columns = [*columns_listed(cursor, table)]
    cursor.expect("VALUES")
    start = cursor.expect("(")
    values = [_value(cursor, "VALUES", ",")]
    while cursor.accept(","):
        values.append(_value(cursor, "VALUES", ","))
    cursor.expect(")")
    if len(values) != len(columns):
        cursor.fail(f"{len(values)} values for {len(columns)} columns ({', '.join(columns)})", start)
    return dict(zip(columns, values, strict=True))


def _value(cursor: Cursor, what: str, *ends: str) -> str:
    """The text of a value that a column gets."""
    return value_text(_text(cursor, what, *ends))


def _text(cursor: Cursor, what: str, *ends: str) -> str:
    """To one of these words, outside of parentheses and CASE; the next WHEN, where none is given."""
    ends = ends or ("WHEN",)
    start = cursor.at
    depth, at = 0, cursor.at
    while cursor.tokens[at].kind != "end":
        token = cursor.tokens[at]
        is_case = token.upper in ("CASE", "END") and cursor.tokens[at - 1].text != "."
        if depth == 0 and (token.upper in ends or token.text == ")"):
            break
        depth += (token.text == "(") - (token.text == ")")
        depth += is_case * (1 if token.upper == "CASE" else -1)
        at += 1
    if at == start:
        cursor.fail(f"{what} what?")
    return cursor.until(at).text
