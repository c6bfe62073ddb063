"""Rows that a state holds, by keys that its traces lie by and by others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.held import Held
from dbsp.lineage.relational import Demand
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from dbsp.views.traces import Traces
from tests.dbsp.build import CUSTOMER, EVENT, VOTES, pipeline

INT = pa.int64()


@pytest.fixture
def p() -> Iterator[Pipeline]:
    with pipeline() as opened:
        opened.insert("votes", [(user, user % 7) for user in range(100)])
        opened.upsert("customer", [{"id": i, "name": f"n{i % 3}"} for i in range(10)])
        opened.insert("event", [(1, None)])
        opened.step()
        opened.delete("votes", [(7, 0)])
        opened.step()
        yield opened


def held(p: Pipeline) -> Held:
    return Held(Traces(p.program), p._position.state, p.store.segments)


def having(values: list[Any], column: int, data_type: pa.DataType = INT) -> list[Demand]:
    rows = pa.RecordBatch.from_arrays([pa.array(values, data_type)], names=["v"])
    return [Demand((Column(column, data_type),), ZSet(rows, np.ones(len(values), np.int64)))]


def test_of_a_bag_by_any_column(p: Pipeline) -> None:
    found = held(p).table(Scan("votes", VOTES), having([0], 1))
    assert found is not None
    expected = [user for user in range(0, 100, 7) if user != 7]
    assert sorted(found.rows.rows.column(0).to_pylist()) == expected
    none = held(p).table(Scan("votes", VOTES), having([7], 0))
    assert none is not None and len(none.rows) == 0
    every = held(p).table(Scan("votes", VOTES), [])
    assert every is not None and len(every.rows) == 99


def test_of_a_keyed_table_by_its_key_and_by_others(p: Pipeline) -> None:
    by_key = held(p).table(Scan("customer", CUSTOMER), having([3, 99], 0))
    assert by_key is not None and by_key.rows.rows.to_pylist() == [{"id": 3, "name": "n0", "joined": None}]
    by_name = held(p).table(Scan("customer", CUSTOMER), having(["n1"], 1, pa.string()))
    assert by_name is not None and sorted(by_name.rows.rows.column(0).to_pylist()) == [1, 4, 7]
    both = held(p).table(Scan("customer", CUSTOMER), having([4, 5], 0) + having(["n1"], 1, pa.string()))
    assert both is not None and both.rows.rows.column(0).to_pylist() == [4]
    unset = held(p).table(Scan("customer", CUSTOMER), having([None], 2, pa.timestamp("us", tz="UTC")))
    assert unset is not None and len(unset.rows) == 10


def test_a_look_up_reads_no_other_rows(p: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    import dbsp.lineage.held  # noqa: PLC0415

    taken: list[int] = []
    whole = dbsp.lineage.held.matching

    def counted(rows: ZSet, *rest: Any) -> ZSet:
        taken.append(len(rows))
        return whole(rows, *rest)

    monkeypatch.setattr(dbsp.lineage.held, "matching", counted)
    held(p).table(Scan("customer", CUSTOMER), having([3], 0))
    held(p).table(Scan("votes", VOTES), having([3], 1))
    assert taken[0] == 1 and taken[1] <= 16


def test_of_a_view_s_rows_and_of_a_plan_s(p: Pipeline) -> None:
    counts = p.program.views["counts"]
    found = held(p).view("counts", counts.schema, having([0], 0))
    assert found is not None and found.rows.rows.to_pylist() == [{"story_id": 0, "n": 14}]
    of_plan = held(p).plan(counts.plan, having([0], 0))
    assert of_plan is not None and of_plan.rows == found.rows


def test_an_append_only_table_is_there_where_a_view_keeps_all_of_it(p: Pipeline) -> None:
    there = held(p).table(Scan("event", EVENT), [])  # the log of `events`
    assert there is not None and there.rows.rows.to_pylist() == [{"id": 1, "amount": None}]
