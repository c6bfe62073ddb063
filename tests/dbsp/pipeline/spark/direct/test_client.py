"""What is had as columns is what the client for Python has as objects, however it was sent."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct.client import Client, Said
from tests.servers.kafka import Broker

pytestmark = pytest.mark.spark
EOF = -191


@contextmanager
def client(broker: Broker, **more: str) -> Iterator[Client]:
    settings = {"bootstrap.servers": broker.servers, **{k.replace("_", "."): v for k, v in more.items()}}
    with closing(Client(settings, "5")) as made:
        yield made


def read(made: Client, topic: str, most: int) -> dict[int, list[Any]]:
    """Of each partition what it has: key, value, offset, time."""
    found: dict[int, list[Any]] = {0: [], 1: []}
    made.read({(topic, 0): 0, (topic, 1): 0})
    ended, deadline = 0, time.monotonic() + 60
    while ended < 2:
        assert time.monotonic() < deadline
        taken = made.take(most, 0.1, 0.01)
        assert len(taken) <= most
        for unit in taken.units:
            assert unit.topic == topic
            assert unit.times is not None
            columns = unit.keys.to_pylist(), unit.values.to_pylist(), unit.offsets, unit.times
            found[unit.partition] += zip(*columns, strict=True)
        ended += sum(event.code == EOF for event in taken.said)
    return found


def by_objects(broker: Broker, topic: str, **more: str) -> dict[int, list[Any]]:
    settings = {"bootstrap.servers": broker.servers, "group.id": "x", "enable.partition.eof": True, **more}
    found: dict[int, list[Any]] = {0: [], 1: []}
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in (0, 1)])
        ended = 0
        while ended < 2:
            for message in consumer.consume(100, 0.1):
                if message.error() is not None:
                    assert message.error().code() == EOF
                    ended += 1
                else:
                    own = message.key(), message.value(), message.offset(), message.timestamp()[1]
                    found[message.partition()].append(own)
    return found


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_columns_are_the_objects(broker: Broker, codec: str) -> None:
    """Of batches of all sizes, some of which are larger than an answer of the broker's."""
    draw = random.Random(codec)
    topic = f"columns_{codec}"
    settings = {"bootstrap.servers": broker.servers, "compression.type": codec, "linger.ms": 20}
    producer = Producer({**settings, "message.max.bytes": 1_000_000})
    for number in range(3_000):
        size = draw.choice([0, 1, 7, 12, 200, 3_000]) if number % 500 else 900_000
        value = None if draw.random() < 0.1 else draw.randbytes(size)
        key = draw.choice([None, b"", b"k", draw.randbytes(20)])
        headers = [("h", b"x" * draw.randrange(50))] if draw.random() < 0.3 else None
        producer.produce(topic, value, key, number % 2, headers=headers)
        if draw.random() < 0.02:
            producer.flush()
    producer.flush()
    wanted = by_objects(broker, topic)
    assert sum(map(len, wanted.values())) == 3_000
    for most in (8_192, 37):
        with client(broker) as made:
            assert read(made, topic, most) == wanted


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_transactions_are_as_the_client_has_them(broker: Broker, level: str) -> None:
    draw = random.Random(level)
    topic = f"columns_{level}"
    producer = Producer({"bootstrap.servers": broker.servers, "transactional.id": topic})
    producer.init_transactions()
    for _ in range(12):
        producer.begin_transaction()
        for _ in range(draw.randrange(4)):
            producer.produce(topic, draw.randbytes(9), partition=draw.randrange(2))
        producer.flush()
        producer.commit_transaction() if draw.random() < 0.6 else producer.abort_transaction()
    producer.begin_transaction()  # and one that has neither end, so that what follows isn't committed either
    for partition in (0, 1):
        producer.produce(topic, b"open", partition=partition)
    producer.flush()
    try:
        wanted = by_objects(broker, topic, **{"isolation.level": level})
        with client(broker, isolation_level=level) as made:
            assert read(made, topic, 8_192) == wanted
        assert all(
            (b"open" in [own[1] for own in part]) == (level != "read_committed") for part in wanted.values()
        )
    finally:
        producer.abort_transaction()


def test_what_is_asked_of_a_broker(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.servers})
    for number in range(5):
        producer.produce("asked", str(number), partition=1)
    producer.flush()
    with client(broker) as made:
        assert made.partitions("asked", 10) == [0, 1]
        assert (made.edges(("asked", 0), 10), made.edges(("asked", 1), 10)) == ((0, 0), (0, 5))
        assert made.known_end(("nowhere", 0)) == -1
        read(made, "asked", 100)
        assert made.known_end(("asked", 1)) == 5
        for unknown in (lambda: made.partitions("nowhere", 10), lambda: made.edges(("asked", 7), 10)):
            with pytest.raises(KafkaException, match=r"(?i)unknown"):
                unknown()
        with pytest.raises(KafkaException):
            made.read({("asked", 1): 0})  # is read already
    with client(Broker(broker.root, 1)) as made, pytest.raises(KafkaException):
        made.partitions("asked", 0.2)
    with pytest.raises(KafkaException, match="no_such_setting"):
        Client({"no_such_setting": "x"}, "5")
    with pytest.raises(KafkaException, match="isolation"):
        Client({"isolation.level": "x"}, "5")


def test_each_unit_is_of_one_partition_in_order(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.servers})
    for number in range(2_000):
        producer.produce(f"mixed_{number % 3}", str(number), partition=number % 2)
    producer.flush()
    places = {(f"mixed_{topic}", partition): 0 for topic in range(3) for partition in range(2)}
    with client(broker) as made:
        made.read(places)
        next_: dict[Any, int] = dict(places)
        deadline = time.monotonic() + 60
        while sum(next_.values()) < 2_000:
            assert time.monotonic() < deadline
            for unit in made.take(500, 0.1).units:
                place = unit.topic, unit.partition
                assert unit.offsets.tolist() == [*range(next_[place], next_[place] + len(unit))]
                sent = [int(value) for value in unit.values.to_pylist()]
                assert all(n % 3 == int(unit.topic[-1]) and n % 2 == unit.partition for n in sent)
                assert all(after - before == 6 for before, after in pairwise(sent))
                next_[place] += len(unit)


def test_what_an_event_says() -> None:
    assert Said(EOF, "x", "t", 0, 7).end == 7
    with pytest.raises(Error, match=r"partition 0 of topic 't'.*from offset 7 on.*\(gone\).*failOnDataLoss"):
        _ = Said(-140, "gone", "t", 0, 7).end
    with pytest.raises(Error, match=r"partition 0 of topic 't' can't be read: broken"):
        _ = Said(3, "broken", "t", 0, 7).end
