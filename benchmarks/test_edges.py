"""From Kafka to Kafka and to Postgres, and what decoding costs, with real servers.

The peer is Structured Streaming doing q1, which keeps nothing, from the same topic: both read and write JSON.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from psycopg.errors import UndefinedTable
from pyspark.sql.functions import col, struct, to_json
from pyspark.sql.functions import from_json as parsed

import dbsp
from benchmarks.figures import record
from benchmarks.nexmark.generate import write
from benchmarks.nexmark.generator import Generator
from dbsp.pipeline.spark.decoding import decoded
from dbsp.running.spark.session import session
from dbsp.running.spark.settings import Settings
from dbsp.sql.compiler.load import compile_program
from tests.servers.jars import connector
from tests.servers.kafka import Broker, kafka
from tests.servers.postgres import postgres

EVENTS, STEP, SMALL, ROUNDS = 1_000_000, 100_000, 100, 40
COLUMNS = {
    "auction": "id BIGINT NOT NULL, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
    "dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING",
    "bid": "auction BIGINT NOT NULL, bidder BIGINT, price BIGINT, channel STRING, url STRING, "
    "dateTime TIMESTAMP, extra STRING",
}
Q4 = """SELECT category, avg(final) AS average FROM (
SELECT a.id, a.category, max(b.price) AS final FROM auction a JOIN bid b ON a.id = b.auction
WHERE b.dateTime BETWEEN a.dateTime AND a.expires GROUP BY a.id, a.category)
WHERE category IS NOT NULL GROUP BY category"""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """With Kafka's connector."""
    started = session("dbsp benchmarks", settings=Settings(jars=tuple(connector())))
    # a session of ours keeps 4, which would be all that is known of the peer
    started.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def broker(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Whose topics have the auctions and the bids of EVENTS events, as JSON."""
    path = tmp_path_factory.mktemp("nexmark")
    write(Generator(), EVENTS, STEP, path)
    with kafka() as started:
        for name in COLUMNS:
            rows = spark.read.parquet(str(path / name))
            values = rows.select(to_json(struct("*")).alias("value"))
            values.write.format("kafka").options(**options(started), topic=name).save()
        yield started


def options(broker: Broker) -> dict[str, str]:
    return {"kafka.bootstrap.servers": broker.servers}


def source(broker: Broker, name: str, share: float = 1.0, mode: str = "keep") -> str:
    return (
        f"CREATE TABLE {name} ({COLUMNS[name]}) USING kafka OPTIONS (`kafka.bootstrap.servers` "
        f"'{broker.servers}', subscribe '{name}', startingOffsets 'earliest', maxOffsetsPerTrigger "
        f"'{int(STEP * share)}') WITH (format = 'json', append_only = true, mode = '{mode}');\n"
    )


def test_kafka_to_kafka(benchmark: Any, spark: Any, broker: Broker, tmp_path: Path) -> None:
    text = (
        source(broker, "auction", 0.06)
        + source(broker, "bid", 0.92)
        + "CREATE TABLE out (category BIGINT, average DOUBLE, PRIMARY KEY (category)) USING kafka OPTIONS "
        + f"(`kafka.bootstrap.servers` '{broker.servers}', topic 'q4') WITH (format = 'json');\n"
        + f"INSERT INTO out {Q4};\n"
    )
    ends, cpu = [time.perf_counter()], [_by_process(spark, broker)]
    with dbsp.Pipeline(sql=text, state=tmp_path / "state", spark=spark) as p:
        benchmark.pedantic(
            lambda: p.run(once=True, on_step=lambda _: ends.append(time.perf_counter())), rounds=1
        )
    cpu.append(_by_process(spark, broker))
    ours = [after - before for before, after in pairwise(ends)][2:]
    rows = (
        spark.readStream.format("kafka")
        .options(**options(broker), subscribe="bid", startingOffsets="earliest")
        .option("maxOffsetsPerTrigger", int(STEP * 0.92))
        .load()
        .select(parsed(col("value").cast("string"), COLUMNS["bid"]).alias("b"))
        .select("b.auction", "b.bidder", (col("b.price") * 0.908).alias("price"), "b.dateTime", "b.extra")
        .select(to_json(struct("*")).alias("value"))
    )
    writer = rows.writeStream.format("kafka").options(**options(broker), topic="q1")
    query = writer.option("checkpointLocation", str(tmp_path / "q1")).trigger(availableNow=True).start()
    query.awaitTermination()
    cpu.append(_by_process(spark, broker))
    theirs = [one["durationMs"]["triggerExecution"] / 1000 for one in query.recentProgress][2:]
    what = f"Kafka to Kafka, JSON, steps of {STEP:,} events"
    record(benchmark, what, "dbsp, q4", STEP, ours, ("Structured Streaming, q1", theirs))
    assert len(theirs) >= EVENTS // STEP - 3, "of some of the peer's batches nothing is known"
    whole = [sum(each) / len(each) for each in (ours, theirs)]
    print(what, "dbsp", STEP / whole[0], "peer", STEP / whole[1], "whole", whole[1] / whole[0])
    print("by medians", median(theirs) / median(ours))
    spent = [{name: after[name] - before[name] for name in after} for before, after in pairwise(cpu)]
    print(
        "seconds of the processor", spent, "peer's by ours", sum(spent[1].values()) / sum(spent[0].values())
    )


def test_kafka_to_postgres(benchmark: Any, spark: Any, broker: Broker, tmp_path: Path) -> None:
    """From the moment at which a hundred messages are acknowledged to the one at which the row is changed."""
    from confluent_kafka import Producer  # noqa: PLC0415  a peer's client

    with postgres() as server:
        text = (
            "CREATE TABLE sale (shop STRING, units BIGINT) USING kafka OPTIONS (`kafka.bootstrap.servers` "
            f"'{broker.servers}', subscribe 'sale', startingOffsets 'earliest') "
            "WITH (format = 'json', append_only = true);\n"
            "CREATE TABLE total (shop STRING, units BIGINT, PRIMARY KEY (shop)) "
            f"USING postgres OPTIONS (url '{server.url}', dbtable 'total');\n"
            "INSERT INTO total SELECT shop, sum(units) FROM sale WHERE shop IS NOT NULL GROUP BY shop;\n"
        )
        producer, seconds, sent = Producer({"bootstrap.servers": broker.servers, "linger.ms": 0}), [], 0

        def send() -> None:
            nonlocal sent
            for _ in range(SMALL):
                producer.produce("sale", json.dumps({"shop": "a", "units": 1}))
            producer.flush()
            sent += SMALL

        send()
        with dbsp.Pipeline(sql=text, state=tmp_path / "state", spark=spark) as p:
            p.start()
            for number in range(ROUNDS + 5):
                deadline = time.monotonic() + 60
                if number:
                    time.sleep(0.3)
                    send()
                began = time.perf_counter()
                while not _is_there(server, sent) and time.monotonic() < deadline:
                    time.sleep(0.005)
                seconds.append(time.perf_counter() - began)
            p.stop()
        benchmark.pedantic(lambda: None, rounds=1)
        record(benchmark, f"{SMALL} messages of Kafka to a row of Postgres", "dbsp", 0, seconds[5:])
        print("kafka to postgres p50", median(seconds[5:]), sorted(seconds[5:])[-3:])


def _is_there(server: Any, units: int) -> bool:
    try:
        return bool(server.rows("SELECT units FROM total") == [(units,)])
    except UndefinedTable:  # it is made with the first row
        return False


def _by_process(spark: Any, broker: Broker) -> dict[str, float]:
    """Seconds of the processor: of this process, Spark's JVM, its workers, the broker."""
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())
    assert broker.process is not None
    found = {
        "here": _spent(os.getpid()),
        "jvm": _spent(jvm),
        "broker": _spent(broker.process.pid),
        "workers": 0.0,
    }
    families = [jvm]
    for family in families:
        for listed in Path(f"/proc/{family}/task").glob("*/children"):
            children = [int(child) for child in listed.read_text().split()]
            families += children
            found["workers"] += sum(map(_spent, children))
    return found


def _spent(process: int) -> float:
    """Seconds of the processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("mode", ["keep", "fail"])
def test_decoding(benchmark: Any, spark: Any, broker: Broker, mode: str) -> None:
    """By seconds of the JVM's processor, beside those of reading the messages alone."""
    table = compile_program(
        source(broker, "bid", mode=mode) + "CREATE VIEW v AS SELECT * FROM bid;", session=spark
    ).tables["bid"]
    messages = spark.read.format("kafka").options(**options(broker), subscribe="bid").load()
    kept = messages.limit(400_000).coalesce(1).cache()
    count = kept.count()
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())
    seconds: dict[str, list[float]] = {"rows": [], "messages": []}
    for _ in range(6):
        for what, frame in (("rows", decoded(table, kept)), ("messages", kept)):
            began = _spent(jvm)
            frame.write.format("noop").mode("overwrite").save()
            seconds[what].append(_spent(jvm) - began)
    spent = [rows - alone for rows, alone in zip(*(each[2:] for each in seconds.values()), strict=True)]
    benchmark.pedantic(lambda: None, rounds=1)
    record(benchmark, f"decoding JSON bids, mode = '{mode}'", "dbsp", count, spent)
    print("decoding", mode, count / median(spent), "per CPU-second")
    kept.unpersist()
