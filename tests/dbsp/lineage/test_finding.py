"""Rows that meet demands: the same as of the whole plan, from what a state holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.finding import Finding, Found, Unheld, as_union, node_over
from dbsp.lineage.held import Held
from dbsp.lineage.relational import Demand
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Expand, Join, Scan
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.views.traces import Traces
from tests.dbsp.build import CUSTOMER, EVENT, VOTES, pipeline

INT = pa.int64()


def finding(p: Pipeline, seen: list[Sequence[Demand]] | None = None) -> Finding:
    def views(name: str, demands: Sequence[Demand]) -> Found | None:
        if seen is not None:
            seen.append(demands)
        return None

    return Finding(Held(Traces(p.program), p._position.state, p.store.segments), views, None)


def having(column: int, *values: int) -> list[Demand]:
    rows = pa.RecordBatch.from_arrays([pa.array(values, INT)], names=["v"])
    return [Demand((Column(column, INT),), ZSet(rows, np.ones(len(values), np.int64)))]


VOTERS = Join(
    Scan("votes", VOTES),
    Scan("customer", CUSTOMER),
    "inner",
    (Column(0, INT),),
    (Column(0, INT, False),),
    (False,),
    None,
    join_schema("inner", VOTES, CUSTOMER),
)


@pytest.mark.parametrize(("column", "first"), [(1, 0), (2, 1)])
def test_a_join_finds_one_side_and_of_the_other_its_partners(column: int, first: int) -> None:
    with pipeline() as p:
        p.insert("votes", [(user, user % 3) for user in range(9)])
        p.upsert("customer", [{"id": i, "name": f"n{i}"} for i in range(5)])
        p.step()
        seen: list[Sequence[Demand]] = []
        found = finding(p, seen).of(VOTERS, having(column, 1))
        users = found.rows.rows.column(0).to_pylist()
        assert sorted(users) == ([1, 4] if column == 1 else [1])
        assert [one.order for one in found.inputs] == [first, 1 - first]
        assert len(seen[0]) == 1 and len(seen[1]) == 1  # the second side only where the first has partners
        assert all(len(one.rows) <= 3 for one in found.inputs)


def test_what_nothing_keeps_is_told() -> None:
    with pipeline() as p:
        p.insert("event", [(1, None)])
        p.step()
        bare = Scan("customer", CUSTOMER, arrival=True)
        with pytest.raises(Unheld, match="nothing keeps the rows of table 'customer'"):
            finding(p).of(bare)
        assert len(finding(p).of(Scan("event", EVENT)).rows) == 1


def test_an_operator_over_rows_at_hand() -> None:
    with pipeline() as p:
        counts = p.program.views["counts"].plan
        rows = ZSet(pa.record_batch([pa.array([1, 2]), pa.array([7, 7])], names=["a", "b"]), np.array([1, 2]))
        assert node_over(counts, [rows], None).rows.to_pylist() == [{"story_id": 7, "n": 3}]


def test_each_projection_of_an_expansion_has_its_own_demands() -> None:
    a, b = Column(0, INT), Column(1, INT)
    union = as_union(Expand(Scan("votes", VOTES), ((a, b), (b, a)), VOTES))
    assert [part.expressions for part in union.parts] == [(a, b), (b, a)]  # type: ignore[attr-defined]
