"""What a user writes: every line is type-checked; `main` is run, where program.sql and its deltas are."""

from __future__ import annotations

import asyncio
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

delivered: list[tuple[int, str, int]] = []
heard: list[int] = []


@dbsp.udf(returns="BIGINT", arguments=["BIGINT"])
def twice(x: pa.Array) -> pa.Array:
    return pa.array([None if value is None else value * 2 for value in x.to_pylist()], pa.int64())


@dbsp.sink
def alerts(step: int, view: str, changes: pa.Table) -> None:
    delivered.append((step, view, len(changes)))


@dbsp.udaf(returns="BIGINT", arguments=["BIGINT"], style="values")
def most(values: list[int | None]) -> int | None:
    return max((each for each in values if each is not None), default=None)


def told(step: int, changes: ViewChanges) -> None:
    assert_type(changes.rows(), list[tuple[dict[str, Any], int]])
    heard.append(step)


def opened(state: Path) -> dbsp.Pipeline:
    return dbsp.Pipeline(
        "program.sql", state=state, runner="inline", functions=[twice, most], sinks=[alerts], keep_steps=10
    )


def use(state: Path) -> int:
    with opened(state) as p:
        p.subscribe("turnover", told, since=0)
        p.insert("sale", [{"id": 1, "shop": 7, "day": 1, "price": 3}, {"id": 2, "shop": 7, "day": 2}])
        p.upsert("shop", [(7, "Ada"), (8, "Bob")])
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
        assert_type(turnover.where({"name": "Ada"}), Contents)
        assert_type(turnover.why("Ada"), Why)
        assert turnover.rows() == turnover.lookup("Ada") == turnover.between(1, 2, by="day")
        assert turnover.rows() == [{"name": "Ada", "n": 2, "total": 6, "top": 3, "day": 2}]
        p.delete("sale", [(1,)])
        p.step()
        p.replace("sale", pa.table({"id": [3], "shop": [8], "day": [5], "price": [4]}))
        p.step()
        assert_type(p.sql("SELECT * FROM turnover", as_of=1, timezone="Europe/Berlin"), Contents)
        assert_type(p.view("turnover", as_of=datetime.now(UTC)), Contents)
        assert_type(p.explain("turnover"), Explanation)
        assert_type(p.views, list[str])
        assert_type(p.undelivered, dict[str, int])
        assert_type(p.clock, datetime | None)
        assert p.view("turnover", as_of=1).rows() == turnover.rows() != p["turnover"].rows()
        return p.last_step


def beside(state: Path) -> None:
    found = dbsp.plan("program.sql", state, functions=[twice, most])
    assert_type(found, Plan)
    assert_type(found.is_same, bool)
    assert found.is_same
    with dbsp.pin(state, as_of=datetime.now(UTC), lasting=timedelta(minutes=5)) as step:
        assert_type(step, int)
        assert step == 3


def test_program() -> None:
    program = load("plain.sql")
    deltas = list(random_deltas(program, steps=2, seed=1))
    assert len(deltas) == 2
    assert_replay("plain.sql", "deltas.sql", "expected.jsonl")
    assert_equals_spark("plain.sql", steps=2)


async def follow(p: dbsp.Pipeline) -> list[int]:
    changes = p.subscribe("turnover", since=0)
    assert_type(changes, AsyncIterator[ViewChanges])
    seen: list[int] = []
    async for each in changes:
        assert_type(each.step, int)
        seen.append(each.step)
        if each.step == p.last_step:
            break
    return seen


def main() -> None:
    state = Path("state")
    try:
        assert use(state) == 3
    except dbsp.DeliveryError as error:
        assert_type(error.changes, Changes | None)
        raise
    assert heard == [1, 2, 3] and [step for step, _, _ in delivered] == [1, 2, 3]
    beside(state)
    with opened(state) as p:
        assert asyncio.run(follow(p)) == [1, 2, 3]
    test_program()


def elsewhere(p: dbsp.Pipeline) -> None:
    """Of a notebook, and of a session of one's own: this is type-checked only."""
    assert_type(p["turnover"].live(rows=5), Live)
    dbsp.session(conf={"spark.sql.shuffle.partitions": "2"}).stop()


if __name__ == "__main__":
    main()
