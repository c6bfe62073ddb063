"""Spans of messages, as tasks read them: what a span names and no more.

A client is kept from step to step, for its connections.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct import client
from dbsp.pipeline.spark.direct.client import Client
from dbsp.pipeline.spark.direct.messages import Messages
from dbsp.pipeline.spark.direct.spans import Span

# seconds for which a unit is waited for, and for more of one that isn't full
_WAIT, _MORE = 0.1, 0.02
# milliseconds until a broker says that there is nothing new: what is planned is there
_PROMPT = "5"
# seconds without a message after which a broker is taken to be gone
PATIENCE = 60.0


def read(
    settings: Mapping[str, str], patience: float, span: Span, has_times: bool = True
) -> Iterator[Messages]:
    """The span's messages, at most UNIT at once. Raises Error where they can't be had.

    has_times: see `Client`.
    """
    from confluent_kafka import KafkaException  # noqa: PLC0415  an extra

    key = frozenset(settings.items())
    consumer = _kept.pop(key, None)
    try:
        consumer = consumer or Client(settings, _PROMPT)
        consumer.has_times = has_times
        consumer.read({(span.topic, span.partition): span.first})
        yield from _read(consumer, span, patience)
        consumer.leave()  # else it would go on reading
    except BaseException as error:
        _give_up(consumer)
        if isinstance(error, KafkaException):
            raise Error(f"{_named(span)} can't be read: {error}") from error
        raise
    if _kept.setdefault(key, consumer) is not consumer:
        _give_up(consumer)  # another thread has kept its own


def _read(consumer: Client, span: Span, patience: float) -> Iterator[Messages]:
    place, deadline, why = span.first, time.monotonic() + patience, "is the broker there?"
    while place < span.end:
        found, before = consumer.take(min(client.UNIT, span.end - place), _WAIT, _MORE), place
        for whole in found.units:
            place = int(whole.offsets[-1]) + 1
            if len(unit := whole.before(span.end)):
                yield unit
        for event in found.said:
            if event.topic is None:  # of a connection, which is tried again
                why = event.text
            else:
                place = max(place, event.end)
        if place > before:
            deadline = time.monotonic() + patience
        elif time.monotonic() > deadline:
            raise Error(f"{_named(span)} can't be read: nothing came for {patience:g} s; {why}")


def _named(span: Span) -> str:
    return f"partition {span.partition} of topic '{span.topic}'"


# Of this process, by settings: those that read nothing. One that reads is its reader's alone, as pipelines in
# other threads may read with the same settings.
_kept: dict[frozenset[tuple[str, str]], Client] = {}


def close(settings: Mapping[str, str]) -> None:
    """Leave the broker, if it was reached."""
    _give_up(_kept.pop(frozenset(settings.items()), None))


def _give_up(consumer: Client | None) -> None:
    if consumer is not None:
        with suppress(Exception):
            consumer.close()
