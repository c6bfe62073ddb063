"""What a format can't give, or can't carry, is said by the compiler: at the column, with its cure."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

KAFKA = "USING kafka OPTIONS (subscribe 'x', `kafka.bootstrap.servers` 'h:1')"
TOPIC = "USING kafka OPTIONS (topic 'x', `kafka.bootstrap.servers` 'h:1')"
NO_TOPIC = "USING kafka OPTIONS (`kafka.bootstrap.servers` 'h:1')"
INPUTS = """\
CREATE TABLE sale (shop STRING NOT NULL, units BIGINT, note STRING);
CREATE TABLE visit (shop STRING NOT NULL, who STRING, page BINARY) WITH (append_only = true);
CREATE VIEW sold AS SELECT shop, CAST(count(*) AS STRING) AS n FROM sale GROUP BY shop;
"""


def read(spark: Any, columns: str, using: str) -> None:
    compile_program(
        f"CREATE TABLE t ({columns}) {using};\nCREATE VIEW v AS SELECT * FROM t;", "p.sql", session=spark
    )


def written(spark: Any, columns: str, using: str, insert: str) -> Any:
    text = f"{INPUTS}CREATE TABLE out ({columns}) {using};\nINSERT INTO out {insert};"
    return compile_program(text, "p.sql", session=spark).inserts[0]


@pytest.mark.parametrize(
    ("columns", "using"),
    [
        ("key BINARY, value BINARY, offset BIGINT", KAFKA),
        (
            "Value BINARY, HEADERS ARRAY<STRUCT<key: STRING, value: BINARY>>",
            KAFKA[:-1] + ", includeHeaders 'TRUE')",
        ),
        ("a BINARY, b BINARY, c STRING, d INT, e BIGINT, f TIMESTAMP, g INT", KAFKA),
        ("value BINARY, arrived TIMESTAMP DEFAULT now()", KAFKA),
        ("at TIMESTAMP, n BIGINT", "USING rate"),
        ("line STRING", "USING socket OPTIONS (host 'h', port 1)"),
        ("timestamp TIMESTAMP, value STRING", "USING socket OPTIONS (includeTimestamp true)"),
        ("content BINARY, path STRING", "USING binaryFile OPTIONS (path 'x')"),
        ("line STRING, day DATE", "USING text OPTIONS (path 'x')"),
        ("a BINARY, b DECIMAL(9, 2)", "USING csv OPTIONS (path 'x')"),
        ("a ARRAY<INT>", "USING json OPTIONS (path 'x')"),
        ("a ARRAY<INT>", "USING com.acme.Source"),
    ],
)
def test_what_a_format_gives(spark: Any, columns: str, using: str) -> None:
    read(spark, columns, using)


@pytest.mark.parametrize(
    ("columns", "using", "error"),
    [
        (
            "key STRING, value STRING",
            KAFKA,
            "1:17: column 'key' of 't' is STRING, kafka gives BINARY; declare it so, and CAST(key AS ",
        ),
        ("value BINARY, offset INT", KAFKA, "1:31: column 'offset' of 't' is INT, kafka gives BIGINT"),
        (
            "value BINARY, id BIGINT",
            KAFKA,
            "1:31: column 'id' of 't': the columns of format kafka are: key BINARY, value BINARY, "
            "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT; declare",
        ),
        ("value BINARY, headers BINARY", KAFKA, "column 'headers' of 't': the columns of format kafka"),
        ("a BIGINT, b BIGINT", "USING rate", "1:17: column 'a' of 't' is BIGINT, rate gives TIMESTAMP"),
        (
            "a BIGINT",
            "USING rate",
            "1:17: column 'a' of 't': the columns of format rate are: timestamp TIMEST",
        ),
        (
            "value STRING, timestamp TIMESTAMP",
            "USING socket",
            "column 'timestamp' of 't': the columns of format",
        ),
        ("value STRING", "USING binaryFile OPTIONS (path 'x')", "the columns of format binaryFile are: path"),
        (
            "n INT",
            "USING text OPTIONS (path 'x')",
            "1:14: text gives lines, in a column of type STRING, which",
        ),
        (
            "n INT, a ARRAY<INT>",
            "USING csv OPTIONS (path 'x')",
            "1:24: column 'a' of 't' is ARRAY<INT>: csv has",
        ),
        ("n INT", "USING jdbc", "1:14: jdbc is no stream, so it can't be read; nothing is inserted into 't'"),
        ("n INT", "USING noop", "noop is no stream"),
        (
            "n INT",
            "USING sqlite OPTIONS (path 'x')",
            "either; USING jdbc OPTIONS (url 'jdbc:...', dbtable '...') WITH",
        ),
        ("id INT, __state STRING", "USING parquet OPTIONS (path 'x')", "1:25: column '__state' of source"),
        ("id INT, __step INT", "USING com.acme.Source", "1:25: column '__step' of source 't'"),
    ],
)
def test_what_a_format_does_not_give(spark: Any, columns: str, using: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        read(spark, columns, using)
    assert error in str(raised.value)


def test_a_table_without_a_source_has_any_columns(spark: Any) -> None:
    read(spark, "id INT, __op STRING, __weight BIGINT", "")


@pytest.mark.parametrize(
    ("columns", "using", "insert", "shape"),
    [
        ("key STRING, value BINARY", TOPIC, "SELECT shop, page FROM visit", "append"),
        ("value STRING, topic STRING NOT NULL", NO_TOPIC, "SELECT who, shop FROM visit", "append"),
        ("key STRING PRIMARY KEY, value STRING", TOPIC, "SELECT shop, n FROM sold", "upsert"),
        (
            "key STRING, topic STRING NOT NULL, value STRING, PRIMARY KEY (topic, key)",
            NO_TOPIC,
            "SELECT shop, 'x', n FROM sold",
            "upsert",
        ),
        ("line STRING, __step BIGINT", "USING text OPTIONS (path 'x')", "SELECT who FROM visit", "append"),
        ("shop STRING, n STRING, __weight BIGINT", "USING jdbc", "SELECT * FROM sold", "retract"),
        ("shop STRING PRIMARY KEY, n STRING, __step BIGINT", "USING iceberg", "SELECT * FROM sold", "upsert"),
        ("shop STRING PRIMARY KEY, n STRING", "USING console", "SELECT * FROM sold", "upsert"),
    ],
)
def test_what_a_sink_carries(spark: Any, columns: str, using: str, insert: str, shape: str) -> None:
    assert written(spark, columns, using, insert).shape == shape


@pytest.mark.parametrize(
    ("columns", "using", "insert", "error"),
    [
        (
            "key STRING, value STRING, __op STRING",
            TOPIC,
            "SELECT shop, n FROM sold",
            "4:45: a record of kafka has no column '__op', it would be left out; it has key, value, "
            "headers, topic, partition; leave it out, and declare PRIMARY KEY (key), where a value",
        ),
        (
            "key STRING PRIMARY KEY, value STRING, __op STRING",
            TOPIC,
            "SELECT * FROM sold",
            "no column '__op'",
        ),
        ("key STRING, value STRING, __weight BIGINT", TOPIC, "SELECT * FROM sold", "no column '__weight'"),
        (
            "key STRING, value STRING, __step BIGINT",
            TOPIC,
            "SELECT shop, who FROM visit",
            "no column '__step'",
        ),
        (
            "value STRING, who STRING",
            TOPIC,
            "SELECT shop, who FROM visit",
            "put it into value, as by to_json",
        ),
        ("key INT, value STRING", TOPIC, "SELECT 1, who FROM visit", "is INT, kafka takes STRING or BINARY"),
        (
            "key STRING",
            TOPIC,
            "SELECT who FROM visit",
            "4:14: a record of kafka needs a value; declare a column",
        ),
        (
            "value STRING",
            NO_TOPIC,
            "SELECT who FROM visit",
            "4:14: nothing says to which topic 'out' is written",
        ),
        (
            "value STRING, topic STRING",
            NO_TOPIC,
            "SELECT who, who FROM visit",
            "4:33: column 'topic' of 'out' is",
        ),
        (
            "value STRING, topic STRING",
            TOPIC,
            "SELECT who, who FROM visit",
            "4:33: option topic of 'out' would",
        ),
        (
            "key STRING, value STRING",
            TOPIC,
            "SELECT shop, n FROM sold",
            "which a table of rows can't; declare PRIMARY KEY (key) to get the record of each key, o",
        ),
        (
            "key STRING, value STRING PRIMARY KEY",
            TOPIC,
            "SELECT n, shop FROM sold",
            "the records of kafka are told apart by their key; declare PRIMARY KEY (key) in 'out'",
        ),
        (
            "key STRING PRIMARY KEY, value STRING",
            TOPIC,
            "SELECT shop, nullif(n, '0') FROM sold",
            "a record of kafka without a value is the deletion of its key, and the query may give NULL",
        ),
        (
            "key STRING PRIMARY KEY, value STRING, partition INT",
            TOPIC,
            "SELECT *, 1 FROM sold",
            "column 'partition' of 'out' would send the deletion of a key elsewhere than its record; make it",
        ),
        (
            "shop STRING PRIMARY KEY, n STRING",
            "USING jdbc",
            "SELECT * FROM sold",
            "5:1: table 'out' has a PRIMARY KEY, but jdbc only inserts rows, so the first change of a key "
            "would fail, or be a second row; declare __weight BIGINT and no key to get the changelog",
        ),
        (
            "shop STRING PRIMARY KEY, n STRING, __op STRING",
            "USING jdbc",
            "SELECT * FROM sold",
            "jdbc only inser",
        ),
        (
            "shop STRING, n STRING",
            "USING jdbc",
            "SELECT * FROM sold",
            "declare a column __weight BIGINT in 'out' to get the changelog, or write SELECT STREAM",
        ),
        (
            "shop STRING PRIMARY KEY, n STRING",
            "USING hudi",
            "SELECT * FROM sold",
            "hudi is appended to, and nothing tells which row of a key is its last; declare a column __st",
        ),
        (
            "line STRING, __op STRING",
            "USING text OPTIONS (path 'x')",
            "SELECT shop FROM sold",
            "a line of text is one column of type STRING, 'out' has: line, __op; make one of them by ",
        ),
        (
            "line STRING",
            "USING text OPTIONS (path 'x')",
            "SELECT shop FROM sold",
            "can't; write it to another form",
        ),
        ("n INT", "USING text OPTIONS (path 'x')", "SELECT 1 FROM visit", "a line of text is one column"),
        (
            "p BINARY",
            "USING csv OPTIONS (path 'x')",
            "SELECT page FROM visit",
            "4:19: column 'p' of 'out' is BINARY",
        ),
        (
            "p ARRAY<STRING>",
            "USING csv OPTIONS (path 'x')",
            "SELECT array(who) FROM visit",
            "is ARRAY<STRING>: csv",
        ),
        (
            "p MAP<INT, INT>",
            "USING jdbc",
            "SELECT map(1, 1) FROM visit",
            "is MAP<INT, INT>: jdbc has no such valu",
        ),
        (
            "a STRING",
            "USING socket",
            "SELECT who FROM visit",
            "nothing can be inserted into 'out': socket is only",
        ),
        (
            "a STRING",
            "USING binaryFile OPTIONS (path 'x')",
            "SELECT who FROM visit",
            "binaryFile is only read",
        ),
    ],
)
def test_what_a_sink_does_not_carry(spark: Any, columns: str, using: str, insert: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        written(spark, columns, using, insert)
    assert error in str(raised.value)
