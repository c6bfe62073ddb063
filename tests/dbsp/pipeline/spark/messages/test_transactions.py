"""WITH (delivery = 'exactly once'): whatever dies at any call, each step's messages are there once.

As the client in Java reads them that Spark's connector has.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.messages import transactions
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Insert, Program
from dbsp.sql.plans.schemas import Field
from dbsp.views.explained.checks import notes
from tests.dbsp.build import VOTES, table, votes_program
from tests.dbsp.targets.voting import check_lost_steps, feed, opened, write_again
from tests.effort import is_long
from tests.servers.kafka import Broker, kafka, messages, patiently
from tests.servers.proxy import Proxy

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# how long a client waits, in milliseconds
HASTY = {"kafka.socket.timeout.ms": "3000", "kafka.message.timeout.ms": "3000"}


class Mortal(confluent_kafka.Producer):
    """One at whose n-th call something happens, before it is carried out or after."""

    plan: tuple[int, str, Any] = (0, "", None)
    calls = 0

    def _at(self, call: Any, *arguments: Any, **named: Any) -> Any:
        kind = type(self)
        kind.calls += 1
        number, when, happens = kind.plan
        if kind.calls == number and when == "before":
            happens()
        answer = call(*arguments, **named)
        if kind.calls == number and when == "after":
            happens()
        return answer

    def begin_transaction(self, *arguments: Any) -> Any:
        return self._at(super().begin_transaction, *arguments)

    def produce(self, *arguments: Any, **named: Any) -> Any:
        return self._at(super().produce, *arguments, **named)

    def send_offsets_to_transaction(self, *arguments: Any) -> Any:
        return self._at(super().send_offsets_to_transaction, *arguments)

    def commit_transaction(self, *arguments: Any) -> Any:
        return self._at(super().commit_transaction, *arguments)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with kafka() as started:
        yield started


@pytest.fixture(autouse=True)
def mortal(monkeypatch: pytest.MonkeyPatch) -> None:
    Mortal.plan, Mortal.calls = (0, "", None), 0
    monkeypatch.setattr(confluent_kafka, "Producer", Mortal)
    monkeypatch.setattr(transactions, "_SECONDS", 2.0)


def program(broker: Broker, topic: str) -> Program:
    """All votes, as a changelog; two partitions of messages without a key."""
    made = votes_program()
    target = replace(
        table("log", (*VOTES, Field("__op", made.views["all_votes"].schema[0].type))[:2]),
        format="kafka",
        value_format="json",
        key_format="json",
        changelog="retract",
        in_transactions=True,
        options={"kafka.bootstrap.servers": broker.servers, "topic": topic, **HASTY},
    )
    insert = Insert("log", "all_votes", "program.sql:21:1", "retract", (0, 1))
    return replace(made, tables=made.tables | {"log": target}, inserts=(insert,))


def lost() -> None:
    raise OSError("lost")


def written(spark: Any, broker: Broker, topic: str) -> dict[int, Counter[Any]]:
    """Of each step what its messages say."""
    found: dict[int, Counter[Any]] = {}
    for values in messages(spark, broker, topic).values():
        for value, headers in values:
            row = tuple(json.loads(value).values())
            found.setdefault(int(headers["step"]), Counter())[row, headers["op"].decode()] += 1
    return found


def wanted(p: Pipeline) -> dict[int, Counter[Any]]:
    made: dict[int, Counter[Any]] = {}
    for step in range(1, p.last_step + 1):
        made[step] = Counter()
        for row, weight in p.changes_of("all_votes", step).rows():
            made[step][tuple(row.values()), "I" if weight > 0 else "D"] += abs(weight)
    return made


def step_by_step(made: Program, state: Path, spark: Any, steps: int) -> tuple[Pipeline, int]:
    """Opened anew after each failure."""
    failed = 0
    p = opened(made, state, spark=spark)
    while p.last_step < steps:
        feed(p)
        try:
            p.step()
        except DeliveryError:
            failed += 1
            p.close()
            p = opened(made, state, spark=spark)
    p.deliver()
    return p, failed


def test_a_call_that_dies(spark: Any, broker: Broker, tmp_path: Path) -> None:
    """Of a second step each kind of call: the client dies before it, or loses the answer."""
    p, _ = step_by_step(program(broker, "whole"), tmp_path / "whole", spark, 2)
    p.close()
    last = Mortal.calls
    for call, when in [(12, "after"), (last - 1, "after"), (last, "before"), (last, "after")]:
        topic = f"{when}{call}"
        Mortal.plan, Mortal.calls = (call, when, lost), 0
        p, died = step_by_step(program(broker, topic), tmp_path / topic, spark, 3)
        with p:
            assert died == 1
            assert written(spark, broker, topic) == wanted(p), (call, when)
            write_again(p)
            assert written(spark, broker, topic) == wanted(p)


def test_a_broker_that_dies(spark: Any, broker: Broker, tmp_path: Path) -> None:
    """While messages are sent, and once it has answered that they are committed."""
    for call, when in [(12, "before"), (9, "after")]:
        topic = f"broker{call}"
        Mortal.plan, Mortal.calls = (call, when, broker.kill), 0
        made = program(broker, topic)
        with opened(made, tmp_path / topic, spark=spark, max_undelivered=5) as p:
            for _ in range(2):
                feed(p)
                p.step()
            assert p.undelivered["log"]
        broker.start()
        for _ in range(10):  # a broker that has just come back may not know yet what was under way
            with suppress(DeliveryError):
                p, _ = step_by_step(made, tmp_path / topic, spark, 3)
                break
        with p:
            assert written(spark, broker, topic) == wanted(p), (call, when)


def is_commit(message: bytes) -> bool:
    """EndTxn is Kafka's request 26: it begins with its length and this number."""
    return message[4:6] == b"\x00\x1a"


# whether it comes to the broker, and for how many seconds that lives on
COMMITS = [(True, 0.005)]
if is_long():
    COMMITS += [(False, 0.0), *((True, pause) for pause in (0.0, 0.001, 0.002, 0.01, 0.02, 0.05))]


@pytest.mark.parametrize(("arrives", "pause"), COMMITS)
def test_a_broker_that_dies_at_a_commit(spark: Any, tmp_path: Path, arrives: bool, pause: float) -> None:
    """Whose answer nobody gets: it wrote that the step is there, or to some partitions, or nothing."""
    between: list[Proxy] = []

    def before(broker: Broker) -> int:
        between.append(Proxy(broker, 1, arrives, broker.kill, is_commit, pause))
        return between[0].port

    with kafka(before) as broker:
        made = program(broker, "log")
        with opened(made, tmp_path, spark=spark, max_undelivered=5) as p:
            feed(p)
            p.step()
            deadline = time.monotonic() + 180
            while p.undelivered["log"]:  # a broker that has just begun may have no coordinator yet
                assert time.monotonic() < deadline
                time.sleep(0.1)
                p.redeliver()
            feed(p)
            p.step()
            assert (between[0].fired, p.undelivered["log"]) == (True, 1)
        assert broker.process is not None and broker.process.poll() is not None
        broker.start()
        p, _ = patiently(lambda: step_by_step(made, tmp_path, spark, 3), DeliveryError)
        with p:
            assert written(spark, broker, "log") == wanted(p)
            write_again(p)
            assert written(spark, broker, "log") == wanted(p)
    between[0].close()


def test_a_producer_that_was_overtaken_and_an_offset_that_is_gone(
    spark: Any, broker: Broker, tmp_path: Path
) -> None:
    made = program(broker, "overtaken")
    with opened(made, tmp_path / "state", spark=spark) as p:
        feed(p)
        p.step()
        assert p._sinks is not None
        first = p._sinks.targets["log"].producing  # type: ignore[attr-defined]
        second = replace(first, _producer=None, _group=None, _written=None)
        assert second._opened(2) == 1
        with pytest.raises(confluent_kafka.KafkaException, match="fenced"):
            first._send(2, [])
        second.close()
        first.close()
        gone = replace(first, outlet=replace(first.outlet, given=lambda step: 5))
        with pytest.raises(
            StateError, match=r"is 1, and step 5 was written.*--group dbsp-.* --topic overtaken:0"
        ):
            gone._opened(6)
        gone.close()


def test_a_topic_that_has_steps_which_were_lost_is_refused(
    spark: Any, broker: Broker, tmp_path: Path
) -> None:
    check_lost_steps(program(broker, "ahead"), tmp_path, spark=spark)


def test_a_transaction_that_lasts_too_long(spark: Any, broker: Broker, tmp_path: Path) -> None:
    """It is taken back whole, and the error says which option gives it more time."""
    made = program(broker, "long")
    target = made.tables["log"]
    hasty = replace(target, options=target.options | {"kafka.transaction.timeout.ms": "3000"})
    made = replace(made, tables=made.tables | {"log": hasty})
    Mortal.plan = (12, "before", lambda: time.sleep(5))
    with opened(made, tmp_path / "state", spark=spark) as p:
        feed(p)
        p.step()
        feed(p)
        with pytest.raises(
            DeliveryError, match=r"lasted ([5-9]|\d\d+) s.* after 3: .*`kafka.transaction.timeout.ms`"
        ):
            p.step()
        p.deliver()
        assert written(spark, broker, "long") == wanted(p)


TEXT = """
CREATE TABLE t (a INT PRIMARY KEY);
CREATE TABLE out (a INT PRIMARY KEY) USING {0} WITH ({1}delivery = 'exactly once');
INSERT INTO out SELECT * FROM t;
"""


def test_what_is_said_of_it(spark: Any) -> None:
    using = "kafka OPTIONS (`kafka.bootstrap.servers` 'x', topic 'out')"
    made = compile_program(TEXT.format(using, "format = 'json', "), session=spark)
    assert made.tables["out"].in_transactions
    assert any(
        "sink out: upsert, exactly once: the step's number is an offset in" in note for note in notes(made)
    )
    for text in (TEXT.format(using, ""), TEXT.format("json OPTIONS (path 'x')", "")):
        with pytest.raises(ProgramError, match="delivery of 'out' is of messages that are written"):
            compile_program(text, session=spark)
