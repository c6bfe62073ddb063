"""The feeds of a run: what they have is a step."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbsp.pipeline.spark.checkpoints.offset_log import OffsetLog
from dbsp.pipeline.spark.direct.ahead import Taken
from dbsp.pipeline.spark.direct.feed import Feed
from dbsp.pipeline.spark.direct.reading import DirectReading
from dbsp.pipeline.spark.direct.spans import Place

# seconds for which a step is put off for what is about to come
_GRACE = 0.1
MESSAGES = "messages"


@dataclass
class Feeds:
    """last: the batch that is committed, or −1. once: up to where the topics end now."""

    reading: DirectReading
    log: OffsetLog
    last: int
    once: bool
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        relations = sorted(self.reading.direct)
        # all of it before the first thread begins
        self._ends: dict[int, Mapping[Place, int] | None] = {
            relation: self.log.ends(relation, self.last) for relation in relations
        }
        self._feeds = {relation: self._feed(relation) for relation in relations}

    def _feed(self, relation: int) -> Feed:
        direct = self.reading.direct[relation]
        assert direct.wanted is not None
        name = direct.decoder.columns.table.name
        return Feed(name, direct.decoder, direct.wanted, self._ends[relation], self._changed, self.once)

    def next(self, timeout: float) -> dict[int, Taken] | None:
        """What there is for a step, by relation; None: nothing for so many seconds, or nothing any more.

        Raises what ended a feed.
        """
        deadline = time.monotonic() + timeout
        is_put_off = False
        with self._changed:
            while not self.is_exhausted:
                now, feeds = time.monotonic(), [*self._feeds.values()]
                if any(feed.count for feed in feeds):
                    if not any(feed.is_waited_for for feed in feeds) or (is_put_off and now >= deadline):
                        return {r: feed.take() for r, feed in self._feeds.items() if feed.begun is not None}
                    if not is_put_off and not self.once:
                        deadline, is_put_off = now + _GRACE, True
                if now >= deadline:
                    return None
                self._changed.wait(deadline - now)
            return None

    @property
    def is_exhausted(self) -> bool:
        """Whether all that was to be read is taken. Raises what ended a feed."""
        done = [feed.is_done and not feed.count for feed in self._feeds.values()]  # each may raise
        return all(done)

    def plan(self, batch: int, taken: Mapping[int, Taken]) -> None:
        """Write down what a batch is, before it is committed."""
        for relation, one in taken.items():
            begun = self._feeds[relation].begun
            assert begun is not None
            if self._ends[relation] is None:
                self.log.begin(relation, begun)
            self._ends[relation] = one.ends
        self.log.write(batch, [self._ends[relation] for relation in sorted(self._ends)])

    def unread(self) -> dict[str, tuple[int, str]]:
        """Per table how many messages no step has taken. Any thread may ask."""
        with self._changed:
            begun = [feed for feed in self._feeds.values() if feed.begun is not None]
            return {feed.name: (feed.unread, MESSAGES) for feed in begun}

    def away(self) -> dict[str, str]:
        """Per table whose source doesn't answer, why. Any thread may ask."""
        with self._changed:
            return {feed.name: feed.away for feed in self._feeds.values() if feed.away}

    def close(self) -> None:
        """Leave the brokers. What is ahead is read again by the next run."""
        with self._changed:
            for feed in self._feeds.values():
                feed.stop()
        for feed in self._feeds.values():
            feed.close()
