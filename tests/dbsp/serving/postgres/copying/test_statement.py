"""COPY as tools write it."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.copying.statement import Copy, copy_of
from dbsp.serving.postgres.language.spelling import spark_text, statements
from dbsp.serving.postgres.language.wrong import Wrong


def read(said: str) -> Copy:
    (words,) = statements(said)
    return copy_of(words)


@pytest.mark.parametrize(
    ("said", "table", "columns", "marks"),
    [
        ("COPY t FROM STDIN", "t", (), ("text", False, b"\t", b"\\N")),
        ('COPY public."T" ("A", b) FROM stdin;', "t", ("a", "b"), ("text", False, b"\t", b"\\N")),
        ("COPY s.t FROM STDIN WITH (FORMAT csv, HEADER)", "s.t", (), ("csv", True, b",", b"")),
        ("COPY  t FROM STDIN csv header", "t", (), ("csv", True, b",", b"")),
        (
            "COPY t FROM STDIN WITH CSV HEADER DELIMITER AS ';' NULL AS 'x'",
            "t",
            (),
            ("csv", True, b";", b"x"),
        ),
        (
            "COPY t FROM STDIN (FORMAT 'text', DELIMITER E'|', NULL '', HEADER false)",
            "t",
            (),
            ("text", False, b"|", b""),
        ),
        ("COPY t FROM STDIN DELIMITER '|' NULL ''", "t", (), ("text", False, b"|", b"")),
        ('COPY t FROM STDIN (FORMAT "csv")', "t", (), ("csv", False, b",", b"")),
        ("COPY t FROM STDIN (HEADER MATCH, ENCODING 'utf-8', FORMAT csv)", "t", (), ("csv", True, b",", b"")),
    ],
)
def test_into_a_table(said: str, table: str, columns: tuple[str, ...], marks: tuple[object, ...]) -> None:
    found = read(said)
    assert found.is_from and found.table == table and found.columns == columns
    assert (found.form, found.header, found.delimiter, found.null) == marks
    assert found.matches == ("MATCH" in said)


@pytest.mark.parametrize(
    ("said", "query", "form"),
    [
        ("COPY (SELECT a FROM t WHERE b IN (1)) TO STDOUT", "SELECT a FROM t WHERE b IN (1)", "text"),
        ('COPY v ("A", b) TO STDOUT (FORMAT binary)', "SELECT `a`,`b` FROM v", "binary"),
        ("COPY public.v TO stdout CSV QUOTE ''''", "SELECT * FROM v", "csv"),
        ("COPY (SUBSCRIBE TO v) TO STDOUT", "SUBSCRIBE TO v", "text"),
    ],
)
def test_out_of_a_query(said: str, query: str, form: str) -> None:
    found = read(said)
    assert (found.is_from, spark_text(found.query), found.form) == (False, query, form)


@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        ("COPY t FROM '/etc/passwd'", "0A000", "psql's .copy"),
        ("COPY t TO STDIN", "0A000", "COPY .SELECT"),
        ("COPY t", "0A000", "COPY table FROM STDIN"),
        ("COPY", "0A000", "COPY table FROM STDIN"),
        ("COPY t FROM STDIN (FORMAT binary, HEADER)", "42601", "HEADER is of text and CSV"),
        ("COPY t TO STDOUT (FORMAT binary, NULL '')", "42601", "NULL is of text and CSV"),
        ("COPY t FROM STDIN (FORMAT parquet)", "0A000", "text, csv and binary"),
        ("COPY t FROM STDIN (FORCE_NULL (a))", "0A000", "FORCE_NULL is unknown"),
        ("COPY t FROM STDIN WHERE a = 1", "0A000", "WHERE is unknown"),
        ("COPY t FROM STDIN CSV 'x'", "0A000", "'x' is unknown"),
        ("COPY t FROM STDIN (ESCAPE '!', FORMAT csv)", "0A000", "ESCAPE is the quote"),
        ("COPY t FROM STDIN (ENCODING 'latin1')", "0A000", "texts are UTF8"),
        ("COPY t FROM STDIN (DELIMITER ';;')", "22023", "one character"),
        ("COPY t FROM STDIN (DELIMITER 'n')", "22023", "could be part of a value"),
        ("COPY t FROM STDIN (FORMAT csv, NULL 'a,b')", "22023", "part of another option"),
        ("COPY t FROM STDIN (FORMAT csv, QUOTE ',')", "22023", "part of another option"),
        ("COPY t (a FROM STDIN", "0A000", "COPY"),
        ("COPY 1 FROM STDIN", "42601", "COPY table"),
    ],
)
def test_what_it_can_t_be_is_said(said: str, code: str, message: str) -> None:
    with pytest.raises(Wrong, match=message) as raised:
        _ = read(said).table
    assert raised.value.code == code
