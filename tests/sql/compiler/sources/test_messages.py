"""What messages can't be made of, or read as, is said at its column, with its cure."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from dbsp.views.explained.checks import notes

pytestmark = pytest.mark.spark

SOURCE = "USING kafka OPTIONS (subscribe 'x', `kafka.bootstrap.servers` 'h:1')"
REGISTRY = "schema_registry = 'http://h:1'"
TARGET = "USING kafka OPTIONS (topic 'x', `kafka.bootstrap.servers` 'h:1')"


@pytest.mark.parametrize(
    ("columns", "rest", "changelog"),
    [
        ("a INT, b ARRAY<INT>, _offset BIGINT", "WITH (format = 'json')", None),
        ("a INT, __op STRING", "WITH (format = 'csv')", "retract"),
        ("a STRING PRIMARY KEY, b INT", "WITH (format = 'json', key_format = 'raw')", "upsert"),
        ("a STRING PRIMARY KEY, b BINARY", "WITH (format = 'raw')", "upsert"),
        ("a INT PRIMARY KEY", "WITH (format = 'json', append_only = true)", None),
        ("a INT", "WITH (format = 'json', changelog = 'debezium')", "debezium"),
        (
            "a INT",
            "WITH (format = 'avro', schema_registry = 'HTTP://u:P@h:1', changelog = 'debezium')",
            "debezium",
        ),
    ],
)
def test_what_messages_are(spark: Any, columns: str, rest: str, changelog: str | None) -> None:
    text = f"CREATE TABLE t ({columns}) {SOURCE} {rest};\nCREATE VIEW v AS SELECT * FROM t;"
    assert compile_program(text, "p.sql", session=spark).tables["t"].changelog == changelog


@pytest.mark.parametrize(
    ("columns", "rest", "error"),
    [
        (
            "a INT",
            "USING json OPTIONS (path 'x') WITH (format = 'json')",
            "1:14: format of 't' is that of mess",
        ),
        ("a INT", f"{SOURCE} WITH (key_format = 'json')", "key_format of 't' needs WITH (format = 'json')"),
        (
            "a INT",
            f"{SOURCE} WITH (format = 'xml')",
            "property 'format' is json or csv or raw or avro or protobuf, not 'xml'",
        ),
        (
            "a INT",
            f"{SOURCE} WITH (format = 'avro')",
            "'t' needs OPTIONS (`value.schema` '...'), or WITH (schema",
        ),
        ("a INT", f"{SOURCE} WITH (format = 'protobuf')", "'t' needs OPTIONS (`value.message` '...')"),
        ("a INT", f"{SOURCE} WITH (format = 'json', key_format = 'raw')", "'t' is of the PRIMARY KEY's col"),
        (
            "a INT, _offset INT",
            f"{SOURCE} WITH (format = 'json')",
            "1:24: column '_offset' of 't' is INT, kafk",
        ),
        ("_offset BIGINT", f"{SOURCE} WITH (format = 'json')", "'t' has no column that is in the value of a"),
        ("a INT", f"{SOURCE} WITH (format = 'raw')", "format = 'raw' of 't' is of one column, STRING or BIN"),
        (
            "a MAP<INT, INT>",
            f"{SOURCE} WITH (format = 'csv')",
            "1:17: format = 'csv' of 't' has no values of",
        ),
        (
            "a INT",
            f"{SOURCE} WITH (format = 'csv', changelog = 'debezium')",
            "'t' has envelopes of debezium, which are WITH (format = 'json' or 'avro')",
        ),
        (
            "a INT PRIMARY KEY",
            f"{SOURCE} WITH (format = 'avro', {REGISTRY}, changelog = 'maxwell')",
            "'t' has envelopes of maxwell, which are WITH (format = 'json')",
        ),
        (
            "a INT",
            f"{SOURCE} WITH (format = 'json', {REGISTRY})",
            "schema_registry of 't' is of messages WITH (format = 'avro'); leave it out",
        ),
        (
            "a INT",
            f"USING json OPTIONS (path 'x') WITH ({REGISTRY})",
            "schema_registry of 't' is of messages",
        ),
        (
            "a INT",
            f"{SOURCE} WITH (format = 'avro', schema_registry = 'host:8081')",
            "schema_registry of 't' is 'http://host:8081', or https",
        ),
        (
            "`a b` INT",
            f"{SOURCE} WITH (format = 'avro', {REGISTRY})",
            "1:17: format = 'avro' of 't': column 'a b': avro has no such names, which have letters",
        ),
        (
            "a INT, b ARRAY<INTERVAL DAY TO SECOND>",
            f"{SOURCE} WITH (format = 'avro', {REGISTRY})",
            "1:24: format = 'avro' of 't': column 'b': avro has no values of INTERVAL DAY TO SECOND; declare",
        ),
        (
            "a MAP<INT, INT>",
            f"{SOURCE} WITH (format = 'avro', {REGISTRY})",
            "column 'a': avro has maps by STRING only",
        ),
        (
            "a INT, _offset BIGINT",
            f"{SOURCE} WITH (format = 'json', changelog = 'debezium')",
            "1:24: column '_offset' of 't' is nothing that an envelope of debezium has",
        ),
    ],
)
def test_what_they_can_t_be(spark: Any, columns: str, rest: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(
            f"CREATE TABLE t ({columns}) {rest};\nCREATE VIEW v AS SELECT * FROM t;", "p.sql", session=spark
        )
    assert error in str(raised.value)


def written(columns: str, rest: str, query: str) -> str:
    source = "CREATE TABLE s (a INT NOT NULL, b STRING);\n"
    return f"{source}CREATE TABLE t ({columns}) {rest};\nINSERT INTO t {query};"


@pytest.mark.parametrize(
    ("columns", "rest", "error"),
    [
        (
            "a INT, _offset BIGINT",
            TARGET,
            "2:24: column '_offset' of 't' is what Kafka says of a message that",
        ),
        ("a INT", SOURCE, "2:14: nothing says to which topic 't' is written"),
        (
            "a INT",
            TARGET,
            "what is inserted into 't' can retract rows, which a table of rows can't; declare a col",
        ),
        ("a INT PRIMARY KEY", TARGET, "what is inserted has no stream key, so a key could have several rows"),
    ],
)
def test_what_is_not_written(spark: Any, columns: str, rest: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(
            written(columns, f"{rest} WITH (format = 'json')", "SELECT a FROM s"), "p.sql", session=spark
        )
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("columns", "said", "query", "promise"),
    [
        (
            "a INT, __weight BIGINT",
            "",
            "SELECT a FROM s",
            "retract, at least once: .*; the header step tells",
        ),
        (
            "a INT",
            ", changelog = 'debezium'",
            "SELECT a FROM s",
            "retract, at least once: .*; the header step",
        ),
        (
            "a INT PRIMARY KEY",
            "",
            "SELECT DISTINCT a FROM s",
            "upsert, .*, which leaves each key the same last",
        ),
    ],
)
def test_what_check_says(spark: Any, columns: str, said: str, query: str, promise: str) -> None:
    text = written(columns, f"{TARGET} WITH (format = 'json'{said})", query)
    assert re.match(f"sink t: {promise}", next(notes(compile_program(text, "p.sql", session=spark))))
