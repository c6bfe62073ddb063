"""A consumer of Kafka's by librdkafka, whose messages are had as columns.

Nothing is committed, and no group is joined: which messages a step takes is in the checkpoint.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct.library import (
    AUTO_OFFSET_RESET,
    CONSUMER,
    FAIL,
    INVALID_ARG,
    PARTITION_EOF,
    Library,
    Message,
    Metadata,
    library,
)
from dbsp.pipeline.spark.direct.messages import Messages, copied
from dbsp.pipeline.spark.direct.spans import Place

if TYPE_CHECKING:
    from confluent_kafka import KafkaException

# messages that are decoded at once: more would leave the processor's caches
UNIT = 8_192
_REASON = 512
_OWN: Mapping[str, str] = {
    "group.id": "dbsp",  # which is asked for, and never joined
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "auto.offset.reset": "error",
    "enable.partition.eof": "true",
    # as the connector's, where it isn't said
    "isolation.level": "read_uncommitted",
    "fetch.queue.backoff.ms": "1",
    "log_level": "0",  # what it would print is in the error
    "queued.max.messages.kbytes": "32768",
}


@dataclass(frozen=True)
class Said:
    """An event, and no message. topic: None: of a connection, which is tried again."""

    code: int
    text: str
    topic: str | None
    partition: int
    offset: int

    @property
    def end(self) -> int:
        """Up to where there is nothing more, by what says so. Raises Error for any other of a partition."""
        named = f"partition {self.partition} of topic '{self.topic}'"
        if self.code == PARTITION_EOF:
            return self.offset
        if self.code == AUTO_OFFSET_RESET:
            raise Error(
                f"{named}: the messages from offset {self.offset} on, which a step was to take, are "
                f"not there any more ({self.text}); start from a new state directory, or set "
                "failOnDataLoss 'false'"
            )
        raise Error(f"{named} can't be read: {self.text}")


@dataclass
class Found:
    """What was there. units: each of one partition, in order."""

    units: list[Messages] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.units))

    def __bool__(self) -> bool:
        return bool(self.units or self.said)


class Client:
    """settings: librdkafka's. prompt: milliseconds until a broker says that there is nothing new. has_times:
    whether anybody reads when messages were written. Raises KafkaException for settings that can't be.
    """

    def __init__(self, settings: Mapping[str, str], prompt: str, has_times: bool = True) -> None:
        found = library()
        assert found is not None, "`can_read` says so"
        self._library: Library = found
        self.has_times = has_times
        self._handle = self._opened({**_OWN, "fetch.wait.max.ms": prompt, **settings})
        self._library.poll_set_consumer(self._handle)
        self._queue = self._library.queue_get_consumer(self._handle)
        self._pointers = np.zeros(UNIT, np.uint64)

    def _opened(self, settings: Mapping[str, str]) -> int:
        of, reason = self._library, ctypes.create_string_buffer(_REASON)
        given = of.conf_new()
        for name, value in settings.items():
            if of.conf_set(given, name.encode(), value.encode(), reason, _REASON):
                of.conf_destroy(given)
                raise _failure(INVALID_ARG, reason.value.decode())
        handle: int | None = of.new(CONSUMER, given, reason, _REASON)
        if handle is None:
            of.conf_destroy(given)
            raise _failure(FAIL, reason.value.decode())
        return handle

    def partitions(self, topic: str, timeout: float) -> list[int]:
        """Those that there are now. Raises KafkaException, with UNKNOWN_TOPIC_OR_PART for no topic."""
        of, told = self._library, ctypes.POINTER(Metadata)()
        asked = of.topic_new(self._handle, topic.encode(), None)
        try:
            self._check(of.metadata(self._handle, 0, asked, ctypes.byref(told), _milliseconds(timeout)))
        finally:
            of.topic_destroy(asked)
        try:
            (about,) = told.contents.topics[: told.contents.topic_cnt]
            self._check(about.err)
            return [part.id for part in about.partitions[: about.partition_cnt]]
        finally:
            of.metadata_destroy(told)

    def edges(self, place: Place, timeout: float) -> tuple[int, int]:
        """The first offset of a partition, and the one that comes next. Raises KafkaException."""
        first, end = ctypes.c_int64(), ctypes.c_int64()
        named = self._handle, place[0].encode(), place[1]
        ask = self._library.query_watermark_offsets
        self._check(ask(*named, ctypes.byref(first), ctypes.byref(end), _milliseconds(timeout)))
        return first.value, end.value

    def known_end(self, place: Place) -> int:
        """The offset that comes next, as the broker last said; −1: it hasn't."""
        first, end = ctypes.c_int64(-1), ctypes.c_int64(-1)
        named = self._handle, place[0].encode(), place[1]
        self._library.get_watermark_offsets(*named, ctypes.byref(first), ctypes.byref(end))
        return max(end.value, -1)

    def read(self, begins: Mapping[Place, int]) -> None:
        """These, too, from those offsets on. Raises KafkaException."""
        of = self._library
        listed = of.topic_partition_list_new(len(begins))
        for (topic, partition), offset in sorted(begins.items()):
            of.topic_partition_list_add(listed, topic.encode(), partition)
            of.topic_partition_list_set_offset(listed, topic.encode(), partition, offset)
        failed = of.incremental_assign(self._handle, listed)
        of.topic_partition_list_destroy(listed)
        if failed is not None:
            code, text = of.error_code(failed), of.error_string(failed).decode()
            of.error_destroy(failed)
            raise _failure(code, text)

    def leave(self) -> None:
        """Read none of them any more."""
        self._check(self._library.assign(self._handle, None))

    def take(self, most: int, wait: float, more: float = 0.0) -> Found:
        """What has come, or comes in so many seconds.

        more: seconds for which what is a small part of a unit waits. Raises KafkaException.
        """
        count = self._consume(0, 1, wait)
        if count:
            count += self._consume(count, most, 0.0)
            if more and most // 4 > count > most // 64:  # what is under way is worth a moment
                count += self._consume(count, most, more)
        return self._found(self._pointers[:count])

    def _consume(self, count: int, most: int, wait: float) -> int:
        """How many more there are than `count`."""
        if most > len(self._pointers):
            self._pointers = np.append(self._pointers, np.zeros(most - len(self._pointers), np.uint64))
        at = self._pointers.ctypes.data + count * self._pointers.itemsize
        taken = self._library.consume_batch_queue(self._queue, _milliseconds(wait), at, most - count)
        if taken < 0:
            raise _failure(FAIL, "messages can't be consumed")
        return int(taken)

    def _found(self, pointers: np.ndarray) -> Found:
        if not len(pointers):
            return Found()
        try:
            table = _Table(pointers)
            failed = table.integers("err")
            found = Found(said=[self._said(int(pointers[at])) for at in np.flatnonzero(failed)])
            if found.said:
                table = _Table(pointers[failed == 0])
            if len(table.pointers):
                found.units += self._units(table)
            return found
        finally:
            give_back = self._library.message_destroy
            for pointer in pointers.tolist():
                give_back(pointer)

    def _units(self, table: _Table) -> Iterator[Messages]:
        topics, partitions, offsets = table.words("rkt"), table.integers("partition"), table.words("offset")
        values = copied(table.words("payload").view(np.uint64), table.words("len"))
        keys = table.words("key").view(np.uint64)
        has_keys = bool(keys.any())
        keys = copied(keys, table.words("key_len")) if has_keys else pa.nulls(len(keys), pa.large_binary())
        times = self._times(table.pointers) if self.has_times else None
        changes = (np.diff(topics) != 0) | (np.diff(partitions) != 0)
        for first, end in pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), len(offsets)]):
            topic = self._library.topic_name(int(topics[first])).decode()
            whole = Messages(topic, int(partitions[first]), values, keys, offsets, times)
            yield whole.part(first, end)

    def _times(self, pointers: np.ndarray) -> np.ndarray:
        time_of = self._library.message_timestamp
        return np.fromiter((time_of(pointer, None) for pointer in pointers.tolist()), np.int64, len(pointers))

    def _said(self, pointer: int) -> Said:
        event = Message.from_address(pointer)
        text = (self._library.message_errstr(pointer) or b"").decode(errors="replace")
        topic = self._library.topic_name(event.rkt).decode() if event.rkt else None
        return Said(event.err, text, topic, event.partition, event.offset)

    def _check(self, code: int) -> None:
        if code:
            raise _failure(code, self._library.err2str(code).decode())

    def close(self) -> None:
        """Leave the broker."""
        self._library.queue_destroy(self._queue)
        self._library.consumer_close(self._handle)  # it is left, whatever that says
        self._library.destroy(self._handle)


class _Table:
    """Messages as librdkafka has them: a structure each, anywhere in memory; a field of all is a gather."""

    def __init__(self, pointers: np.ndarray) -> None:
        self.pointers = pointers
        if len(pointers):
            first, end = int(pointers.min()), int(pointers.max()) + ctypes.sizeof(Message)
            self._memory = pa.foreign_buffer(first, end - first)
            self._starts = (pointers - np.uint64(first)).astype(np.int64)

    def words(self, name: str) -> np.ndarray:
        """int64[n]: a field of eight bytes."""
        return self._gathered(name, np.dtype(np.int64))

    def integers(self, name: str) -> np.ndarray:
        """int32[n]: a field of four."""
        return self._gathered(name, np.dtype(np.int32))

    def _gathered(self, name: str, dtype: np.dtype[Any]) -> np.ndarray:
        whole = np.frombuffer(self._memory, dtype, self._memory.size // dtype.itemsize)
        offset: int = getattr(Message, name).offset
        return whole[(self._starts + offset) // dtype.itemsize]


def can_read(_: object = None) -> bool:
    """Whether the client is here."""
    return library() is not None


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _failure(code: int, text: str) -> KafkaException:
    from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415  an extra

    return KafkaException(KafkaError(code, text))
