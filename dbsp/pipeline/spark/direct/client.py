"""Messages of Kafka read by librdkafka, in this process: a tenth of what a JVM and the way from there cost.

A client is kept from step to step, for its connections. It reads what a span names and no more; nothing is
committed, and no group is joined: which messages a step takes is in the checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct.spans import Span

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

# messages that are decoded at once: more would leave the processor's caches
UNIT = 8_192
# seconds for which a unit is waited for that isn't full
_WAIT = 0.1
# milliseconds until a broker says that there is nothing new: what is planned is there
_PROMPT = "5"
# seconds without a message after which a broker is taken to be gone
PATIENCE = 60.0

_VALUE, _KEY, _ERROR = methodcaller("value"), methodcaller("key"), methodcaller("error")

MESSAGES = pa.schema(
    [
        *(("key", pa.binary()), ("value", pa.binary()), ("topic", pa.string()), ("partition", pa.int32())),
        *(("offset", pa.int64()), ("timestamp", pa.timestamp("us", tz="UTC"))),
    ]
)


@dataclass(frozen=True)
class Messages:
    """Of one partition, in order."""

    topic: str
    partition: int
    taken: list[Message]

    def __len__(self) -> int:
        return len(self.taken)

    def part(self, first: int, end: int) -> Messages:
        return Messages(self.topic, self.partition, self.taken[first:end])

    @property
    def values(self) -> list[bytes | None]:
        return [*map(_VALUE, self.taken)]

    @property
    def keys(self) -> list[bytes | None]:
        return [*map(_KEY, self.taken)]

    @property
    def offsets(self) -> pa.Array:
        """Mostly they follow each other, and then none but two is asked for its own."""
        first, last = self.taken[0].offset(), self.taken[-1].offset()
        assert first is not None and last is not None
        if last - first + 1 == len(self.taken):
            return int64_array(np.arange(first, last + 1))
        return pa.array([message.offset() for message in self.taken], pa.int64())

    @property
    def timestamps(self) -> pa.Array:
        milliseconds = pa.array([message.timestamp()[1] for message in self.taken], pa.timestamp("ms", "UTC"))
        return milliseconds.cast(pa.timestamp("us", "UTC"))

    def to_arrow(self) -> pa.RecordBatch:
        """As Spark's connector gives them, of MESSAGES."""
        count = len(self.taken)
        keys, values = (pa.array(each, pa.binary()) for each in (self.keys, self.values))
        place = [pa.repeat(self.topic, count), pa.repeat(pa.scalar(self.partition, pa.int32()), count)]
        return pa.RecordBatch.from_arrays(
            [keys, values, *place, self.offsets, self.timestamps], schema=MESSAGES
        )


def read(settings: Mapping[str, str], patience: float, span: Span) -> Iterator[Messages]:
    """The span's messages, at most UNIT at once. Raises Error where they can't be had."""
    from confluent_kafka import KafkaException, TopicPartition  # noqa: PLC0415  an extra

    consumer = _consumer(settings)
    try:
        consumer.assign([TopicPartition(span.topic, span.partition, span.first)])
        yield from _read(consumer, span, patience)
        consumer.unassign()  # else it would go on reading
    except BaseException as error:
        close(settings)
        if isinstance(error, KafkaException):
            raise Error(f"{_named(span)} can't be read: {error}") from error
        raise


def _read(consumer: Consumer, span: Span, patience: float) -> Iterator[Messages]:
    place, deadline, why = span.first, time.monotonic() + patience, "is the broker there?"
    while place < span.end:
        found = consumer.consume(min(UNIT, span.end - place), _WAIT)
        said: list[Message] = []
        if any(map(_ERROR, found)):
            said = [message for message in found if message.error() is not None]
            found = [message for message in found if message.error() is None]
        before = place
        if found:
            last = found[-1].offset()
            assert last is not None
            if last >= span.end:
                found = [message for message in found if (message.offset() or 0) < span.end]
            place = last + 1
            if found:
                yield Messages(span.topic, span.partition, found)
        for message in said:
            if message.topic() is None:  # of a connection, which is tried again
                why = str(message.error())
            else:
                place = max(place, end_said(message))
        if place > before:
            deadline = time.monotonic() + patience
        elif time.monotonic() > deadline:
            raise Error(f"{_named(span)} can't be read: nothing came for {patience:g} s; {why}")


def end_said(message: Message) -> int:
    """Up to where there is nothing more, by what says so. Raises Error for any other event of a partition."""
    from confluent_kafka import KafkaError  # noqa: PLC0415  an extra

    error, offset = message.error(), message.offset()
    assert error is not None
    named = f"partition {message.partition()} of topic '{message.topic()}'"
    if error.code() == KafkaError._PARTITION_EOF:
        return offset or 0
    if error.code() == KafkaError._AUTO_OFFSET_RESET:
        raise Error(
            f"{named}: the messages from offset {offset} on, which a step was to take, are not "
            f"there any more ({error.str()}); start from a new state directory, or set failOnDataLoss 'false'"
        )
    raise Error(f"{named} can't be read: {error.str()}")


def _named(span: Span) -> str:
    return f"partition {span.partition} of topic '{span.topic}'"


_consumers: dict[frozenset[tuple[str, str]], Consumer] = {}


def opened(settings: Mapping[str, str], prompt: str) -> Consumer:
    """A new client. prompt: milliseconds until a broker says that there is nothing new."""
    from confluent_kafka import Consumer  # noqa: PLC0415  an extra

    own = {
        "group.id": "dbsp",  # which is asked for, and never joined
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "auto.offset.reset": "error",
        "enable.partition.eof": "true",
        # as the connector's, where it isn't said
        "isolation.level": "read_uncommitted",
        "fetch.wait.max.ms": prompt,
        "fetch.queue.backoff.ms": "1",
        "log_level": "0",  # what it would print is in the error
        "queued.max.messages.kbytes": "32768",
    }
    return Consumer({**own, **settings})


def _consumer(settings: Mapping[str, str]) -> Consumer:
    """Of this process."""
    key = frozenset(settings.items())
    if key not in _consumers:
        _consumers[key] = opened(settings, _PROMPT)
    return _consumers[key]


def close(settings: Mapping[str, str]) -> None:
    """Leave the broker, if it was reached."""
    consumer = _consumers.pop(frozenset(settings.items()), None)
    if consumer is not None:
        with suppress(Exception):  # it is given up
            consumer.close()
