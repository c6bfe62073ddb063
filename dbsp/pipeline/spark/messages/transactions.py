"""Messages of Kafka, exactly once: those of a step and its number, in one transaction of the broker's.

    begin; the messages; offset := step, of group `dbsp-WRITER-TABLE` at the topic's first partition; commit

So a step is written once, whatever dies in between. A commit whose answer was lost is found: whoever opens
the transactional id ends what was under way, by the commit that the broker has begun or by taking all of it
back, and then the group's offset says which step is there. Opening it also fences a producer that still
believes to be alive. A reader sees nothing that isn't committed, if it has isolation.level read_committed.

A transaction is of one producer; what Spark's tasks have encoded it writes partition by partition, as they
come. KIP-98, "Exactly Once Delivery and Transactional Messaging"; the client is librdkafka, since Spark's
connector has no transactions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import Error, StateError
from dbsp.pipeline.spark.messages.columns import Message
from dbsp.pipeline.spark.messages.options import kafka_options
from dbsp.pipeline.spark.messages.producing import PARTITIONER, QUIET, send
from dbsp.targets.outlet import Outlet

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer, TopicPartition

_PREFIX = "kafka."
_TOPIC = "topic"
# for an answer of the broker
_SECONDS = 10.0
# what a client allows a transaction, in milliseconds, and what it does where nothing is said
_LONGEST, _USUAL = "transaction.timeout.ms", "60000"
# seconds to the next try while something else is under way
_WAIT = 0.1


@dataclass
class Transactions:
    """Of a table's writer. _written: the last step that the topic has; None: nothing is open."""

    outlet: Outlet
    _producer: Producer | None = None
    _group: Consumer | None = None
    _written: int | None = None

    def __post_init__(self) -> None:
        self.outlet.check_package("confluent_kafka", "kafka")

    def write(self, step: int, messages: Iterable[Message]) -> None:
        """Unless the topic has the step."""
        try:
            if self._written is None:
                self._written = self._opened(step)
            if self._written < step:
                self._send(step, messages)
                self._written = step
        except BaseException:
            self.close()  # what was under way is ended by the next opening
            raise

    def close(self) -> None:
        """Let go of the broker. A transaction that is open is taken back, by it if not by us."""
        producer, self._producer = self._producer, None
        group, self._group, self._written = self._group, None, None
        if producer is not None:
            producer.purge()
        if group is not None:
            with suppress(Exception):
                group.close()

    def _opened(self, step: int) -> int:
        """The last step that is there. Raises StateError where it can't be followed by this one."""
        from confluent_kafka import Consumer, Producer  # noqa: PLC0415  an extra

        settings = self._settings()
        name = f"dbsp-{self.outlet.writer()}-{self.outlet.table.name}"
        own = {"transactional.id": name, **PARTITIONER}
        self._producer = Producer({**settings, **own}, logger=QUIET)
        self._patiently(self._producer.init_transactions)
        reading = {"group.id": name, "isolation.level": "read_committed", "enable.auto.commit": False}
        self._group = Consumer({**settings, **reading}, logger=QUIET)
        (found,) = self._group.committed([self._place()], timeout=_SECONDS)
        if found.error is not None:
            raise Error(f"the offset of group {name} can't be read: {found.error}")
        written: int = max(found.offset, 0)
        noted = f"the offset of group {name}"
        self.outlet.check_writer(self.outlet.writer(), written, noted, "give another topic")
        given = self.outlet.given(step)
        if written < given:
            where = f"{self.outlet.table.option(_TOPIC)}:0"
            raise StateError(
                f"{noted} is {written}, and step {given} was written: the broker has forgotten it (see "
                "offsets.retention.minutes), or is another; look at the header step of the last messages, "
                f"and say so: kafka-consumer-groups --reset-offsets --group {name} --topic {where} "
                "--to-offset N"
            )
        return written

    def _send(self, step: int, messages: Iterable[Message]) -> None:
        """Raises Error where the broker took a transaction back that lasted longer than it waits for one."""
        from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

        began = time.monotonic()
        try:
            self._commit(step, messages)
        except KafkaException as error:
            lasted, longest = time.monotonic() - began, self._longest()
            if lasted < longest:
                raise
            raise Error(
                f"the transaction of step {step} lasted {lasted:.0f} s, and the broker takes one back after "
                f"{longest:g}: set `{_PREFIX}{_LONGEST}` in the table's OPTIONS, in milliseconds and within "
                f"the broker's transaction.max.timeout.ms, or make smaller steps ({error})"
            ) from error

    def _longest(self) -> float:
        """Seconds that a transaction may last."""
        given = {name.lower(): value for name, value in self._settings().items()}
        return float(given.get(_LONGEST, _USUAL)) / 1000

    def _commit(self, step: int, messages: Iterable[Message]) -> None:
        assert self._producer is not None and self._group is not None
        producer, topic = self._producer, self.outlet.table.option(_TOPIC)
        producer.begin_transaction()
        send(producer, topic, messages)
        producer.send_offsets_to_transaction(
            [self._place(step)], self._group.consumer_group_metadata(), _SECONDS
        )
        self._patiently(producer.commit_transaction)

    def _patiently(self, ask: Any) -> None:
        """While the broker is at what another has begun. Raises KafkaException."""
        from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                ask(max(deadline - time.monotonic(), _WAIT))
                return
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() >= deadline:
                    raise
                time.sleep(_WAIT)

    def _place(self, step: int = -1001) -> TopicPartition:
        from confluent_kafka import TopicPartition  # noqa: PLC0415  an extra

        return TopicPartition(self.outlet.table.option(_TOPIC), 0, step)

    def _settings(self) -> dict[str, str]:
        """Those of Kafka's clients; librdkafka's names are mostly Java's."""
        given = kafka_options(self.outlet.table)
        return {k[len(_PREFIX) :]: v for k, v in given.items() if k.lower().startswith(_PREFIX)}
