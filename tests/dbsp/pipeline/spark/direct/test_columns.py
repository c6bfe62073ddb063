"""Of which tables messages are read by columns, and what their records are."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.pipeline.spark.direct.columns import has_columns
from dbsp.pipeline.spark.records import decoded_fields
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Table

pytestmark = pytest.mark.spark


def table(spark: Any, columns: str, said: str) -> Table:
    text = f"""
    CREATE TABLE t ({columns}) USING kafka
    OPTIONS (`kafka.bootstrap.servers` 'h:1', subscribe 't') WITH ({said});
    CREATE VIEW v AS SELECT * FROM t;
    """
    return compile_program(text, session=spark).tables["t"]


@pytest.mark.parametrize(
    ("columns", "said", "are_read"),
    [
        ("a INT, s STRING, d DECIMAL(5, 2), l ARRAY<STRUCT<x: DATE>>", "format = 'json'", True),
        ("a INT, _offset BIGINT, _key BINARY, _timestamp TIMESTAMP", "format = 'json'", True),
        ("a INT PRIMARY KEY, s STRING", "format = 'json'", True),
        ("a INT PRIMARY KEY, s STRING", "format = 'json', changelog = 'debezium'", True),
        ("a INT PRIMARY KEY, s STRING", "format = 'json', changelog = 'maxwell'", True),
        ("a STRING PRIMARY KEY, s STRING", "format = 'json', key_format = 'raw'", False),
        ("a INT PRIMARY KEY, f FLOAT", "format = 'json'", False),
        ("a INT, m MAP<STRING, INT>", "format = 'json'", False),
        ("a INT, b BINARY", "format = 'json'", False),
        ("a INT, __weight BIGINT", "format = 'json'", False),
        ("a INT", "format = 'csv'", False),
        ("a STRING", "format = 'raw'", False),
    ],
)
def test_tables_that_are_read_by_columns(spark: Any, columns: str, said: str, are_read: bool) -> None:
    t = table(spark, columns, said)
    assert has_columns(t, decoded_fields(t)) == are_read
