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

    consumer = _consumer(settings, has_times)
    try:
        consumer.leave()  # what it read before
        consumer.read({(span.topic, span.partition): span.first})
        yield from _read(consumer, span, patience)
        consumer.leave()  # else it would go on reading
    except BaseException as error:
        close(settings)
        if isinstance(error, KafkaException):
            raise Error(f"{_named(span)} can't be read: {error}") from error
        raise


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


_consumers: dict[frozenset[tuple[str, str]], Client] = {}


def _consumer(settings: Mapping[str, str], has_times: bool) -> Client:
    """Of this process."""
    key = frozenset(settings.items())
    if key not in _consumers:
        _consumers[key] = Client(settings, _PROMPT)
    _consumers[key].has_times = has_times
    return _consumers[key]


def close(settings: Mapping[str, str]) -> None:
    """Leave the broker, if it was reached."""
    consumer = _consumers.pop(frozenset(settings.items()), None)
    if consumer is not None:
        with suppress(Exception):  # it is given up
            consumer.close()
