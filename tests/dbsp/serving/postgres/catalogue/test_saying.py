"""What is wrong, in PostgreSQL's terms."""

from __future__ import annotations

import duckdb
import pytest

from dbsp.serving.postgres.catalogue.saying import catalogue_error


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("SELECT lenght('x')", "42883", "it has no function 'lenght'; did you mean 'length'?"),
        ("SELECT * FROM nothing(1)", "42883", "it has no function 'nothing'"),
        ("SELECT * FROM pg_clas", "42P01", "it has no table 'pg_clas'; did you mean 'pg_class'?"),
        ("SELECT 'a'::nothing", "42704", "it has no type 'nothing'"),
        ("SELECT a FROM (SELECT 1 AS b)", "42703", "it has no column 'a' there"),
        ("SELECT t.a FROM (SELECT 1 AS b) t", "42703", "it has no column 'a' there"),
        ("SELECT FROM FROM", "42601", 'syntax error at or near "FROM"'),
        ("SELECT 'a'::INT", "22000", "Could not convert string 'a' to INT32"),
    ],
)
def test_errors(query: str, code: str, said: str) -> None:
    with pytest.raises(duckdb.Error) as raised:
        duckdb.sql(query).fetchall()
    error = catalogue_error(raised.value, ["pg_class"], ["length"])
    assert (error.code, str(error)) == (code, f"the catalogue can't answer that: {said}")


def test_what_was_ended() -> None:
    error = catalogue_error(duckdb.InterruptException("INTERRUPT Error: Interrupted!"), [], [])
    assert (error.code, str(error)) == ("57014", "the catalogue can't answer that: it takes too long")
