"""What becomes of each example of Spark's grammar: maintained, ignored or refused, and what is said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.compiler.compile import Compiler
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.text.source import read
from dbsp.sql.text.statements.session_statements import Ignored, Setting, Use
from dbsp.sql.text.statements.statements import statements

FOLDER = Path(__file__).parent
TABLES = """
CREATE TABLE t (id INT, k INT, s STRING, x DOUBLE, d DECIMAL(10,2), dt DATE, ts TIMESTAMP, tm TIME,
                a ARRAY<INT>, m MAP<STRING, INT>, st STRUCT<x: INT, y: STRING>, v VARIANT);
CREATE TABLE u (id INT, k INT, s STRING, dt DATE, ts TIMESTAMP);
CREATE TABLE spans (id INT, starts TIMESTAMP, ends TIMESTAMP, amount DOUBLE);
"""
_TARGET = "CREATE TABLE target (k INT, __weight BIGINT) USING parquet LOCATION 'data/out';\n"


@dataclass(frozen=True)
class Outcome:
    """kind: 'maintained', 'ignored' or 'refused'. said: the notes, or the error, without its place."""

    kind: str
    said: str = ""


def examples(file: str) -> list[str]:
    """The paragraphs of a file here."""
    return re.split(r"\n\s*\n", (FOLDER / file).read_text(encoding="utf-8").strip())


def of_queries(spark: Any, queries: list[str]) -> dict[str, Outcome]:
    """Each as a view of one program: its tables are known to Spark once."""
    views = "".join(f"CREATE VIEW v{n} AS\n{query};\n" for n, query in enumerate(queries))
    source = read(TABLES + views, "examples.sql")
    compiler = Compiler(Scope(source, Catalyst(spark, "UTC"), frozenset(), frozenset(), False))
    tables, found = TABLES.count("CREATE TABLE"), []
    # what a query has beside it that says nothing is a statement of its own
    parsed = [statement for statement in statements(source) if not isinstance(statement, Ignored)]
    for number, statement in enumerate(parsed):
        try:
            compiler.add(statement)
            found.append(Outcome("maintained"))
        except ProgramError as error:
            assert number >= tables, error
            found.append(Outcome("refused", _said(error)))
    return dict(zip(queries, found[tables:], strict=True))


def of_statements(spark: Any, texts: list[str]) -> dict[str, Outcome]:
    """Each in a program of its own."""
    return {text: _of_statement(spark, text) for text in texts}


def _of_statement(spark: Any, text: str) -> Outcome:
    try:
        parsed = statements(read(f"{text};", "examples.sql"))
    except ProgramError as error:
        return Outcome("refused", _said(error))
    if all(isinstance(each, Ignored) for each in parsed):
        return Outcome("ignored", "; ".join(each.why for each in parsed if isinstance(each, Ignored)))
    program = f"{TABLES}{_TARGET * ('target' in text)}{text};\nCREATE VIEW last AS SELECT 1 AS one;"
    try:
        notes = [note.split(" ", 1)[1] for note in compile_program(program, session=spark).notes]
    except ProgramError as error:
        return Outcome("refused", _said(error))
    is_session = all(isinstance(each, Use | Setting | Ignored) for each in parsed)
    return Outcome("ignored" if is_session and notes else "maintained", "; ".join(notes))


def maintained_program(outcomes: dict[str, Outcome]) -> str:
    """Of the queries that are maintained."""
    kept = [query for query, outcome in outcomes.items() if outcome.kind == "maintained"]
    return TABLES + "".join(f"CREATE VIEW v{n} AS\n{query};\n" for n, query in enumerate(kept))


def _said(error: ProgramError) -> str:
    """Without the place, and without the number that Spark gives what has no name."""
    return re.sub(r"\b_\d+\b", "_1", str(error).split(" ", 1)[1])
