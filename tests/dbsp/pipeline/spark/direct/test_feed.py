"""One table's messages: how far ahead they are read, and where that ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from dbsp.pipeline.spark.direct import ahead
from dbsp.pipeline.spark.direct.client import Client
from dbsp.pipeline.spark.direct.columns import RecordColumns
from dbsp.pipeline.spark.direct.decoded import Decoder
from dbsp.pipeline.spark.direct.feed import Feed
from dbsp.pipeline.spark.direct.placed import Placed
from dbsp.pipeline.spark.direct.spans import Place
from dbsp.pipeline.spark.direct.subscribed import Subscribed
from dbsp.pipeline.spark.staging import Rows, Staging
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import table
from tests.servers.kafka import Broker

pytestmark = pytest.mark.spark
FIELDS = (Field("n", pa.int64()),)


@contextmanager
def fed(
    broker: Broker, topic: str, path: Path, places: Mapping[Place, int] | None, once: bool
) -> Iterator[tuple[Feed, threading.Condition]]:
    of = table("t", FIELDS)
    staging = Staging(str(path), 0, Placed(Rows(of, 1, "UTC")))
    decoder = Decoder(RecordColumns(of, FIELDS, "UTC"), staging, {"bootstrap.servers": broker.servers}, 10.0)
    changed = threading.Condition()
    made = Feed("t", decoder, Subscribed("t", (topic,), True, None), places, changed, once)
    try:
        yield made, changed
    finally:
        with changed:
            made.stop()
        made.close()


def taken(made: Feed, changed: threading.Condition, is_so: Callable[[], bool]) -> tuple[list[int], object]:
    deadline = time.monotonic() + 60
    with changed:
        while not is_so():
            assert time.monotonic() < deadline
            changed.wait(0.1)
        found = made.take()
    return [n for _, rows in found.rows for n in rows.column("n").to_pylist()], found.ends


def produce(broker: Broker, topic: str, numbers: range, **more: str) -> Producer:
    producer = Producer({"bootstrap.servers": broker.servers, **more})
    if more:
        producer.init_transactions()
        producer.begin_transaction()
    for n in numbers:
        producer.produce(topic, f'{{"n": {n}}}', partition=0)
    producer.flush()
    return producer


def test_it_is_ahead_by_so_much_and_no_more(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MOST", 10)
    produce(broker, "ahead", range(25))
    with fed(broker, "ahead", tmp_path, None, once=True) as (made, changed):
        read: list[int] = []
        for count, end in ((10, 10), (10, 20), (5, 25)):
            part, ends = taken(made, changed, lambda count=count: made.count >= count)  # type: ignore[misc]
            assert (len(part), ends) == (count, {("ahead", 0): end, ("ahead", 1): 0})
            read += part
        assert read == [*range(25)]
        taken(made, changed, lambda: made.is_done)


def test_it_goes_on_where_it_was_and_ends_where_the_topic_did(broker: Broker, tmp_path: Path) -> None:
    produce(broker, "goes", range(9))
    with fed(broker, "goes", tmp_path, {("goes", 0): 4}, once=True) as (made, changed):
        assert taken(made, changed, lambda: made.is_done) == (
            [*range(4, 9)],
            {("goes", 0): 9, ("goes", 1): 0},
        )
        produce(broker, "goes", range(9, 12))
        assert made.count == 0


def test_what_ends_a_transaction_is_passed(broker: Broker, tmp_path: Path) -> None:
    produce(broker, "marked", range(3), **{"transactional.id": "marked"}).commit_transaction()
    with fed(broker, "marked", tmp_path, None, once=True) as (made, changed):
        assert taken(made, changed, lambda: made.is_done) == ([0, 1, 2], {("marked", 0): 4, ("marked", 1): 0})


def test_what_comes_while_it_reads_is_left_to_the_next(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is told that a partition ends there."""
    produce(broker, "grows", range(9))
    monkeypatch.setattr(Client, "edges", lambda _, place, __: (0, 1 if place[1] else 3))
    with fed(broker, "grows", tmp_path, None, once=True) as (made, changed):
        assert taken(made, changed, lambda: made.count == 3)[0] == [0, 1, 2]
        producer = Producer({"bootstrap.servers": broker.servers})
        producer.produce("grows", '{"n": 77}', partition=1)
        producer.flush()
        assert taken(made, changed, lambda: made.is_done) == ([77], {("grows", 0): 3, ("grows", 1): 1})
