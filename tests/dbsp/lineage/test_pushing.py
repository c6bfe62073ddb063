"""What is demanded of an input: as much as follows, and no more."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.pushing import pushed, within
from dbsp.lineage.relational import Demand
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.calls import AggregateCall, SortOrder, WindowCall
from dbsp.sql.plans.schemas import Field

INT = pa.int64()
T = p.Scan("t", (Field("a", INT), Field("b", INT)))
A, B, C = (Column(i, INT) for i in range(3))
SUM = Call("add", (A, B), INT)
COUNT = AggregateCall("count", (), INT, False)


def demand(*expressions: Column | Call) -> Demand:
    rows = pa.RecordBatch.from_arrays([pa.array([1])] * len(expressions), names=[*map(str, expressions)])
    return Demand(expressions, ZSet(rows, np.ones(1, np.int64)))


def expressions(demands: list[Demand]) -> list[tuple[object, ...]]:
    return [one.expressions for one in demands]


def test_through_what_keeps_its_columns() -> None:
    condition = Call("is_null", (A,), pa.bool_(), nullable=False)
    for plan in (p.Filter(T, condition), p.Distinct(T), p.Union((T, T), T.schema)):
        assert expressions(pushed(plan, [demand(A, B)])) == [(A, B)]


def test_through_what_computes_them() -> None:
    plan = p.Project(T, (SUM, B), (Field("s", INT), Field("b", INT)))
    assert expressions(pushed(plan, [demand(A, B)])) == [(SUM, B)]


def test_of_a_group_by_its_keys_alone() -> None:
    plan = p.Aggregate(T, (SUM,), (COUNT,), (Field("k", INT), Field("n", INT, False)))
    assert expressions(pushed(plan, [demand(A, B)])) == [(SUM,)]
    assert pushed(plan, [demand(B)]) == []
    assert pushed(plan, [demand(Call("add", (A, B), INT))]) == []


def test_of_a_partition_by_its_columns_alone() -> None:
    call = WindowCall("row_number", (), INT, False, (SortOrder(B),))
    window = p.Window(T, (A,), (call,), (*T.schema, Field("r", INT)))
    top = p.Top(T, (A,), (SortOrder(B),), "row_number", 2, False, T.schema)
    for plan in (window, top):
        assert expressions(pushed(plan, [demand(A, B)])) == [(A,)]
        assert pushed(plan, [demand(B)]) == []


def test_of_the_sides_of_a_join() -> None:
    assert expressions(within([demand(A, C), demand(B)], 0, 2)) == [(A,), (B,)]
    assert expressions(within([demand(A, C), demand(B)], 2, 4)) == [(A,)]
    assert within([demand(Call("add", (A, C), INT))], 0, 2) == []


def test_of_the_elements_of_a_list_nothing() -> None:
    lists = p.Scan("t", (Field("a", INT), Field("l", pa.list_(INT))))
    elements = Column(1, pa.list_(INT))
    plan = p.Generate(lists, (0,), elements, (Field("a", INT), Field("e", INT)))
    assert expressions(pushed(plan, [demand(A, B)])) == [(A,)]
    assert pushed(p.Values((), T.schema), [demand(A)]) == []
