"""Messages read ahead: a source that is away holds nothing but itself, and is read when it is back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.direct import feed
from dbsp.pipeline.spark.direct.client import Client
from dbsp.sql.compiler.load import compile_program
from tests.servers.kafka import Broker, kafka, send

pytestmark = pytest.mark.spark


@pytest.fixture
def mortal() -> Iterator[Broker]:
    """A broker that the test may kill."""
    with kafka() as started:
        yield started


def table(name: str, topic: str, broker: Broker, more: str = "") -> str:
    return f"""CREATE TABLE {name} (n BIGINT) USING kafka OPTIONS (
    `kafka.bootstrap.servers` '{broker.servers}', subscribe '{topic}', startingOffsets 'earliest'{more}
    ) WITH (format = 'json');
    CREATE VIEW v_{name} AS SELECT count(*) AS many, sum(n) AS total FROM {name};
    """


def sent(spark: Any, broker: Broker, topic: str, *numbers: int) -> None:
    send(spark, broker, topic, [(None, json.dumps({"n": n})) for n in numbers])


def until(p: Pipeline, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert p.running and time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_a_broker_that_is_away_holds_its_own_table_alone(
    spark: Any, broker: Broker, mortal: Broker, tmp_path: Path
) -> None:
    for to, topic in ((broker, "steady"), (mortal, "frail")):
        sent(spark, to, topic, 1)
    text = table("a", "steady", broker) + table("b", "frail", mortal)
    with Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark) as p:
        p.start()
        until(p, lambda: p["v_a"].rows() == p["v_b"].rows() == [{"many": 1, "total": 1}])
        mortal.kill()
        until(p, lambda: [*p.absent_sources] == ["b"])
        for number in range(2, 5):  # one after the other: each is a step of its own
            sent(spark, broker, "steady", number)
            until(p, lambda number=number: p["v_a"].rows()[0]["many"] == number)  # type: ignore[misc]
        assert p.turn.acquire(timeout=30)  # nobody waits for it within a step
        p.turn.release()
        mortal.start()
        sent(spark, mortal, "frail", 10)
        until(p, lambda: p["v_b"].rows() == [{"many": 2, "total": 11}])
        until(p, lambda: p.absent_sources == {})
        p.stop()
    with Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark) as p:
        p.run(once=True)
        assert (p["v_a"].rows()[0]["many"], p["v_b"].rows()[0]["many"]) == (4, 2)


def test_a_broker_that_never_comes_is_an_error_of_a_run_that_is_to_end(
    spark: Any, broker: Broker, tmp_path: Path
) -> None:
    sent(spark, broker, "patient", 1)
    nowhere = Broker(tmp_path, 1)
    text = table("a", "patient", broker) + table("b", "x", nowhere, ", `kafka.default.api.timeout.ms` '1500'")
    with (
        Pipeline(compile_program(text, session=spark), state=tmp_path / "s", spark=spark) as p,
        pytest.raises(Error, match=r"source of table 'b' can't be read: nothing came for 1\.5 s"),
    ):
        p.run(once=True)


def test_a_topic_that_is_not_there_and_one_that_is_another(
    spark: Any, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = table("a", "unheard", broker)
    with (
        Pipeline(compile_program(text, session=spark), spark=spark) as p,
        pytest.raises(Error, match=r"table 'a': topic 'unheard' is not there; create it"),
    ):
        p.run(once=True)
    sent(spark, broker, "unheard", 1, 2, 3)
    with Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark) as p:
        p.run(once=True)
    # as if it had been deleted and made anew
    monkeypatch.setattr(Client, "edges", lambda *_: (0, 0))
    with (
        Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark) as p,
        pytest.raises(Error, match=r"of topic 'unheard' is not there any more, or is another"),
    ):
        p.run(once=True)


def test_partitions_that_come_later_and_several_topics(spark: Any, broker: Broker, monkeypatch: Any) -> None:
    from confluent_kafka.admin import AdminClient, NewPartitions  # noqa: PLC0415  an extra

    monkeypatch.setattr(feed, "_QUIET", 0.1)
    sent(spark, broker, "one", 1, 2)
    sent(spark, broker, "two", 3)
    text = table("a", "one,two", broker, ", maxOffsetsPerTrigger '1'")
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        p.start()
        until(p, lambda: bool(p.last_step) and p["v_a"].rows() == [{"many": 3, "total": 6}])
        assert p.last_step == 3
        admin = AdminClient({"bootstrap.servers": broker.servers})
        for made in admin.create_partitions([NewPartitions("one", 4)]).values():
            made.result()
        until(p, lambda: p.unread.get("a") == (0, "messages"))
        sent(spark, broker, "one", *range(40))
        until(p, lambda: p["v_a"].rows()[0]["many"] == 43)
        assert p.stop() == 43


def test_a_stream_that_begins_now(spark: Any, broker: Broker, tmp_path: Path) -> None:
    sent(spark, broker, "late", 1, 2)
    text = table("a", "late", broker).replace("startingOffsets 'earliest'", "startingOffsets 'latest'")
    with Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark, runner="inline") as p:
        p.run(once=True)
        assert p.last_step == 0
        p.start()
        until(p, lambda: "a" in p.unread)
        sent(spark, broker, "late", 5)
        until(p, lambda: p.last_step == 1)
        p.stop()
        sent(spark, broker, "late", 6)
        p.run(once=True)
        assert p["v_a"].rows() == [{"many": 2, "total": 11}]
