"""A run without a query of Spark's: what feeds have read is the next step."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from dbsp.pipeline.spark.checkpoints.offset_log import OffsetLog
from dbsp.pipeline.spark.direct.ahead import Taken
from dbsp.pipeline.spark.direct.reading import DirectReading
from dbsp.pipeline.spark.runs.feeds import Feeds
from dbsp.pipeline.spark.runs.steps import Steps
from dbsp.running.queue import Rows

# for which a step is waited for
POLL_SECONDS = 0.2


def feed(
    steps: Steps, direct: DirectReading, batches: int, once: bool, every: float | None, stop: threading.Event
) -> bool:
    """Step until the sources are exhausted (once), or `stop` is set; whether it was.

    batches: how many are committed. Raises what a step or a source does.
    """
    pipeline = steps.pipeline
    log = OffsetLog(steps.checkpoint.root, len(steps.tables))
    log.open()
    feeds = Feeds(direct, log, batches - 1, once)
    pipeline.behind, pipeline.away = feeds.unread, feeds.away
    try:
        while not stop.is_set():
            if every and (left := steps.began + every - time.monotonic()) > 0:
                stop.wait(min(left, POLL_SECONDS))
            elif (taken := feeds.next(POLL_SECONDS)) is not None:
                _step(steps, direct, feeds, batches, taken)
                batches += 1
            elif once and feeds.is_exhausted:
                break
            if not once:
                steps.tick(every or 0.0)
        return stop.is_set()
    finally:
        pipeline.behind = pipeline.away = dict
        feeds.close()


def _step(steps: Steps, direct: DirectReading, feeds: Feeds, batch: int, taken: Mapping[int, Taken]) -> None:
    began = time.monotonic()
    parts: list[tuple[int, Rows]] = []
    try:
        for relation, one in taken.items():
            good, bad = direct.rows(relation, one)
            parts += [*((relation, rows) for rows in good), *((~relation, rows) for rows in bad)]
        with steps.pipeline.turn:
            feeds.plan(batch, taken)
            steps.of_batch(batch, parts, began, steps.record())
    except BaseException:
        steps.give_up(parts)
        raise
