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
    "sql_second": "sql_second(x BIGINT) RETURNS BIGINT RETURN sql_next(sql_next(x))",
    "sql_within": "sql_within(x BIGINT, low INT DEFAULT 0, high INT DEFAULT 2) RETURNS BOOLEAN RETURN x BETWEEN low AND high",
    "sql_codes": "sql_codes(s STRING) RETURNS ARRAY<INT> RETURN transform(split(s, ''), x -> ascii(x))",
    "sql_counted": "sql_counted(least BIGINT DEFAULT 1) RETURNS TABLE (y BIGINT, z BIGINT) RETURN SELECT k, count(*) FROM t0 WHERE t0.k >= least GROUP BY k",
    "sql_below": "sql_below(key_ BIGINT) RETURNS TABLE (y BIGINT) RETURN SELECT k FROM t0 WHERE t0.k < key_",
}
CALLS = {
    "BIGINT": [
        ("BIGINT", "sql_next({c})"),
        ("BOOLEAN", "sql_known({c})"),
        ("BIGINT", "sql_most({c})"),
        ("STRING", "sql_label({c})"),
        ("STRING", "sql_label(s => 'x', x => {c})"),
        ("BIGINT", "sql_second({c})"),
        ("BOOLEAN", "sql_within({c}, high => 1)"),
        ("BOOLEAN", "sql_within(low => -1, x => {c})"),
    ],
    "INT": [("BIGINT", "sql_next({c})"), ("STRING", "sql_label({c}, 'y')")],
    "STRING": [
        ("STRING", "sql_clean({c})"),
        ("STRING", "sql_label(s => {c})"),
        ("ARRAY<INT>", "sql_codes({c})"),
    ],
}


def called(queries: Iterable[str]) -> list[str]:
    """The functions that some of the queries call, and those that these call."""
    wanted: set[str] = set()
    texts = list(queries)
    while texts:
        found = {name for name in SQL_FUNCTIONS if any(f"{name}(" in text for text in texts)} - wanted
        wanted |= found
        texts = [SQL_FUNCTIONS[name].partition(")")[2] for name in found]
    return [text for name, text in SQL_FUNCTIONS.items() if name in wanted]
