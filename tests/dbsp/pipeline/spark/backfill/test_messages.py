"""A view over messages that nothing holds comes from their topic again, up to where the state has read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from tests.servers.kafka import Broker, send

pytestmark = pytest.mark.spark

SALES = """CREATE TABLE sale (id BIGINT, shop STRING, price INT)
USING kafka OPTIONS (`kafka.bootstrap.servers` '{}', subscribe '{}', startingOffsets 'earliest')
WITH (append_only = true, format = 'json');
CREATE VIEW total AS SELECT sum(price) AS price, count(*) AS n FROM sale;
"""
SHOPS = "CREATE VIEW by_shop AS SELECT shop, sum(price) AS price, count(*) AS n FROM sale GROUP BY shop;\n"


def sales(numbers: range) -> list[tuple[str | None, str | None]]:
    return [(str(n), f'{{"id": {n}, "shop": "s{n % 3}", "price": {n * 7 % 50}}}') for n in numbers]


def run(spark: Any, state: Path, text: str, **options: Any) -> dict[str, Any]:
    with Pipeline(sql=text, state=state, spark=spark, runner="inline", **options) as p:
        p.run(once=True)
        return {view: sorted(map(str, p[view].rows())) for view in p if view != "bad_rows"}


def test_it_is_what_it_would_be_or_nothing_changes(spark: Any, broker: Broker, tmp_path: Path) -> None:
    topic = "read-again"
    before = SALES.format(broker.servers, topic)
    after = before + SHOPS
    send(spark, broker, topic, [*sales(range(20)), ("x", "no json")])
    run(spark, tmp_path / "state", before)
    send(spark, broker, topic, sales(range(20, 30)))
    run(spark, tmp_path / "state", before)
    send(spark, broker, topic, sales(range(30, 40)))  # which the first step after the change reads
    with pytest.raises(StateError, match="read its messages again by --backfill from-source"):
        run(spark, tmp_path / "state", after, evolve=True)
    said: list[str] = []
    again: dict[str, Any] = {"evolve": True, "backfill": "from-source", "progress": said.append}
    found = run(spark, tmp_path / "state", after, **again)
    assert found == run(spark, tmp_path / "straight", after)
    assert "kept         table sale: its messages are read again" in said
    assert "back-filling: 30 of 30 rows" in said
    # what the broker has no more of
    run(spark, tmp_path / "other", before)
    admin = AdminClient({"bootstrap.servers": broker.servers})
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 3)]).values()
    deleted.result()
    with pytest.raises(StateError, match=r"what was read of its source can't be read again .*nothing has"):
        run(spark, tmp_path / "other", after, **again)
    assert run(spark, tmp_path / "other", before)["total"] == found["total"]
    assert not list((tmp_path / "other" / "segments").glob("staged-*"))  # an opening clears what failed
