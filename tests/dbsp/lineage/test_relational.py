"""Demands are semijoins: NULL is NULL, a value that can't be told leaves rows in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.relational import Demand, columns, demand_of, evaluated, matching, relation, values_of
from dbsp.sql.plans.nodes import Filter
from dbsp.sql.plans.schemas import Field

SCHEMA = (Field("a", pa.int64()), Field("b", pa.float64()))
A, B = Column(0, pa.int64()), Column(1, pa.float64())


def rows(*listed: tuple[Any, ...], weights: list[int] | None = None) -> ZSet:
    arrays = [pa.array([row[i] for row in listed], field.type) for i, field in enumerate(SCHEMA)]
    batch = pa.RecordBatch.from_arrays(arrays, names=["x", "y"])
    return ZSet(batch, np.array(weights or [1] * len(listed), np.int64))


def shown(found: ZSet) -> list[tuple[Any, ...]]:
    listed = [(*row.values(), w) for row, w in zip(found.rows.to_pylist(), found.weights, strict=True)]
    return sorted(listed, key=repr)


def test_a_demand_is_met_by_rows_with_its_values() -> None:
    there = rows((1, 0.5), (None, math.nan), (2, -0.0), (1, 0.5), weights=[1, 2, 1, 1])
    demand = demand_of(rows((1, 0.5), (None, math.nan), (9, 0.0)), SCHEMA, (A, B))
    assert [row[0] for row in shown(matching(there, SCHEMA, [demand]))] == [1, None]
    assert shown(matching(there, SCHEMA, [demand]))[0] == (1, 0.5, 2)
    zero = demand_of(rows((0, -0.0)), SCHEMA, (B,))
    assert shown(matching(there, SCHEMA, [zero])) == [(2, -0.0, 1)]
    assert len(matching(there, SCHEMA, [demand, zero])) == 0
    assert matching(there, SCHEMA, []) is there


def test_what_cancels_is_not_there() -> None:
    there = rows((1, 1.0), (1, 1.0), (2, 1.0), weights=[1, -1, 1])
    assert shown(matching(there, SCHEMA, [demand_of(there, SCHEMA, (A,))])) == [(2, 1.0, 1)]


def test_a_part_of_a_demand_follows_from_it() -> None:
    demand = demand_of(rows((1, 0.5), (2, 1.5)), SCHEMA, (A, B))
    (part,) = demand.only(lambda e: e == A)
    assert part.expressions == (A,)
    assert sorted(part.values.rows.column(0).to_pylist()) == [1, 2]
    assert demand.only(lambda e: True) == [demand]
    assert demand.only(lambda e: False) == []


def test_a_value_that_some_row_has_none_of_leaves_the_rows_to_who_asked() -> None:
    inverse = Call("divide", (Literal(1.0, pa.float64()), B), pa.float64(), options=(("evalMode", "ANSI"),))
    there = rows((1, 0.0), (1, 2.0), (3, 2.0))
    demand = Demand((A, inverse), demand_of(rows((1, 0.5)), SCHEMA, (A, B)).values)
    assert shown(matching(there, SCHEMA, [demand])) == [(1, 0.0, 1), (1, 2.0, 1)]


def test_columns_are_demanded_of_a_relation_of_these() -> None:
    demand = columns(rows((1, 0.5)), SCHEMA, 1, 2)
    assert demand.expressions == (Column(0, pa.float64()),)
    assert demand.values.rows.column(0).to_pylist() == [0.5]


def test_values_are_each_there_once() -> None:
    assert len(values_of(rows((1, 0.5), (1, 1.5), weights=[3, -1]), SCHEMA, (A,))) == 1
    assert len(values_of(rows(), SCHEMA, (A,))) == 0


def test_a_plan_is_evaluated_over_rows_at_hand() -> None:
    plan = Filter(relation("r", SCHEMA), Call("is_null", (A,), pa.bool_(), nullable=False))
    found = evaluated(plan, {"r": rows((None, 1.0), (1, 1.0), (None, 1.0))})
    assert shown(found) == [(None, 1.0, 2)]
    assert found.schema.names == ["a", "b"]
