"""What a user writes: every line is type-checked, none is run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, assert_type

import pyarrow as pa  # type: ignore[import-untyped]

import dbsp
from dbsp.evolution.plan import Plan
from dbsp.testing import assert_equals_spark, assert_replay, load, random_deltas
from dbsp.views.changes import Changes, ViewChanges
from dbsp.views.derivation import Why
from dbsp.views.explained.explanation import Explanation
from dbsp.views.live import Live
from dbsp.views.view import Contents


@dbsp.udf(returns="BIGINT", arguments=["BIGINT"])
def twice(x: pa.Array) -> pa.Array:
    return x


@dbsp.sink
def alerts(step: int, view: str, changes: pa.Table) -> None:
    print(step, view, changes)


@dbsp.udaf(returns="BIGINT", arguments=["BIGINT"], style="values")
def most(values: list[int | None]) -> int | None:
    return max((each for each in values if each is not None), default=None)


def told(step: int, changes: ViewChanges) -> None:
    assert_type(changes.rows(), list[tuple[dict[str, Any], int]])


def use(state: Path) -> int:
    with dbsp.Pipeline(
        "program.sql", state=state, runner="inline", functions=[twice, most], sinks=[alerts]
    ) as p:
        p.insert("sale", [{"id": 1}, {"id": 2}])
        p.upsert("shop", [(1, "Ada")])
        p.delete("sale", [(1,)])
        p.replace("sale", pa.table({"id": [3]}))
        p.subscribe("turnover", told, since=0)
        made = p.step(datetime.now(UTC))
        assert_type(made, Changes)
        assert_type(made["turnover"], ViewChanges)
        for view, changes in made.items():
            assert_type(view, str)
            assert_type(len(changes), int)
        turnover = p["turnover"]
        assert_type(turnover, Contents)
        assert_type(turnover.rows(), list[dict[str, Any]])
        assert_type(turnover.lookup("Ada"), list[dict[str, Any]])
        assert_type(turnover.between(1, 2, by="day"), list[dict[str, Any]])
        assert_type(turnover.where({"shop": 7}), Contents)
        assert_type(turnover.why("Ada"), Why)
        assert_type(turnover.live(rows=5), Live)
        assert_type(p.sql("SELECT * FROM turnover", as_of=1), Contents)
        assert_type(p.view("turnover", as_of="yesterday"), Contents)
        assert_type(p.explain("turnover"), Explanation)
        assert_type(p.views, list[str])
        assert_type(p.undelivered, dict[str, int])
        assert_type(p.clock, datetime | None)
        return p.last_step


def beside(state: Path) -> None:
    found = dbsp.plan("program.sql", state, define={"DAY": "1"}, functions=[twice, most])
    assert_type(found, Plan)
    assert_type(found.is_same, bool)
    with dbsp.pin(state, as_of="yesterday", lasting=timedelta(minutes=5)) as step:
        assert_type(step, int)
    dbsp.session(conf={"spark.sql.shuffle.partitions": "2"}).stop()


def test_program() -> None:
    program = load("program.sql")
    for delta in random_deltas(program, steps=3, seed=1):
        print(delta)
    assert_replay("program.sql", "deltas.sql", "expected.jsonl")
    assert_equals_spark("program.sql")


async def follow(p: dbsp.Pipeline) -> None:
    changes = p.subscribe("turnover", since=0)
    assert_type(changes, AsyncIterator[ViewChanges])
    async for each in changes:
        assert_type(each.step, int)


try:
    use(Path("state"))
except dbsp.DeliveryError as error:
    assert_type(error.changes, Changes | None)
except dbsp.Error:
    raise
