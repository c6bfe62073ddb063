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
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct import ahead, client
from dbsp.pipeline.spark.direct.ahead import Taken
from dbsp.pipeline.spark.direct.client import Client, Found
from dbsp.pipeline.spark.direct.decoded import Decoder
from dbsp.pipeline.spark.direct.spans import Place
from dbsp.pipeline.spark.direct.subscribed import NoTopic, Subscribed

# seconds for which a message is waited for, and for more of a unit that is a small part of one
_WAIT, _MORE = 0.1, 0.003
# milliseconds until a broker says that there is nothing new: it is asked again only then
_PROMPT = "100"
# seconds without a message until the broker is asked whether it is there; in which it is to answer; and until
# it is asked for new partitions while there are messages
_QUIET, _ANSWER, _LOOK = 1.0, 2.0, 10.0

log = logging.getLogger("dbsp")


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
        self._most = min(wanted.most or ahead.MOST, ahead.MOST)
        self._once = once
        self._next: dict[Place, int] = {}
        self._given: Mapping[Place, int] = places or {}
        self._until: Mapping[Place, int] = {}
        self._there: dict[Place, int] = {}
        self._ahead = Taken()
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
        taken, self._ahead = self._ahead, Taken()
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
            opened = Client(self._decoder.settings, _PROMPT, self._decoder.reads_times)
            with closing(opened) as consumer, self._decoders:  # who decodes asks the client
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

    def _begin(self, consumer: Client) -> bool:
        """Whether it is known where it begins, and where it ends."""
        from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

        try:
            places = self._wanted.places(consumer, self._answer)
            begun = self.begun
            if begun is None:
                begun = self._wanted.beginnings(consumer, places, self._answer)
            if self._once:
                self._until = {place: consumer.edges(place, self._answer)[1] for place in places}
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
        consumer.read(self._next)
        return True

    def _has_all(self) -> bool:
        return self._once and all(self._next[place] >= end for place, end in self._until.items())

    @property
    def _is_full(self) -> bool:
        return self._ahead.is_full(self._most)

    def _round(self, consumer: Client) -> None:
        """Wait for room and for messages, and decode them: many while the next ones are fetched."""
        with self._changed:
            while self._is_full and not self._stopping:
                self._changed.wait()
            room = self._most - self._ahead.count - self._under_way
        if room <= 0:
            self._settle()
            return
        wait = 0.0 if self._decoding or self._stopping else _WAIT
        found = consumer.take(unit := min(client.UNIT, room), wait, _MORE)
        now = time.monotonic()
        if now - self._looked > (_LOOK if found and not self.away else _QUIET):
            self._look(consumer)
        self._settle()
        if not found:
            return
        self._alive = now
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

    def _decode(self, consumer: Client, found: Found) -> None:
        ends: dict[Place, int] = {}
        rows = Taken()
        for whole in found.units:
            place = whole.topic, whole.partition
            unit = whole.before(self._until.get(place, int(whole.offsets[-1]) + 1))
            if len(unit):
                ends[place] = int(unit.offsets[-1]) + 1
                rows.count += len(unit)
                for decoded in self._decoder.rows(unit, rows.refused, rows.bad):
                    rows.rows.append(decoded)
                    rows.size += decoded[1].nbytes
        for event in found.said:
            if event.topic is None:  # of a connection: whether the broker is there is looked at
                continue
            place, end = (event.topic, event.partition), event.end
            # what came after it began is left to the next run
            ends[place] = max(ends.get(place, 0), min(end, self._until.get(place, end)))
        there = {place: consumer.known_end(place) for place in self._next}
        with self._changed:
            for place, end in ends.items():
                if place in self._next:
                    self._next[place] = max(end, self._next[place])
            for place, end in there.items():
                self._there[place] = max(end, self._next[place])
            self._ahead.add(rows)
            self._under_way = 0
            self._changed.notify_all()

    def _look(self, consumer: Client) -> None:
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
            consumer.read(dict.fromkeys(new, 0))

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
