"""What a client is told, and messages that no broker takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaException

from dbsp.pipeline.spark.messages.producing import Producing, producer_settings
from tests.dbsp.build import VOTES, table
from tests.servers.kafka import Broker, messages

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"topic": "t", "kafka.bootstrap.servers": "x"}, {"bootstrap.servers": "x"}),
        ({"kafka.Acks": "1"}, {"acks": "1", "enable.idempotence": "false"}),
        ({"kafka.acks": "all"}, {"acks": "all"}),
        ({"kafka.max.block.ms": "1"}, {}),
        ({"kafka.security.protocol": "SSL"}, None),
        ({"includeHeaders": "true"}, None),
    ],
)
def test_options_that_another_client_has_too(options: dict[str, str], wanted: dict[str, str] | None) -> None:
    assert producer_settings(replace(table("t", VOTES), options=options)) == wanted


def test_more_messages_than_it_holds(spark: Any, broker: Broker) -> None:
    given = {"bootstrap.servers": broker.servers, "queue.buffering.max.messages": "10"}
    producing = Producing("many", given)
    sent = [(str(i % 3).encode(), str(i).encode(), [("step", b"1")]) for i in range(1000)]
    producing.write(1, sent)
    producing.close()
    found = messages(spark, broker, "many")
    for key, values in found.items():
        assert [value for value, _ in values] == [value for of, value, _ in sent if of == key]
    assert sum(map(len, found.values())) == 1000


def test_nobody_takes_them() -> None:
    producing = Producing("x", {"bootstrap.servers": "127.0.0.1:1", "delivery.timeout.ms": "300"})
    with pytest.raises(KafkaException, match="timed out"):
        producing.write(1, [(None, b"x", [])])
    producing.close()
