"""What a source's records are: as its columns say, or WITH; what can't be is said with its place and cure."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Table

pytestmark = pytest.mark.spark

FILES = "USING json OPTIONS (path 'x')"


def declared(spark: Any, columns: str, rest: str = FILES) -> Table:
    text = f"CREATE TABLE t ({columns}) {rest};\nCREATE VIEW v AS SELECT * FROM t;"
    return compile_program(text, "p.sql", session=spark).tables["t"]


@pytest.mark.parametrize(
    ("columns", "properties", "changelog", "own"),
    [
        ("a INT, b INT", "", None, ["a", "b"]),
        ("a INT, b INT", "WITH (changelog = 'append', append_only = true)", None, ["a", "b"]),
        ("a INT, __Weight BIGINT, b INT", "", "retract", ["a", "b"]),
        ("__op STRING, a INT, __step BIGINT", "", "retract", ["a"]),
        ("a INT PRIMARY KEY, __op STRING, b INT", "", "upsert", ["a", "b"]),
        ("a INT PRIMARY KEY, b INT NOT NULL", "WITH (changelog = 'UPSERT')", "upsert", ["a", "b"]),
        ("a INT PRIMARY KEY, b INT", "WITH (changelog = 'debezium')", "debezium", ["a", "b"]),
        ("a INT, op INT", "WITH (changelog = 'debezium')", "debezium", ["a", "op"]),
        ("a INT PRIMARY KEY, b INT", "WITH (changelog = 'maxwell')", "maxwell", ["a", "b"]),
        ("a INT, b INT", "WITH (changelog = 'change-data-feed')", "change-data-feed", ["a", "b"]),
    ],
)
def test_what_records_are(
    spark: Any, columns: str, properties: str, changelog: str | None, own: list[str]
) -> None:
    found = declared(spark, columns, f"{FILES} {properties}")
    assert (found.changelog, [field.name for field in found.schema]) == (changelog, own)


def test_a_column_after_a_mark_keeps_what_is_declared_of_it(spark: Any) -> None:
    table = declared(spark, "__op STRING, a INT PRIMARY KEY, n INT LATENESS 5, m INT DEFAULT 3")
    assert (table.lateness[0].column, table.defaults[0].column) == (1, 2)


def test_no_view_sees_a_mark(spark: Any) -> None:
    text = f"CREATE TABLE t (a INT, __op STRING) {FILES};\nCREATE VIEW v AS SELECT __op FROM t;"
    with pytest.raises(ProgramError, match="unknown column '__op'"):
        compile_program(text, "p.sql", session=spark)


@pytest.mark.parametrize(
    ("columns", "rest", "error"),
    [
        (
            "a INT, __op STRING",
            f"{FILES} WITH (append_only = true)",
            "p.sql:1:24: column '__op' of source 't' is what a sink writes of changes, and this source's",
        ),
        ("a INT, __step BIGINT", FILES, "p.sql:1:24: column '__step' of source 't' is what a sink writes"),
        (
            "a INT, __op STRING",
            f"{FILES} WITH (changelog = 'append')",
            "leave it out, or declare WITH (changelog = 'retract' or 'upsert') and no append_only",
        ),
        (
            "a INT, __op STRING",
            f"{FILES} WITH (append_only = true, changelog = 'retract')",
            "p.sql:1:14: source 't' is append_only, and changelog = 'retract' takes rows back; leave out one",
        ),
        (
            "a INT PRIMARY KEY, __weight BIGINT",
            f"{FILES} WITH (changelog = 'retract')",
            "source 't' has a PRIMARY KEY, and a record of changelog = 'retract' takes back any row; leave",
        ),
        (
            "a INT",
            f"{FILES} WITH (changelog = 'retract')",
            "nothing that says what changelog = 'retract' takes back; declare a column __weight BIGINT or",
        ),
        (
            "a INT, __op STRING",
            f"{FILES} WITH (changelog = 'upsert')",
            "source 't' has no key to upsert by; declare PRIMARY KEY (...), or changelog = 'retract' with",
        ),
        (
            "a INT PRIMARY KEY, b INT",
            f"{FILES} WITH (changelog = 'upsert')",
            "nothing that tells the deletion of a key from a row with NULLs; declare __op STRING, or a col",
        ),
        ("a INT, __op INT", FILES, "p.sql:1:24: column '__op' of source 't' is read as STRING; declare it"),
        ("a INT, __weight INT", FILES, "column '__weight' of source 't' is read as BIGINT; declare it so"),
        (
            "a INT, __op STRING",
            f"{FILES} WITH (changelog = 'debezium')",
            "p.sql:1:24: column '__op' of source 't' is nothing that a record of debezium has; leave it",
        ),
        (
            "a INT",
            "USING csv OPTIONS (path 'x') WITH (changelog = 'debezium')",
            "source 't' USING csv has no envelopes; changelog = 'debezium' is of json, avro, parquet, orc",
        ),
        (
            "a INT PRIMARY KEY, __op STRING",
            "USING json OPTIONS (path 'x', latestFirst 'true')",
            "source 't' is read in the order of its records, so not latestFirst; leave that option out",
        ),
        ("a STRING, __op STRING", "USING text OPTIONS (path 'x')", "is none that text gives; leave it out"),
        (
            "value BINARY, __op STRING",
            "USING kafka OPTIONS (subscribe 'x')",
            "p.sql:1:31: column '__op' of source 't' is none that kafka gives; leave it out",
        ),
        ("a INT", "WITH (changelog = 'retract')", "changelog is of a source or a target; 't' has no USING"),
        (
            "a INT",
            f"{FILES} WITH (changelog = 'canal')",
            "debezium or maxwell or change-data-feed, not 'canal'",
        ),
        (
            "a INT",
            f"{FILES} WITH (changelog = 'maxwell')",
            "source 't' has no key, and Maxwell doesn't tell all",
        ),
        (
            "a INT PRIMARY KEY, __op STRING",
            f"{FILES} WITH (changelog = 'change-data-feed')",
            "column '__op' of source 't' is nothing that a record of change-data-feed has; leave it out",
        ),
        (
            "a INT",
            "USING delta OPTIONS (path 'x') WITH (changelog = 'change-data-feed')",
            "is read without its changes; add OPTIONS",
        ),
    ],
)
def test_what_records_can_t_be(spark: Any, columns: str, rest: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        declared(spark, columns, rest)
    assert error in str(raised.value)


def test_an_envelope_is_never_written(spark: Any) -> None:
    text = (
        "CREATE TABLE t (a INT);\n"
        "CREATE TABLE out (a INT) USING json OPTIONS (path 'x') WITH (changelog = 'debezium');\n"
        "INSERT INTO out SELECT * FROM t;"
    )
    with pytest.raises(ProgramError, match=r"p.sql:3:1: changelog = 'debezium' of 'out' is only read"):
        compile_program(text, "p.sql", session=spark)
