"""Small compiled programs, put together by hand: these tests need no Spark."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program, Table, View
from dbsp.sql.plans.schemas import Field

VOTES = (Field("user_id", pa.int64()), Field("story_id", pa.int64()))
CUSTOMER = (
    Field("id", pa.int64(), False),
    Field("name", pa.string()),
    Field("joined", pa.timestamp("us", tz="UTC")),
)
EVENT = (Field("id", pa.int32()), Field("amount", pa.decimal128(5, 2)))


def table(name: str, schema: tuple[Field, ...], key: tuple[str, ...] = (), **properties: bool) -> Table:
    append_only, unchecked = properties.get("append_only", False), properties.get("unchecked", False)
    return Table(name, schema, key, append_only, unchecked, None, {}, f"program.sql:1:1 {name}")


def view(name: str, plan: Plan, kind: str = "view", append_only: bool = False) -> View:
    return View(name, plan.schema, kind, plan, append_only, "program.sql:9:1")


def program(tables: list[Table], views: list[View], fingerprint: str = "f1") -> Program:
    by_name = {t.name: t for t in tables}, {v.name: v for v in views}
    return Program("-- by hand", "program.sql", fingerprint, "UTC", *by_name, (), lower(*by_name))


def votes_program(fingerprint: str = "f1") -> Program:
    """A bag, a keyed and an append-only table; each as a view, and the votes counted by story."""
    program = _votes_program(fingerprint)
    return replace(program, tables={**program.tables}, views={**program.views})


@cache
def _votes_program(fingerprint: str) -> Program:
    tables = [
        table("votes", VOTES),
        table("customer", CUSTOMER, ("id",)),
        table("event", EVENT, append_only=True),
    ]
    votes = Scan("votes", VOTES)
    counts = Aggregate(
        votes,
        (Column(1, pa.int64()),),
        (AggregateCall("count", (), pa.int64(), False),),
        (Field("story_id", pa.int64()), Field("n", pa.int64(), False)),
    )
    views = [
        view("all_votes", votes),
        view("counts", counts),
        view("customers", Scan("customer", CUSTOMER)),
        view("events", Scan("event", EVENT), append_only=True),
        view("hidden", votes, "local"),
    ]
    return program(tables, views, fingerprint)


def pipeline(state: Path | None = None, **options: Any) -> Pipeline:
    """Over `votes_program`, in process."""
    compiled = options.pop("program", None) or votes_program()
    return Pipeline(compiled, runner="inline", state=state, **options)


STEPS = 4


def feed(p: Pipeline) -> None:
    """The rest of the steps; each is a function of its number."""
    for step in range(p.last_step + 1, STEPS + 1):
        p.insert("votes", [(user, user % step) for user in range(10)])
        if step > 1:
            p.delete("votes", [(user, user % (step - 1)) for user in range(5)])
        p.upsert("customer", [{"id": step % 3, "name": f"{step}"}])
        p.insert("event", [(step, None)])
        p.step()


def settle(p: Pipeline) -> None:
    """Wait for the deletions, which are made beside the steps."""
    p.store.past.sweep._thread.submit(lambda: None).result()
