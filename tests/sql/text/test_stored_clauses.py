"""Clauses of storage are read to their end, wherever they stand, and said to be ignored."""

from __future__ import annotations

from itertools import permutations

import pytest

from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.statements.session_statements import Ignored
from dbsp.sql.text.statements.statements import statements

CLAUSES = {
    "COMMENT 'a, (b'": "",
    "TBLPROPERTIES ('a.b' = 'c', d = (1))": "TBLPROPERTIES",
    "PARTITIONED BY (a, bucket(4, b))": "PARTITIONED BY",
    "CLUSTER BY (b)": "CLUSTER BY",
    "CLUSTERED BY (a) SORTED BY (b DESC) INTO 4 BUCKETS": "CLUSTERED BY",
    "DEFAULT COLLATION utf8_binary": "",
}
OF_VIEWS = {
    "CLUSTER BY AUTO": "CLUSTER BY",
    "SCHEDULE CRON '0 0 * * * ?' AT TIME ZONE 'UTC'": "SCHEDULE",
    "SCHEDULE REFRESH EVERY 1 HOUR": "SCHEDULE",
    "WITH SCHEMA TYPE EVOLUTION": "WITH SCHEMA",
}


@pytest.mark.parametrize(("first", "second"), list(permutations(CLAUSES, 2)))
def test_of_a_table(first: str, second: str) -> None:
    columns = "a INT COMMENT 'x', b INT REFERENCES u (c)"
    text = f"CREATE TABLE t ({columns}) {first} {second} USING csv OPTIONS (path 'p')"
    table, *ignored = statements(read(text, "p.sql"))
    assert isinstance(table, CreateTable)
    assert (table.format, table.options, [c.name for c in table.columns]) == (
        "csv",
        {"path": "p"},
        ["a", "b"],
    )
    assert [one.what for one in ignored if isinstance(one, Ignored)] == [
        what for what in ("REFERENCES", CLAUSES[first], CLAUSES[second]) if what
    ]


@pytest.mark.parametrize("clause", [*CLAUSES, *OF_VIEWS])
def test_of_a_view(clause: str) -> None:
    view = "CREATE OR REPLACE VIEW IF NOT EXISTS v (x COMMENT 'a', y)"
    text = f"{view} {clause} COMMENT 'c' AS SELECT a, b FROM t"
    created, *ignored = statements(read(text, "p.sql"))
    assert isinstance(created, CreateView)
    assert (created.columns, created.query.text) == (("x", "y"), "SELECT a, b FROM t")
    what = {**CLAUSES, **OF_VIEWS}[clause]
    assert [one.what for one in ignored if isinstance(one, Ignored)] == [what] * bool(what)


def test_columns_of_partitions_and_places_are_the_table_s() -> None:
    text = (
        "CREATE TABLE s.t (a INT) PARTITIONED BY (b DATE, c STRING NOT NULL) STORED AS parquet LOCATION '/x'"
    )
    table, _ = statements(read(text, "p.sql"))
    assert isinstance(table, CreateTable)
    assert [(c.name, c.type.text, c.not_null) for c in table.columns] == [
        ("a", "INT", False),
        ("b", "DATE", False),
        ("c", "STRING", True),
    ]
    assert (table.format, table.options, table.partitioned) == ("parquet", {"path": "/x"}, text.index("PART"))
