"""What others write to Kafka is the table that they mean; what is none is refused, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.decoding import decoded
from dbsp.sql.compiler.load import compile_program
from tests.servers.kafka import Broker, messages, send

pytestmark = pytest.mark.spark


def read(spark: Any, broker: Broker, state: Path, topic: str, columns: str, said: str, more: str = "") -> Any:
    """What the table holds after each call, of one state directory."""
    text = f"""
    CREATE TABLE t ({columns}) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe '{topic}', startingOffsets 'earliest'{more}) WITH ({said});
    CREATE VIEW v AS SELECT * FROM t;
    """
    with Pipeline(
        compile_program(text, "p.sql", session=spark), state=state, spark=spark, runner="inline"
    ) as p:
        p.store.durable = False
        p.run(once=True)
        return p["v"].rows()


def test_columns_of_the_value_and_of_the_message(spark: Any, broker: Broker, tmp_path: Path) -> None:
    send(spark, broker, "seen", [("k", '{"b": [1, 2], "a": 7, "more": {}}'), (None, None), ("k", '{"a": 8}')])
    columns = "a INT, b ARRAY<INT>, _offset BIGINT, _key STRING, _topic STRING, _partition INT"
    columns += ", _timestamp TIMESTAMP"
    rows = read(spark, broker, tmp_path / "json", "seen", columns, "format = 'json', append_only = true")
    assert [row.pop("_timestamp").year >= 2024 for row in rows] == [True, True]
    assert len({row.pop("_partition") for row in rows}) == 1
    first, second = sorted((row.pop("_offset"), row) for row in rows)
    assert first[0] < second[0]
    assert (first[1], second[1]) == (
        {"a": 7, "b": [1, 2], "_key": "k", "_topic": "seen"},
        {"a": 8, "b": None, "_key": "k", "_topic": "seen"},
    )
    raw = read(spark, broker, tmp_path / "raw", "seen", "line STRING", "format = 'raw'")
    assert [row["line"] for row in raw] == ['{"a": 8}', '{"b": [1, 2], "a": 7, "more": {}}']


def test_variants_and_times_of_day(spark: Any, broker: Broker, tmp_path: Path) -> None:
    """In and out, a value of each and of none; what is none is a bad row."""
    sent = [
        '{"id": 1, "v": {"a": [1, null]}, "c": "10:00:00.5"}',
        '{"id": 2, "v": "x"}',
        '{"id": 3, "c": "25:00"}',
    ]
    send(spark, broker, "clocks", [(None, text) for text in sent])
    kafka = f"`kafka.bootstrap.servers` '{broker.servers}'"
    text = f"""
    CREATE TABLE t (id INT, v VARIANT, c TIME) USING kafka OPTIONS ({kafka}, subscribe 'clocks',
    startingOffsets 'earliest') WITH (format = 'json', append_only = true);
    CREATE VIEW w AS SELECT id, to_json(v) AS j, hour(c) AS h FROM t;
    CREATE TABLE o (id INT, v VARIANT, c TIME) USING kafka OPTIONS ({kafka}, topic 'told')
    WITH (format = 'json');
    INSERT INTO o SELECT id, v, c FROM t;
    """
    with Pipeline(compile_program(text, "p.sql", session=spark), state=tmp_path, spark=spark) as p:
        p.run(once=True)
        found = sorted(tuple(row.values()) for row in p["w"].rows())
        bad = [row["text"] for row in p["bad_rows"].rows()]
    assert (found, bad) == ([(1, '{"a":[1,null]}', 10), (2, '"x"', None)], [sent[2]])
    (told,) = messages(spark, broker, "told").values()
    written = sorted((json.loads(value) for value, _ in told), key=lambda value: value["id"])
    assert written == [{"id": 1, "v": {"a": [1, None]}, "c": "10:00:00.5"}, {"id": 2, "v": "x", "c": None}]


def test_the_last_message_of_a_key_is_its_row(spark: Any, broker: Broker, tmp_path: Path) -> None:
    """Whatever came before it in the same step, and in whichever partition."""
    sent = [(f'{{"id": {i % 40}}}', f'{{"id": {i % 40}, "n": {i}}}') for i in range(4000)]
    sent += [(f'{{"id": {i}}}', None) for i in range(10)]
    send(spark, broker, "keyed", sent)
    columns, said = "id INT PRIMARY KEY, n INT", "format = 'json'"
    assert read(spark, broker, tmp_path, "keyed", columns, said) == [
        {"id": i, "n": 3960 + i} for i in range(10, 40)
    ]
    send(spark, broker, "keyed", [('{"id": 3}', '{"id": 3, "n": null}'), ('{"id": 39}', None)])
    rows = read(spark, broker, tmp_path, "keyed", columns, said)
    assert rows == [{"id": 3, "n": None}, *({"id": i, "n": 3960 + i} for i in range(10, 39))]


def test_a_step_of_messages_and_of_files(spark: Any, broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text(
        '{"id": 1, "n": 1, "__op": "I"}\n{"id": 1, "n": 2, "__op": "U"}\n'
    )
    send(spark, broker, "beside", [('{"id": 1}', '{"id": 1, "n": 3}'), ('{"id": 1}', '{"id": 1, "n": 4}')])
    text = f"""
    CREATE TABLE a (id INT PRIMARY KEY, n INT, __op STRING) USING json OPTIONS (path '{tmp_path}/in');
    CREATE TABLE b (id INT PRIMARY KEY, n INT) USING kafka OPTIONS (subscribe 'beside',
    `kafka.bootstrap.servers` '{broker.servers}', startingOffsets 'earliest') WITH (format = 'json');
    CREATE VIEW v AS SELECT a.n AS a, b.n AS b FROM a JOIN b ON a.id = b.id;
    """
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        assert p.run(once=True) == 1
        assert p["v"].rows() == [{"a": 2, "b": 4}]


@pytest.mark.parametrize("wrapped", [False, True])
def test_envelopes_and_the_tombstones_behind_them(
    spark: Any, broker: Broker, tmp_path: Path, wrapped: bool
) -> None:
    one, two = {"id": 1, "n": 1}, {"id": 1, "n": 2}
    changes = [("c", None, one), ("u", None, two), ("r", None, {"id": 2, "n": 5}), ("d", {"id": 2}, None)]
    values = [{"op": op, "before": b, "after": a, "source": {"lsn": 1}, "ts_ms": 9} for op, b, a in changes]
    texts = [json.dumps({"schema": {}, "payload": value} if wrapped else value) for value in values]
    topic = f"envelopes{wrapped}"
    send(spark, broker, topic, [*(("k", text) for text in texts), ("k", None)])
    said = "format = 'json', changelog = 'debezium'"
    assert read(spark, broker, tmp_path, topic, "id BIGINT PRIMARY KEY, n INT", said) == [{"id": 1, "n": 2}]


def test_what_is_no_row_is_refused_or_null_as_is_said(spark: Any, broker: Broker, tmp_path: Path) -> None:
    send(spark, broker, "broken", [(None, '{"a": 1}'), (None, '{"a": "x"}'), (None, "{")])
    with pytest.raises(Error, match=r"(?i)malformed|failfast"):
        read(spark, broker, tmp_path / "fails", "broken", "a INT", "format = 'json', mode = 'fail'")
    more = ", `value.mode` 'PERMISSIVE'"
    rows = read(spark, broker, tmp_path / "nulls", "broken", "a INT", "format = 'json'", more)
    assert [row["a"] for row in rows] == [None, None, 1]


@pytest.mark.parametrize(
    ("name", "columns", "said", "good"),
    [
        ("bag", "a INT NOT NULL", "", [{"a": 1}, {"a": 3}]),
        ("keyed", "id INT PRIMARY KEY, a INT", "", [{"id": 1, "a": 1}, {"id": 2, "a": 3}]),
        ("envelopes", "id INT PRIMARY KEY, a INT", ", changelog = 'debezium'", [{"id": 9, "a": 9}]),
    ],
)
def test_what_is_no_row_is_kept_beside(
    spark: Any, broker: Broker, tmp_path: Path, name: str, columns: str, said: str, good: list[Any]
) -> None:
    values = ['{"id": 1, "a": 1}', '{"a": "x"}', "{", '{"a": null}', '{"id": 2, "a": 3}']
    values += ['{"op": "c", "after": {"id": 9, "a": 9}}'] if said else []
    send(spark, broker, f"beside_{name}", [('{"id": 1}', value) for value in values])
    text = f"""
    CREATE TABLE t ({columns}) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe 'beside_{name}', startingOffsets 'earliest') WITH (format = 'json', mode = 'keep'{said});
    CREATE VIEW v AS SELECT * FROM t;
    CREATE VIEW broken AS SELECT origin, text FROM bad_rows;
    """
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        p.run(once=True)
        assert p["v"].rows() == good
        broken = p["broken"].rows()
    assert len(broken) == len(values) - len(good)
    texts = {row["text"] for row in broken}
    assert "{" in texts and (said or '{"a": "x"}' in texts)
    assert any(row["origin"].startswith(("offset 2 of", "offset 1 of")) for row in broken)


def test_a_record_that_says_no_change_is_named_by_its_offset(
    spark: Any, broker: Broker, tmp_path: Path
) -> None:
    send(spark, broker, "nameless", [('{"id": null}', None)])
    with pytest.raises(
        Error, match=r"table 't'.*: no value; a row needs one in column 'id'.*at offset 0 of nameless-"
    ):
        read(
            spark, broker, tmp_path, "nameless", "id INT PRIMARY KEY, n INT", "format = 'json', mode = 'fail'"
        )


def test_what_nobody_reads_is_not_looked_at(spark: Any) -> None:
    """Of JSON; a NULL where none may be is, and a message that is no object."""
    text = """
    CREATE TABLE t (id INT NOT NULL, n INT, seen INT) USING kafka
    OPTIONS (`kafka.bootstrap.servers` 'x', subscribe 'y') WITH (format = 'json', append_only = true);
    CREATE VIEW v AS SELECT seen FROM t;
    """
    table = compile_program(text, "p.sql", session=spark).tables["t"]
    values = ['{"id": 1, "n": "x", "seen": 2}', '{"n": 1, "seen": 3}', '{"id": 2, "seen": "x"}', '{"id": 3']
    rows = [(None, value, "topic", 0, i) for i, value in enumerate(values)]
    given = spark.createDataFrame(
        rows, "key BINARY, value STRING, topic STRING, partition INT, offset BIGINT"
    )
    kept = given.selectExpr("key", "CAST(value AS BINARY) value", "topic", "partition", "offset")
    found = decoded(table, kept, frozenset([2])).toArrow().to_pylist()
    assert [row["n"] for row in found] == [None] * 4
    assert [row["seen"] for row in found[:2]] == [2, 3]
    assert [row["__bad_origin"] is None for row in found] == [True, False, False, False]
