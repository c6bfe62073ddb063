from __future__ import annotations

import pytest

from dbsp.declared.project.dialect import read_text
from dbsp.sql.text.source import as_it_is

KEPT = "CONSTRAINT c EXPECT (f(a, 1) > 0) ON VIOLATION DROP ROW"


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [
        ("CREATE OR REFRESH STREAMING TABLE s;", "CREATE STREAMING TABLE s;", 0),
        (f"CREATE MATERIALIZED VIEW m ({KEPT}) AS SELECT 1", "CREATE MATERIALIZED VIEW m AS SELECT 1", 1),
        (
            f"CREATE STREAMING TABLE IF NOT EXISTS c.`d`.m (a INT, {KEPT}, b INT COMMENT ',)') AS SELECT 1",
            "CREATE STREAMING TABLE IF NOT EXISTS c.`d`.m (a INT, b INT COMMENT ',)') AS SELECT 1",
            1,
        ),
        (
            f"CREATE OR REFRESH MATERIALIZED VIEW m ({KEPT}, {KEPT}, a INT, {KEPT}) AS SELECT 1",
            "CREATE MATERIALIZED VIEW m ( a INT) AS SELECT 1",
            3,
        ),
        (
            "CREATE MATERIALIZED VIEW m (a INT, CONSTRAINT p PRIMARY KEY (a)) AS SELECT 1",
            "CREATE MATERIALIZED VIEW m (a INT, CONSTRAINT p PRIMARY KEY (a)) AS SELECT 1",
            0,
        ),
        ("SELECT 'CREATE OR REFRESH STREAMING TABLE s'", "SELECT 'CREATE OR REFRESH STREAMING TABLE s'", 0),
        ("CREATE OR REFRESH STREAMING TABLE 'open", "CREATE OR REFRESH STREAMING TABLE 'open", 0),
        ("CREATE MATERIALIZED VIEW m (", "CREATE MATERIALIZED VIEW m (", 0),
        ("CREATE MATERIALIZED VIEW m () AS SELECT 1", "CREATE MATERIALIZED VIEW m () AS SELECT 1", 0),
    ],
)
def test_what_spark_lacks_is_taken_out(written, read, expected):
    text = f"-- first\n{written}"
    found = read_text(text, "a.sql")
    assert "".join(found.text.split()) == "".join(f"-- first\n{read}".split())
    assert len(found.text) == len(text)
    clauses = found.within(0, len(text))
    assert [clause.text for clause in clauses] == [KEPT] * expected
    for clause in clauses:  # which lie where they say
        at = clause.place.column - 1
        assert text.split("\n")[clause.place.line - 1][at : at + len(KEPT)] == KEPT


def test_what_stays_has_its_place():
    text = f"CREATE OR REFRESH MATERIALIZED VIEW m (\n  {KEPT}\n) AS\nSELECT a"
    found = read_text(text, "a.sql").text
    places = [as_it_is(each, "a.sql").position(each.index("SELECT")) for each in (text, found)]
    assert places == [(4, 1), (4, 1)]
    assert read_text(text, "a.sql").within(1, 9) == ()
