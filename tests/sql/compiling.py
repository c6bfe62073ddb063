"""Compiling small programs in tests."""

from __future__ import annotations

from typing import Any

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program, View

TABLES = """\
CREATE TABLE orders (id BIGINT NOT NULL, customer INT, amount DECIMAL(10,2), price DOUBLE, note STRING, \
ts TIMESTAMP);
CREATE TABLE customer (id INT PRIMARY KEY, name STRING, since DATE);
CREATE TABLE event (id BIGINT NOT NULL, kind STRING, ts TIMESTAMP) WITH (append_only = true);
CREATE TABLE out (id BIGINT, note STRING NOT NULL) USING csv OPTIONS (path 'out');
"""


def compiled(text: str, spark: Any) -> Program:
    return compile_program(TABLES + text, "p.sql", session=spark)


def view(query: str, spark: Any) -> View:
    return compiled(f"CREATE VIEW v AS {query}", spark).views["v"]
