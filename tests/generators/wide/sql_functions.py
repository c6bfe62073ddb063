"""Functions in SQL that random programs call; Spark defines the same text for itself."""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from collections.abc import Iterable

# by name: what stands after CREATE FUNCTION
SQL_FUNCTIONS = {
    "sql_next": "sql_next(x BIGINT) RETURNS BIGINT RETURN x % 1000 + 1",
    "sql_label": "sql_label(x BIGINT DEFAULT 7, s STRING DEFAULT '-') RETURNS STRING RETURN s || ':' || x",
    "sql_clean": "sql_clean(s STRING) RETURNS STRING RETURN nullif(trim(regexp_replace(s, '[b-z]+', ' ')), '')",
    "sql_known": "sql_known(key_ BIGINT) RETURNS BOOLEAN RETURN EXISTS (SELECT 1 FROM t0 WHERE t0.k = key_)",
    "sql_most": "sql_most(key_ BIGINT) RETURNS BIGINT RETURN (SELECT max(k) FROM t0 WHERE t0.k < key_)",
    "sql_twice": "sql_twice(x INT) RETURNS TABLE (y INT, z INT) RETURN SELECT x, x % 1000 * 2",
    "sql_below": "sql_below(key_ BIGINT) RETURNS TABLE (y BIGINT) RETURN SELECT k FROM t0 WHERE t0.k < key_",
}
CALLS = {
    "BIGINT": [
        ("BIGINT", "sql_next({c})"),
        ("BOOLEAN", "sql_known({c})"),
        ("BIGINT", "sql_most({c})"),
        ("STRING", "sql_label({c})"),
        ("STRING", "sql_label(s => 'x', x => {c})"),
    ],
    "INT": [("BIGINT", "sql_next({c})"), ("STRING", "sql_label({c}, 'y')")],
    "STRING": [("STRING", "sql_clean({c})"), ("STRING", "sql_label(s => {c})")],
}


def called(queries: Iterable[str]) -> list[str]:
    """The functions that some of the queries call."""
    texts = list(queries)
    return [text for name, text in SQL_FUNCTIONS.items() if any(f"{name}(" in query for query in texts)]
