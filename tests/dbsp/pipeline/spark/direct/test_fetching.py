"""What librdkafka reads of a span is what Spark's connector reads of it."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Producer

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct import client
from dbsp.pipeline.spark.direct.fetching import close, read
from dbsp.pipeline.spark.direct.messages import MESSAGES
from dbsp.pipeline.spark.direct.spans import Span
from tests.servers.kafka import Broker, send

pytestmark = pytest.mark.spark


def settings(broker: Broker, **more: str) -> dict[str, str]:
    return {"bootstrap.servers": broker.servers, **more}


def taken(given: dict[str, str], span: Span) -> list[Any]:
    found = [row for part in read(given, 10.0, span) for row in part.to_arrow().to_pylist()]
    close(given)
    return found


def test_a_span_is_what_spark_reads_of_it(
    spark: Any, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(
        spark,
        broker,
        "spans",
        [(None if i % 3 else f"k{i}", None if i % 7 == 0 else f"v{i}") for i in range(500)],
    )
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": "spans"}
    rows = spark.read.format("kafka").options(**options).load().select(*MESSAGES.names).toArrow().to_pylist()
    wanted = sorted(rows, key=lambda row: (row["partition"], row["offset"]))
    monkeypatch.setattr(client, "UNIT", 64)
    for partition in (0, 1):
        own = [row for row in wanted if row["partition"] == partition]
        for first, end in ((0, len(own)), (3, 9), (len(own) - 1, len(own)), (40, len(own) - 1)):
            assert taken(settings(broker), Span("spans", partition, first, end)) == own[first:end]


def test_offsets_that_are_no_messages(broker: Broker) -> None:
    """Of transactions what ends them, and what was taken back where only the rest is to be read."""
    producer = Producer({"bootstrap.servers": broker.servers, "transactional.id": "spans"})
    producer.init_transactions()
    for number in range(4):
        producer.begin_transaction()
        for i in range(3):
            producer.produce("committed", f"{number}.{i}", partition=0)
        producer.flush()
        producer.commit_transaction() if number % 2 == 0 else producer.abort_transaction()
    span = Span("committed", 0, 0, 16)
    both = [bytes(row["value"]).decode() for row in taken(settings(broker), span)]
    assert both == [f"{number}.{i}" for number in range(4) for i in range(3)]
    given = settings(broker, **{"isolation.level": "read_committed"})
    found = taken(given, span)
    assert [bytes(row["value"]).decode() for row in found] == [f"{n}.{i}" for n in (0, 2) for i in range(3)]
    assert [row["offset"] for row in found] == [0, 1, 2, 8, 9, 10]


def test_what_is_gone_and_what_was_never_there_is_said(broker: Broker) -> None:
    Producer({"bootstrap.servers": broker.servers}).produce("short", "x", partition=0)
    producer = Producer({"bootstrap.servers": broker.servers})
    producer.produce("short", "x", partition=0)
    producer.flush()
    with pytest.raises(Error, match=r"partition 0 of topic 'short'.*from offset 9 on.*failOnDataLoss"):
        [*read(settings(broker), 10.0, Span("short", 0, 9, 12))]
    with pytest.raises(Error, match=r"partition 0 of topic 'nowhere'"):
        [*read(settings(broker), 1.0, Span("nowhere", 0, 0, 1))]
    away = {"bootstrap.servers": "127.0.0.1:1"}
    with pytest.raises(Error, match=r"can't be read: nothing came for 0.5 s; "):
        [*read(away, 0.5, Span("short", 0, 0, 1))]
    close(settings(broker))


def test_a_client_is_kept_and_leaves_nothing_for_the_next_span(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.servers})
    for i in range(300):
        producer.produce("kept", str(i), partition=i % 2)
    producer.flush()
    given = settings(broker)
    for first in (100, 0, 50, 100, 20):
        part = next(read(given, 10.0, Span("kept", first % 2, first, first + 5)))
        assert [int(value) for value in part.values.to_pylist()] == [
            2 * i + first % 2 for i in range(first, first + 5)
        ]
    close(given)
    close(given)


def test_who_reads_with_the_same_settings_has_a_client_of_its_own(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reads and closes, and one reads on, while another is in the middle of its span."""
    monkeypatch.setattr(client, "UNIT", 8)
    producer = Producer({"bootstrap.servers": broker.servers})
    for i in range(80):
        producer.produce("beside", str(i), partition=i % 2)
    producer.flush()
    given = settings(broker)
    parts = read(given, 10.0, Span("beside", 0, 0, 40))
    found = next(parts).values.to_pylist()
    for _ in range(2):
        other = taken(given, Span("beside", 1, 0, 40))
        assert [int(row["value"]) for row in other] == [*range(1, 80, 2)]
    assert sum(map(len, read(given, 10.0, Span("beside", 1, 0, 40)))) == 40  # whose client is kept
    found += [value for part in parts for value in part.values.to_pylist()]
    assert [*map(int, found)] == [*range(0, 80, 2)]
    close(given)
