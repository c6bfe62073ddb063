"""Messages of Kafka written by librdkafka, at least once: whoever reads tells repeats by key and step.

What a producer of Java's does by itself, this one is told: `acks` of all replicas, no repeats of its own, the
same partition of a key. A step is written when the brokers have all of it. After a failure nothing of it is
under way any more, so that what is written again comes after it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbsp.pipeline.spark.messages.columns import Message
from dbsp.pipeline.spark.messages.options import kafka_options
from dbsp.sql.plans.program import Table

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer
    from confluent_kafka import Message as Sent

_PREFIX, _TOPIC = "kafka.", "topic"
# what librdkafka would print of a broker that is away is in the error
QUIET = logging.getLogger("dbsp.kafka")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False
# to the same partitions as the clients in Java
PARTITIONER = {"partitioner": "murmur2_random"}
# Settings of Java's client that mean the same here, and those that this one doesn't need.
_SAME = {
    *("bootstrap.servers", "client.id", "acks", "compression.type", "linger.ms", "batch.size"),
    *("request.timeout.ms", "delivery.timeout.ms", "retries", "retry.backoff.ms", "enable.idempotence"),
}
_NEEDLESS = {"max.block.ms", "default.api.timeout.ms"}
_OWN: Mapping[str, str | bool] = {
    **PARTITIONER,
    "enable.idempotence": "true",
    # milliseconds after which a message that nobody takes is a failure, which is tried again
    "delivery.timeout.ms": "30000",
    "queue.buffering.max.messages": "1000000",
    "delivery.report.only.error": True,
}
# seconds to the next look at a queue that is full, or at what is under way
_WAIT = 0.1


def producer_settings(table: Table) -> dict[str, str] | None:
    """librdkafka's; None: OPTIONS say what it doesn't know, or has otherwise."""
    found = {}
    for name, value in kafka_options(table).items():
        option = name.lower().removeprefix(_PREFIX)
        if name.lower() == _TOPIC:
            continue
        if not name.lower().startswith(_PREFIX) or option not in _SAME | _NEEDLESS:
            return None
        if option in _SAME:
            found[option] = value
    if found.get("acks", "all") not in ("all", "-1"):
        found.setdefault("enable.idempotence", "false")
    return found


@dataclass
class Producing:
    """To the topic of a table."""

    topic: str
    settings: Mapping[str, str]
    _producer: Producer | None = None
    _failed: list[KafkaError] = field(default_factory=list)

    def write(self, step: int, messages: Iterable[Message]) -> None:
        """All of them, or it raises KafkaException or Error."""
        from confluent_kafka import KafkaException, Producer  # noqa: PLC0415  an extra

        if self._producer is None:
            self._producer = Producer({**_OWN, **self.settings}, logger=QUIET)
        self._failed.clear()
        try:
            send(self._producer, self.topic, messages, self._report)
            while self._producer.flush(_WAIT) and not self._failed:
                pass
            if self._failed:
                raise KafkaException(self._failed[0])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave the broker, with nothing under way."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()

    def _report(self, error: KafkaError | None, _: Sent) -> None:
        if error is not None:
            self._failed.append(error)


def send(producer: Producer, topic: str, messages: Iterable[Message], report: object = None) -> None:
    """Hand messages to the client. report: called with each that fails."""
    for key, value, headers in messages:
        while True:
            try:
                producer.produce(topic, value, key, headers=headers, on_delivery=report)
                break
            except BufferError:  # as many as librdkafka holds
                producer.poll(_WAIT)
