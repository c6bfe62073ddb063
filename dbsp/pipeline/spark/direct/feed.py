"""The messages of one table, read and decoded ahead of the step that takes them, in a thread of its own.

While a step runs, the next one's rows are made. A source whose broker is away holds nothing but itself:
others are read, and steps made of what they have. Nothing is planned: where a step ends in each partition is
what had been read when it began, and the step's commit keeps it. So what dies before the commit is read again
and what dies after it isn't. What is ahead is bounded, and lost with the process.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct import client
from dbsp.pipeline.spark.direct.client import Messages, end_said, opened
from dbsp.pipeline.spark.direct.decoded import Decoder
from dbsp.pipeline.spark.direct.spans import Place
from dbsp.pipeline.spark.direct.subscribed import NoTopic, Subscribed, edges
from dbsp.pipeline.spark.staging import Order

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

# what is ahead of a step, at most: messages, and bytes of what they became
MOST, MOST_BYTES = 1 << 20, 1 << 27
# seconds for which a message is waited for, and for more of a unit that is a small part of one
_WAIT, _MORE = 0.1, 0.003
# milliseconds until a broker says that there is nothing new: it is asked again only then
_PROMPT = "100"
# seconds without a message until the broker is asked whether it is there; in which it is to answer; and until
# it is asked for new partitions while there are messages
_QUIET, _ANSWER, _LOOK = 1.0, 2.0, 10.0

_ERROR, _PARTITION = methodcaller("error"), methodcaller("partition")
log = logging.getLogger("dbsp")


@dataclass
class Taken:
    """Of a source for one step. ends: where it is after that. refused: what Spark is to decode."""

    ends: Mapping[Place, int]
    rows: list[tuple[Order, pa.RecordBatch]] = field(default_factory=list)
    bad: list[pa.RecordBatch] = field(default_factory=list)
    refused: list[Messages] = field(default_factory=list)
    count: int = 0
    size: int = 0


class Feed:
    """name: of the table. places: where the last commit has it, or None. changed: told of all that happens;
    what others read of a feed they read under it. once: up to where the topics end when it begins.
    """

    def __init__(
        self,
        name: str,
        decoder: Decoder,
        wanted: Subscribed,
        places: Mapping[Place, int] | None,
        changed: threading.Condition,
        once: bool,
    ) -> None:
        self.name, self._decoder, self._wanted, self._changed = name, decoder, wanted, changed
        self.begun: Mapping[Place, int] | None = places
        self.away = ""
        self._most = min(wanted.most or MOST, MOST)
        self._once = once
        self._next: dict[Place, int] = {}
        self._given: Mapping[Place, int] = places or {}
        self._until: Mapping[Place, int] = {}
        self._there: dict[Place, int] = {}
        self._ahead = Taken({})
        self._under_way = 0
        self._stopping = False
        self._decoding: Future[None] | None = None
        self._decoders = ThreadPoolExecutor(1, f"dbsp-decode-{name}")
        self._alive = self._looked = time.monotonic()
        self._thread = ThreadPoolExecutor(1, f"dbsp-read-{name}")
        self._reading: Future[None] = self._thread.submit(self._read)
        self._reading.add_done_callback(self._ended)

    # -- by who makes steps, under `changed` --------------------------------------------------------

    @property
    def count(self) -> int:
        """Messages that are ahead."""
        return self._ahead.count

    @property
    def is_done(self) -> bool:
        """All that was there when it began is read. Raises what ended it."""
        return self._reading.done() and self._reading.result() is None

    @property
    def is_waited_for(self) -> bool:
        """Whether more is to be expected at once."""
        if self.is_done or self._is_full or self.away:
            return False
        return self._once or any(end < self._there.get(p, 0) for p, end in self._next.items())

    @property
    def unread(self) -> int:
        """Messages that no step has taken, by the last that is known."""
        return sum(max(end - self._given.get(place, 0), 0) for place, end in self._there.items())

    def take(self) -> Taken:
        """What is ahead; the next is read from now on."""
        taken, self._ahead = self._ahead, Taken({})
        taken.ends = self._given = dict(self._next or self._given)
        self._changed.notify_all()
        return taken

    def stop(self) -> None:
        """Read no more."""
        self._stopping = True
        self._changed.notify_all()

    def close(self) -> None:
        """Wait until it is so. Not under `changed`."""
        self._thread.shutdown()

    # -- by its thread ------------------------------------------------------------------------------

    def _read(self) -> None:
        from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

        try:
            # in which order they end: who decodes asks the client
            with closing(opened(self._decoder.settings, _PROMPT)) as consumer, self._decoders:
                while not self._stopping and not self._begin(consumer):
                    self._rest()
                while not self._stopping and not self._has_all():
                    self._round(consumer)
                self._settle()
        except KafkaException as error:
            raise Error(f"table '{self.name}': {error}") from error

    def _ended(self, _: Future[None]) -> None:
        with self._changed:
            self._changed.notify_all()

    def _begin(self, consumer: Consumer) -> bool:
        """Whether it is known where it begins, and where it ends."""
        from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

        try:
            places = self._wanted.places(consumer, self._answer)
            begun = self.begun
            if begun is None:
                begun = self._wanted.beginnings(consumer, places, self._answer)
            if self._once:
                self._until = {place: edges(consumer, place, self._answer)[1] for place in places}
        except KafkaException as error:
            self._is_away(str(error))
            return False
        self._is_here()
        gone = {*begun} - places | {place for place, end in self._until.items() if begun.get(place, 0) > end}
        if gone:
            topic, partition = min(gone)
            raise Error(
                f"table '{self.name}': partition {partition} of topic '{topic}' is not there any more, or is "
                f"another, which ends before offset {begun[topic, partition]}, the next to be read; "
                "start from a new state directory, or set failOnDataLoss 'false'"
            )
        with self._changed:
            self.begun = begun
            self._given = self._given or begun
            # what came since a commit
            self._next = {place: begun.get(place, 0) for place in places}
            self._changed.notify_all()
        self._assign(consumer, places)
        return True

    def _assign(self, consumer: Consumer, places: set[Place]) -> None:
        from confluent_kafka import TopicPartition  # noqa: PLC0415  an extra

        consumer.incremental_assign([TopicPartition(*place, self._next[place]) for place in sorted(places)])

    def _has_all(self) -> bool:
        return self._once and all(self._next[place] >= end for place, end in self._until.items())

    @property
    def _is_full(self) -> bool:
        return self._ahead.count >= self._most or self._ahead.size >= MOST_BYTES

    def _round(self, consumer: Consumer) -> None:
        """Wait for room and for messages, and decode them: many while the next ones are fetched."""
        with self._changed:
            while self._is_full and not self._stopping:
                self._changed.wait()
            room = self._most - self._ahead.count - self._under_way
        if room <= 0:
            self._settle()
            return
        first = consumer.poll(0 if self._decoding else _WAIT) if not self._stopping else None
        now = time.monotonic()
        if now - self._looked > (_LOOK if first is not None and not self.away else _QUIET):
            self._look(consumer)
        if first is None:
            self._settle()
            return
        self._alive, unit = now, min(client.UNIT, room)
        found = [first, *consumer.consume(unit - 1, 0)]
        if unit // 4 > len(found) > unit // 64:  # what is under way is worth a moment
            found += consumer.consume(unit - len(found), _MORE)
        self._settle()
        if len(found) > unit // 2:
            with self._changed:
                self._under_way = len(found)
            self._decoding = self._decoders.submit(self._decode, consumer, found)
        else:
            self._decode(consumer, found)

    def _settle(self) -> None:
        """What is decoded is ahead. Raises what decoding does."""
        decoding, self._decoding = self._decoding, None
        if decoding is not None:
            decoding.result()

    def _decode(self, consumer: Consumer, found: list[Message]) -> None:
        said: list[Message] = []
        if any(map(_ERROR, found)):
            said = [message for message in found if message.error() is not None]
            found = [message for message in found if message.error() is None]
        ends: dict[Place, int] = {}
        ahead = Taken({})
        for unit in self._by_place(found):
            last = unit.taken[-1].offset()
            assert last is not None
            ends[unit.topic, unit.partition] = last + 1
            ahead.count += len(unit)
            for rows in self._decoder.rows(unit, ahead.refused, ahead.bad):
                ahead.rows.append(rows)
                ahead.size += rows[1].nbytes
        for message in said:
            place, end = (message.topic() or "", message.partition() or 0), end_said(message)
            # what came after it began is left to the next run
            ends[place] = max(ends.get(place, 0), min(end, self._until.get(place, end)))
        self._add(consumer, ends, ahead)

    def _by_place(self, found: Sequence[Message]) -> Iterator[Messages]:
        """Of each partition, in order, up to where it ends."""
        if not found:
            return
        numbers = np.fromiter(map(_PARTITION, found), np.int32, len(found))
        several = len(self._wanted.topics) > 1
        starts = {0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()}
        if several:
            topics = [message.topic() for message in found]
            starts |= {i for i in range(1, len(topics)) if topics[i] != topics[i - 1]}
        cuts = [*sorted(starts), len(found)]
        for first, end in pairwise(cuts):
            topic = found[first].topic() or ""
            taken = [*found[first:end]]
            until = self._until.get((topic, int(numbers[first])))
            if until is not None and (taken[-1].offset() or 0) >= until:
                taken = [message for message in taken if (message.offset() or 0) < until]
            if taken:
                yield Messages(topic, int(numbers[first]), taken)

    def _add(self, consumer: Consumer, ends: Mapping[Place, int], ahead: Taken) -> None:
        from confluent_kafka import TopicPartition  # noqa: PLC0415  an extra

        told = {p: consumer.get_watermark_offsets(TopicPartition(*p), cached=True) for p in self._next}
        with self._changed:
            for place, end in ends.items():
                if place in self._next:
                    self._next[place] = max(end, self._next[place])
            for place, (_, end) in told.items():
                self._there[place] = max(end, self._next[place])
            self._ahead.rows += ahead.rows
            self._ahead.bad += ahead.bad
            self._ahead.refused += ahead.refused
            self._ahead.count += ahead.count
            self._under_way = 0
            self._ahead.size += ahead.size + sum(
                len(value or b"") for m in ahead.refused for value in m.values
            )
            self._changed.notify_all()

    def _look(self, consumer: Consumer) -> None:
        """Whether the broker is there, and whether it has new partitions."""
        from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

        self._looked = time.monotonic()
        try:
            new = self._wanted.places(consumer, self._answer) - self._next.keys()
        except (KafkaException, NoTopic) as error:
            if isinstance(error, NoTopic) and time.monotonic() - self._alive >= self._patience:
                raise
            self._is_away(str(error))
            return
        self._is_here()
        if new and not self._once:
            with self._changed:
                self._next |= dict.fromkeys(new, 0)
            self._assign(consumer, new)

    def _is_here(self) -> None:
        self._alive = self._looked = time.monotonic()
        if self.away:
            log.warning("table '%s': its source is there again", self.name)
            with self._changed:
                self.away = ""
                self._changed.notify_all()

    def _is_away(self, why: str) -> None:
        """Raises Error where it is to end, and nothing came for too long."""
        if self._once and time.monotonic() - self._alive >= self._patience:
            what = f"nothing came for {self._patience:g} s; {why}"
            raise Error(f"the source of table '{self.name}' can't be read: {what}")
        if not self.away:
            log.warning("table '%s': its source is away, and read when it is back: %s", self.name, why)
            with self._changed:
                self.away = why
                self._changed.notify_all()

    def _rest(self) -> None:
        with self._changed:
            if not self._stopping:
                self._changed.wait(_WAIT)

    @property
    def _patience(self) -> float:
        return self._decoder.patience

    @property
    def _answer(self) -> float:
        """Seconds in which the broker is to answer."""
        return min(_ANSWER, self._patience)
