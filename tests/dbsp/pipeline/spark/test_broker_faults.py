"""The broker dies in mid-step and comes back: after the next run the compacted topic is the view.

A program reads changes from Kafka and writes a view's to Kafka. At some instant of its run the broker is
killed. It comes back, the state directory is opened anew, and what is left is read and delivered: of each key
the last message is the view's row, none is lost, and none is left that the view hasn't.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.views.changes import Changes
from tests.effort import is_long
from tests.servers.kafka import Broker, kafka, messages, patiently, send

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# of a client, so that it gives up soon
HASTY = """`kafka.request.timeout.ms` '500', `kafka.default.api.timeout.ms` '1000',
`kafka.max.block.ms` '1000', `kafka.delivery.timeout.ms` '1000'"""
# when it dies: after the run's first step, of three at least; or after so many seconds
STEP = "step"
INSTANTS: tuple[str | float, ...] = (STEP, 0.2, 0.4, 0.7, 0.9, 1.2, 1.6) if is_long() else (STEP, 0.3)
READER = """`kafka.request.timeout.ms` '500', `kafka.default.api.timeout.ms` '1000',
fetchOffset.numRetries '1', fetchOffset.retryIntervalMs '10'"""
# by librdkafka, and by Spark, since the other has no such option
READERS = {"direct": READER, "spark": f"{READER}, groupIdPrefix 'dbsp'"}
PROGRAM = """
CREATE TABLE sale (id INT NOT NULL, shop INT NOT NULL, units INT, PRIMARY KEY (id))
USING kafka OPTIONS (`kafka.bootstrap.servers` '{0}', subscribe 'sale', startingOffsets 'earliest',
maxOffsetsPerTrigger '20', {2}) WITH (format = 'json');
CREATE VIEW sold AS SELECT shop, sum(units) AS units FROM sale GROUP BY shop;
CREATE TABLE totals (shop INT NOT NULL, units BIGINT, PRIMARY KEY (shop))
USING kafka OPTIONS (`kafka.bootstrap.servers` '{0}', topic 'totals', {1}) WITH (format = 'json');
INSERT INTO totals SELECT * FROM sold;
"""


@pytest.fixture
def mortal() -> Iterator[Broker]:
    """A broker that the test may kill."""
    with kafka() as started:
        yield started


def change(spark: Any, broker: Broker, draw: random.Random, sales: dict[int, dict[str, Any]]) -> None:
    """Sixty changes of forty sales: they come, move to another shop, and go."""
    sent: list[tuple[str | None, str | None]] = []
    for _ in range(60):
        row = {"id": draw.randrange(40), "shop": draw.randrange(8), "units": draw.randrange(5)}
        key = json.dumps({"id": row["id"]})
        if draw.random() < 0.4:
            sales.pop(row["id"], None)
            sent.append((key, None))
        else:
            sales[row["id"]] = row
            sent.append((key, json.dumps(row)))
    send(spark, broker, "sale", sent)


def compacted(spark: Any, broker: Broker) -> list[dict[str, Any]]:
    """What a topic that keeps the last message of each key holds."""
    last = [given[-1][0] for given in messages(spark, broker, "totals").values()]
    return sorted((json.loads(value) for value in last if value is not None), key=lambda row: row["shop"])


def totals(sales: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    shops = sorted({row["shop"] for row in sales.values()})
    of = {shop: sum(row["units"] for row in sales.values() if row["shop"] == shop) for shop in shops}
    return [{"shop": shop, "units": units} for shop, units in of.items()]


def _start(killing: threading.Timer, _: Changes) -> None:
    with suppress(RuntimeError):  # it is already
        killing.start()


@pytest.mark.parametrize("reader", READERS)
def test_a_broker_that_dies_at_any_instant(spark: Any, mortal: Broker, tmp_path: Path, reader: str) -> None:
    program = compile_program(PROGRAM.format(mortal.servers, HASTY, READERS[reader]), session=spark)
    draw, failed = random.Random(0), 0
    sales: dict[int, dict[str, Any]] = {}

    def opened() -> Pipeline:
        p = Pipeline(
            program, state=tmp_path, spark=spark, runner="inline", max_undelivered=draw.choice([0, 2])
        )
        p.store.durable = False
        return p

    def read() -> None:
        with opened() as p:
            p.run(once=True)
            assert p["sold"].rows() == totals(sales)

    for instant in (None, *INSTANTS):
        change(spark, mortal, draw, sales)
        if instant is not None:
            killing = threading.Timer(instant if isinstance(instant, float) else 0, mortal.kill)
            try:
                with opened() as p:
                    if instant != STEP:
                        killing.start()
                    p.run(once=True, on_step=partial(_start, killing))
            except Error:
                failed += 1
            killing.join()
            mortal.start()
        patiently(read)  # what died with the broker may be found out only now
        assert compacted(spark, mortal) == totals(sales)
    assert failed
