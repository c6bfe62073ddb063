"""Strings that stand where a relation would, and no others."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.spellings.file_relations import file_relations
from dbsp.sql.text.source import as_it_is


def found(text: str) -> list[tuple[str, str, str]]:
    return [(one.path, one.format, one.stem) for one in file_relations(as_it_is(text, "p.sql"))]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("SELECT * FROM 'a.csv'", ["a.csv"]),
        ('SELECT * FROM "a.csv" a', ["a.csv"]),
        ("FROM 'a.csv'", ["a.csv"]),
        ("CREATE VIEW v AS FROM 'a.csv' SELECT x", ["a.csv"]),
        ("SELECT * FROM t, 'a.csv' a, 'b.json' b WHERE x = 'c.csv'", ["a.csv", "b.json"]),
        ("SELECT * FROM t LEFT JOIN 'a.csv' a ON a.x = 'y.csv' JOIN 'b.orc' b USING (x)", ["a.csv", "b.orc"]),
        ("SELECT (SELECT max(x) FROM 'a.csv'), 'b.csv', x FROM (SELECT * FROM 'c.csv')", ["a.csv", "c.csv"]),
        (
            "SELECT * FROM t WHERE x IN (SELECT x FROM 'a.csv') UNION SELECT x FROM 'b.csv'",
            ["a.csv", "b.csv"],
        ),
        ("WITH c AS (SELECT * FROM 'a.csv') SELECT * FROM c JOIN 'a.csv' d", ["a.csv", "a.csv"]),
        # FROM, and commas, of expressions
        ("SELECT trim(BOTH 'x' FROM 'a.csv'), extract(YEAR FROM '2024.csv'), 'b.csv' FROM t", []),
        ("SELECT x IS DISTINCT FROM 'a.csv', x IS NOT DISTINCT FROM 'b.csv' FROM t", []),
        ("SELECT x FROM t WHERE x IS DISTINCT FROM 'a.csv' GROUP BY x, 'b.csv'", []),
        ("CREATE TABLE t (x INT DEFAULT 1) USING csv OPTIONS (path 'a.csv', sep ',')", []),
        ("INSERT INTO t VALUES ('a.csv', 'b.csv')", []),
        ("SELECT * FROM VALUES 'a.csv', 'b.c' AS t(x), 'c.csv'", ["c.csv"]),
        (
            "SELECT * FROM VALUES 'a', 'b.c' t(x) JOIN 'c.csv' UNION SELECT 1, 'd' FROM 'e.csv'",
            ["c.csv", "e.csv"],
        ),
    ],
)
def test_where_a_file_is_a_relation(text: str, paths: list[str]) -> None:
    assert [path for path, _, _ in found(text)] == paths


@pytest.mark.parametrize(
    ("path", "format_", "stem"),
    [
        ("in/orders.csv", "csv", "orders"),
        ("in/orders-2024.tsv.gz", "csv", "orders_2024"),
        ("log/*.ndjson", "json", "log"),
        ("s3://bucket/log/*/*.parquet", "parquet", "log"),
        ("part*.ORC", "orc", "part"),
        ("*.jsonl", "json", "files"),
    ],
)
def test_its_format_is_its_ending(path: str, format_: str, stem: str) -> None:
    assert found(f"SELECT * FROM '{path}'") == [(path, format_, stem)]


def test_a_name_that_says_nothing_is_refused_at_its_place() -> None:
    with pytest.raises(ProgramError) as raised:
        found("SELECT *\nFROM 'in/orders' o")
    assert str(raised.value).startswith(
        "p.sql:2:6: 'in/orders' doesn't say what its files are; its name ends in"
    )
