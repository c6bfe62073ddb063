"""Types of other systems are spelled as Spark's where a type stands, and nowhere else."""

from __future__ import annotations

import pytest

from dbsp.sql.spellings.rewriting import rewritten
from dbsp.sql.spellings.type_names import spelled_column_type, spelled_type
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Slice, tokens


# ruff: noqa: E501  a case a line
@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("VARCHAR", "STRING"),
        ("varchar(3)", "varchar(3)"),
        ("Text", "STRING"),
        ("DATETIME", "TIMESTAMP"),
        ("MAP<TEXT, ARRAY<VARCHAR>>", "MAP<STRING, ARRAY<STRING>>"),
        ("STRUCT<text: TEXT NOT NULL, datetime DATETIME COMMENT 'text', `text` TEXT>",
         "STRUCT<text: STRING NOT NULL, datetime TIMESTAMP COMMENT 'text', `text` STRING>"),
    ],
)  # fmt: skip
def test_of_columns(written: str, spelled: str) -> None:
    assert spelled_column_type(as_it_is(written, "p.sql"), Slice(written, 0)).text == spelled


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("SELECT CAST(a AS TEXT) AS text, text FROM text", "SELECT CAST(a AS STRING) AS text, text FROM text"),
        ("SELECT a::text AS b", "SELECT a::STRING AS b"),
        ("SELECT a::text::datetime", "SELECT a::STRING::TIMESTAMP"),
        ("SELECT try_cast(f(a, b) AS MAP<TEXT, VARCHAR(2)>)", "SELECT try_cast(f(a, b) AS MAP<STRING, VARCHAR(2)>)"),
        ("SELECT (SELECT a AS text), CAST((SELECT b AS text) AS INT)",
         "SELECT (SELECT a AS text), CAST((SELECT b AS text) AS INT)"),
        ("SELECT f(text, datetime) FROM t AS char", "SELECT f(text, datetime) FROM t AS char"),
    ],
)  # fmt: skip
def test_of_casts(written: str, spelled: str) -> None:
    source = as_it_is(written, "p.sql")
    inside = tokens(source)
    names = {"TEXT", "DATETIME", "VARCHAR", "CHAR"}
    edits = [spelled_type(inside, i) for i, token in enumerate(inside) if token.upper in names]
    assert rewritten(source, Slice(written, 0), [edit for edit in edits if edit]).text == spelled
