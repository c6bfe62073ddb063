"""Messages read past the JVM make the same tables and the same bad rows as those that Spark reads."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.direct import client, decoded, reading
from dbsp.pipeline.spark.direct.reading import DirectReading
from dbsp.pipeline.spark.runs.streaming import Run
from dbsp.sql.compiler.load import compile_program
from tests.effort import is_long
from tests.servers.kafka import Broker, send

pytestmark = pytest.mark.spark

COLUMNS = "n BIGINT{0}, s STRING, d DECIMAL(7, 2), x DOUBLE, at TIMESTAMP, l ARRAY<INT>, b STRUCT<y: DATE>"
# of a topic's messages what they are, the table's columns and what is said of it
TOPICS = {
    "bag": ("row", f"id INT, {COLUMNS.format(' NOT NULL')}, _offset BIGINT, _partition INT, _key STRING", ""),
    "keyed": ("upsert", f"id INT PRIMARY KEY, {COLUMNS.format('')}, _timestamp TIMESTAMP", ""),
    "envelopes": ("envelope", f"id INT PRIMARY KEY, {COLUMNS.format('')}", ", changelog = 'debezium'"),
}
# an option that librdkafka hasn't, so that Spark reads
BY_SPARK = ", groupIdPrefix 'dbsp'"


def program(broker: Broker, topic: str, more: str) -> str:
    _, columns, said = TOPICS[topic]
    return f"""
    CREATE TABLE t ({columns}) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe 'read_{topic}', startingOffsets 'earliest', maxOffsetsPerTrigger '400'{more})
    WITH (format = 'json'{said});
    CREATE VIEW v AS SELECT * FROM t;
    CREATE VIEW bad AS SELECT * FROM bad_rows;
    """


def row(draw: random.Random, broken: float) -> dict[str, Any]:
    """One value in `broken` is of another type, or spelled in a way of Spark's own."""
    found: dict[str, Any] = {"id": draw.randrange(30)}
    values = {
        "n": (draw.randrange(10**12), ["1", 1.5, 2**63, None]),
        "s": (draw.choice(["", "a", "é\n", '"}\n{']), [1, {"a": 1}]),
        "d": (draw.randrange(-999, 999) / 4, [1.005, 1e9, "1.5", "1,000.5"]),
        "x": (draw.random(), [-0.0, "NaN", 7]),
        "at": (
            f"2024-01-0{draw.randrange(1, 9)}T10:00:00.5Z",
            ["2024-1-1", 12345, "now", "2024-01-01T10:00:00"],
        ),
        "l": ([1, None], [1, ["x"], {}]),
        "b": ({"y": "2024-02-29"}, [{"y": "2024-2-29"}, {"y": 1}, [], "x"]),
    }
    for name, (good, others) in values.items():
        if draw.random() < 0.9 or name == "n":
            found[name] = draw.choice(others) if draw.random() < broken else good
    return found


def message(draw: random.Random, kind: str, broken: float) -> tuple[str | None, str | None]:
    given = row(draw, broken)
    key = json.dumps({"id": given["id"]})
    if draw.random() < broken:
        return draw.choice([key, None, "{", '{"id": "x"}']), draw.choice(
            [None, "", "{", "[]", json.dumps(given)[:-3]]
        )
    if kind == "upsert" and draw.random() < 0.3:
        return key, None
    if kind == "envelope":
        op, gone = draw.choice("crud"), {"id": given["id"]}
        sides = (
            {"before": given, "after": None}
            if op == "d"
            else {"before": draw.choice([None, gone]), "after": given}
        )
        envelope = {**sides, "op": op, "source": {"lsn": 1}}
        return key, json.dumps({"schema": {}, "payload": envelope} if draw.random() < 0.1 else envelope)
    return key, json.dumps(given)


def test_rows_arrive_in_the_order_of_their_offsets(
    spark: Any, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever decodes them: Arrow, or Spark what is broken and what stands beside it."""
    monkeypatch.setattr(client, "UNIT", 50)
    monkeypatch.setattr(decoded, "_LEAST", 3)
    draw = random.Random(5)
    send(spark, broker, "read_order", [message(draw, "row", 0.1) for _ in range(600)])
    text = f"""
    CREATE TABLE t (id INT, s STRING, _offset BIGINT, _partition INT) USING kafka OPTIONS (
      `kafka.bootstrap.servers` '{broker.servers}', subscribe 'read_order', startingOffsets 'earliest'
    ) WITH (format = 'json');
    CREATE VIEW v AS SELECT _partition, collect_list(_offset) AS arrived FROM t GROUP BY _partition;
    CREATE VIEW bad AS SELECT * FROM bad_rows;
    """
    lists, bad, _ = found(spark, text, tmp_path / "s")
    arrived = [row["arrived"] for row in lists]
    assert all(offsets == sorted(offsets) for offsets in arrived)
    assert sum(map(len, arrived)) > 400
    assert bad


def found(spark: Any, text: str, state: Path) -> tuple[list[Any], list[Any], int]:
    with Pipeline(compile_program(text, session=spark), state=state, spark=spark, runner="inline") as p:
        p.store.durable = False
        p.run(once=True)
        return p["v"].rows(), p["bad"].rows(), p.last_step


@pytest.mark.parametrize("topic", TOPICS)
def test_every_way_makes_the_same(
    spark: Any, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topic: str
) -> None:
    """Of messages none, few or most are broken, in steps; ahead, in spans here or by tasks, by Spark."""
    draw = random.Random(topic)
    monkeypatch.setattr(client, "UNIT", 100)
    monkeypatch.setattr(decoded, "_LEAST", 3)
    # what is tried of a unit ends early, too
    monkeypatch.setattr(decoded, "_ATTEMPTS", 12)
    monkeypatch.setattr(DirectReading, "staged", _counted(DirectReading.staged, spans := []))
    monkeypatch.setattr(DirectReading, "rows", _counted(DirectReading.rows, ahead := []))
    for number, broken in enumerate((0.0, 0.01, 0.3)):
        sent = [message(draw, TOPICS[topic][0], broken) for _ in range(1500 if is_long() else 500)]
        send(spark, broker, f"read_{topic}", sent)
        fed = found(spark, program(broker, topic, ""), tmp_path / "fed")
        assert ahead, "nothing was read so"
        with monkeypatch.context() as planned:
            planned.setattr(DirectReading, "is_planned_here", False)
            if number:
                planned.setattr(reading, "_SMALL", 10_000 if number == 1 else 0)
            in_spans = found(spark, program(broker, topic, ""), tmp_path / "spans")
        assert spans, "nothing was read so"
        wanted = found(spark, program(broker, topic, BY_SPARK), tmp_path / "spark")
        assert repr(in_spans) == repr(wanted)  # a NaN is none to ==
        assert repr(without_steps(fed)) == repr(without_steps(wanted))
        assert bool(wanted[1]) == (number > 0)


def without_steps(answer: tuple[list[Any], list[Any], int]) -> tuple[list[Any], list[Any]]:
    """Nobody plans what a step takes of each partition of what is read ahead."""
    rows, bad, _ = answer
    return rows, sorted(({**row, "step": None} for row in bad), key=repr)


def _counted(read: Any, taken: list[object]) -> Any:
    def count(self: DirectReading, *given: Any) -> Any:
        taken.append(given)
        return read(self, *given)

    return count


@pytest.mark.parametrize(
    ("option", "is_direct"),
    [
        ("`kafka.isolation.level` 'read_committed'", True),
        ("failOnDataLoss 'true'", True),
        ("failOnDataLoss 'false'", False),
        ("`kafka.security.protocol` 'SSL'", False),
        ("`value.timestampFormat` 'yyyy'", False),
        ("includeHeaders 'true'", False),
    ],
)
def test_options_that_another_client_has_too(
    spark: Any, broker: Broker, tmp_path: Path, option: str, is_direct: bool
) -> None:
    text = program(broker, "bag", f", {option}")
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        run = Run(p, None, threading.Event())
        assert run.direct.take(0, run.tables[0]) == is_direct


def test_a_session_with_old_rules_of_times_is_spark_s(spark: Any, broker: Broker) -> None:
    program_ = compile_program(program(broker, "bag", ""), session=spark)
    spark.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    try:
        with Pipeline(program_, spark=spark, runner="inline") as p:
            run = Run(p, None, threading.Event())
            assert not run.direct.take(0, run.tables[0])
    finally:
        spark.conf.unset("spark.sql.legacy.timeParserPolicy")


KILLED = """
import os, signal, sys
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.direct import reading
from dbsp.running.spark.session import session
from dbsp.running.spark.settings import Settings
from tests.servers.jars import connector

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

text, state, point, planned = sys.argv[1:]
spark = session(settings=Settings(jars=tuple(connector())))
with Pipeline(sql=text, state=state, spark=spark, runner="inline") as p:
    if planned == "spark":
        reading.DirectReading.is_planned_here = False
    name = "staged" if planned == "spark" else "rows"
    given, read = getattr(reading.DirectReading, name), []
    def reads(self, *what):
        found = given(self, *what)
        read.append(die() if point == "read" and len(read) == 1 else found)
        return found
    setattr(reading.DirectReading, name, reads)
    p.run(once=True, on_step=lambda changes: die() if point == "step" and changes.step == 2 else None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("planned", ["here", "spark"])
@pytest.mark.parametrize("point", ["read", "step"])
def test_a_killed_run_reads_each_message_once(
    spark: Any, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, planned: str
) -> None:
    """After its messages were read; after their step. And who goes on is the other one."""
    draw = random.Random(point)
    sent = [(None, json.dumps({"n": draw.randrange(9)})) for _ in range(300)] + [(None, "{")]
    send(spark, broker, f"killed_{point}_{planned}", sent)
    text = f"""
    CREATE TABLE t (n BIGINT) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe 'killed_{point}_{planned}', startingOffsets 'earliest',
    maxOffsetsPerTrigger '70') WITH (format = 'json');
    CREATE VIEW v AS SELECT n, count(*) AS times FROM t GROUP BY n;
    """
    command = [sys.executable, "-c", KILLED, text, str(tmp_path), point, planned]
    died = subprocess.run(command, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    monkeypatch.setattr(DirectReading, "is_planned_here", planned == "spark")
    with Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark, runner="inline") as p:
        assert p.last_step == (1 if point == "read" else 2)
        p.run(once=True)
        wanted = Counter(json.loads(value)["n"] for _, value in sent[:-1])
        assert {row["n"]: row["times"] for row in p["v"].rows()} == wanted
        assert [row["text"] for row in p["bad_rows"].rows()] == ["{"]
    assert not [*tmp_path.glob("**/staged-*")]


def test_one_bad_message_fails_the_step_where_that_is_said(
    spark: Any, broker: Broker, tmp_path: Path
) -> None:
    send(spark, broker, "strict", [(None, '{"a": 1}'), (None, '{"a": "x"}')])
    text = f"""
    CREATE TABLE t (a INT) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe 'strict', startingOffsets 'earliest') WITH (format = 'json', mode = 'fail');
    CREATE VIEW v AS SELECT * FROM t;
    """
    with (
        Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark, runner="inline") as p,
        pytest.raises(Error, match=r"(?i)malformed|failfast"),
    ):
        p.run(once=True)
    assert not [*tmp_path.glob("**/staged-*")]
